/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hits that were skipped: a helper or an instrument was to be called for them, which was in the
 * middle of its work on that CPU already. It had come to a point itself. The driver counts them for
 * all sessions together.
 */
#ifndef KERNINST_SKIPPED_H
#define KERNINST_SKIPPED_H

#include "kerninst/listener.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_skipped {
	uint64_t before, n; /* n: between begin and end, of all sessions */
	bool known;
};

/* Of a live kernel. */
void ki_skipped_begin(struct ki_skipped *s, const struct ki_target *t);

/* Warns of them, if there are any. */
void ki_skipped_end(struct ki_skipped *s, const struct ki_target *t, const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
