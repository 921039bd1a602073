/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory that the patches of this session take.
 */
#ifndef KERNINST_PATCHES_H
#define KERNINST_PATCHES_H

#include "kerninst/measured.h"

struct patches {
	bool known; /* not by a driver that cannot say it */
	struct ki_patches now;
};

/* While everything is in. */
void patches_read(struct patches *p, const struct ki_target *t);

/* A line of JSON, if functions have been moved. 0, or -errno. */
int patches_report(const struct patches *p, const struct ki_measured *r);

#endif
