/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What processes do meanwhile, as perf tells it of each CPU: code that they map, other programs
 * that they become, processes that they fork, their ends. No thread is held for it, so what is
 * read here has been for some time.
 */
#ifndef KI_DLANG_WATCH_H
#define KI_DLANG_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/vec.h"

struct ki_d_range {
	uint64_t start, end;
};

/* A process in which something may be new. */
struct ki_d_stir {
	pid_t pid, parent; /* parent: that has forked it; 0: it is not known */
	bool became;	   /* another program, or a process */
	bool all;	   /* not only what it has mapped in these ranges: */
	ki_vec(struct ki_d_range) mapped;
};

struct ki_d_stirs {
	ki_vec(struct ki_d_stir) v;
	bool lost; /* there was more than could be kept */
};

struct ki_d_watch;

/* 0, or -errno: perf does not tell. */
int ki_d_watch_new(struct ki_d_watch **out);
void ki_d_watch_free(struct ki_d_watch *w); /* NULL is allowed */

/* Readable when something has been told. */
int ki_d_watch_fd(const struct ki_d_watch *w);

/* What has been since the last time: added to *out. -ENOMEM. */
int ki_d_watch_read(struct ki_d_watch *w, struct ki_d_stirs *out);
void ki_d_stirs_free(struct ki_d_stirs *s);

/* That process's row, which is made if there is none; NULL: out of memory. */
struct ki_d_stir *ki_d_stir_of(struct ki_d_stirs *s, pid_t pid);

#endif
