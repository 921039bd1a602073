/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Progress of something long, on standard error: one changing line on a terminal, else a line now
 * and then; nothing in the first second.
 */
#ifndef KI_OUT_PROGRESS_H
#define KI_OUT_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

struct ki_progress {
	const char *what;
	size_t total;
	double start, next; /* seconds; of the next line, after start */
	bool shown, off;
};

void ki_progress_start(struct ki_progress *p, const char *what, size_t total, bool off);
void ki_progress_at(struct ki_progress *p, size_t done);
void ki_progress_end(struct ki_progress *p);

/* Of what says nothing meanwhile: seconds, on a terminal. NULL: nothing is shown. */
struct ki_ticking;
struct ki_ticking *ki_ticking_start(const char *what);
void ki_ticking_end(struct ki_ticking *t); /* NULL is allowed */

#endif
