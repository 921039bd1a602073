/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hits that were skipped: what was to be called for them, a helper or an instrument, was in the
 * middle of its work on that CPU already, and had come to a point itself. The driver counts them
 * for all sessions together.
 */
#ifndef KERNINST_SKIPPED_H
#define KERNINST_SKIPPED_H

#include "kerninst/target.h"

struct skipped {
	uint64_t before, n; /* n: between begin and end, of all sessions */
	bool known;
};

void skipped_begin(struct skipped *s, const struct ki_target *t);

/* Says it, if there are any. */
void skipped_end(struct skipped *s, const struct ki_target *t, bool quiet);

#endif
