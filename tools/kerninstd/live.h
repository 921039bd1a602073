/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel as the source of measurements.
 */
#ifndef KERNINSTD_LIVE_H
#define KERNINSTD_LIVE_H

#include "engine.h"
#include "util/vec.h"

/* What is measured from the start on. */
struct live_export {
	const char *metric, *point;
};

typedef ki_vec(struct live_export) live_exports;

int live_open(struct engine *e, const live_exports *exports, struct source **out,
	      struct ki_err *err);

#endif
