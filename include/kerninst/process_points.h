/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What comes and goes in a process, as far as points of it are concerned.
 */
#ifndef KERNINST_PROCESS_POINTS_H
#define KERNINST_PROCESS_POINTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first module of these points that is not mapped; NULL: all are. */
const char *ki_process_points_missing(const struct ki_target *t, const struct ki_asked *asked);

/*
 * Of a process that is waited for: has it mapped something since the last time, or become another
 * program? 1 or 0, or -errno; -ESRCH: it has ended. What it should map is for the error's text.
 */
int ki_process_points_awaited(struct ki_target *t, const char *what, struct ki_err *err);

/* Warn of what has changed since the last time and concerns the points. True: it is another program
   now, none of them will be reached again. */
bool ki_process_points_changed(const struct ki_points *points, struct ki_target *t, pid_t pid,
			       const struct ki_listener *l);

/* Has the process ended? */
struct ki_splice_process;
bool ki_process_points_ended(const struct ki_splice_process *s);

/*
 * Has the process unmapped a file of code with a function that stands for another by this plan, of
 * which s was made? Then s is taken out, and it is said. Asks ki_target_changes.
 */
bool ki_process_points_unmapped(struct ki_target *t, struct ki_splice_process *s,
				const struct ki_plan *p, const struct ki_listener *l);

/* Warn of what is missing, because a thread had no place for it. */
void ki_process_points_lost(const struct ki_splice_process *s, pid_t pid,
			    const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
