/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the kernel does elsewhere while a search goes on.
 */
#ifndef KI_CROSSWALK_ASYNC_H
#define KI_CROSSWALK_ASYNC_H

#include "crosswalk/walk.h"

/* async.c: begin. *out NULL: it is not known, which is no error. */
struct ki_crosswalk_async;
int ki_crosswalk_async_new(struct ki_crosswalk *w, struct ki_crosswalk_async **out,
			   struct ki_err *err);
/* What there was, into w->elsewhere. NULL is allowed. */
int ki_crosswalk_async_end(struct ki_crosswalk_async *x, struct ki_err *err);
void ki_crosswalk_async_free(struct ki_crosswalk_async *x); /* NULL is allowed */

/* Add it, with copies of its names, if its share is large enough. 0, or -ENOMEM. */
int ki_crosswalk_async_add(struct ki_crosswalk *w, const struct ki_crosswalk_elsewhere *e,
			   const char *name, const char *module);

/* kthreads.c: threads of the kernel's own, and how long each has run. */
struct ki_kthread {
	int tid;
	char name[64];
	uint64_t ran; /* nanoseconds */
};
struct ki_kthreads {
	struct ki_kthread *v;
	size_t n, cap;
};
int ki_kthreads_read(struct ki_kthreads *t); /* 0, or -ENOMEM */
void ki_kthreads_free(struct ki_kthreads *t);
/* Those that have run since `before`, but for workers and softirqs, which are known better. */
int ki_kthreads_add(struct ki_crosswalk *w, const struct ki_kthreads *before, double seconds);

#endif
