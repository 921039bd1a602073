/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Points of the kernel, of one process, or of several of these: what was asked for, and of whom.
 */
#ifndef KERNINST_ASKED_H
#define KERNINST_ASKED_H

#include "kerninst/opened.h"
#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points of one process, or of the kernel: pid 0. */
struct ki_asked_one {
	pid_t pid;
	struct ki_asked asked;
};

struct ki_asked_all {
	struct {
		struct ki_asked_one *v; /* the kernel's first, which may be none */
		size_t n, cap;
	} of;
	struct ki_opened_processes processes; /* the caller opens them (ki_opened_add) */
};

/* The points of that process, which may be new; 0: of the kernel. NULL: no memory. */
struct ki_asked_one *ki_asked_of(struct ki_asked_all *a, pid_t pid);

/*
 * All points are of one process, and can be measured there: it; else 0. A metric that only the
 * kernel knows is measured in the kernel, if the driver is there.
 */
pid_t ki_asked_process(const struct ki_asked_all *a, const struct ki_wanted *wanted);

/* All of them become points of `points`, counted in the kernel t. 0, or -errno. */
int ki_asked_find(const struct ki_asked_all *a, struct ki_points *points, struct ki_target *t,
		  struct ki_points_how *how, const struct ki_listener *l, struct ki_err *err);

/* Are all points of processes that have ended? */
bool ki_asked_over(const struct ki_asked_all *a, const struct ki_measure *m);

void ki_asked_all_free(struct ki_asked_all *a); /* closes the processes, too */

#ifdef __cplusplus
}
#endif

#endif
