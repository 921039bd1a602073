/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The points that kerninst stat is given: of the kernel, of one process, or of several of these.
 */
#ifndef KERNINST_STAT_POINTS_H
#define KERNINST_STAT_POINTS_H

#include "points.h"
#include "process.h"
#include "run.h"
#include "stat/stat_options.h"

/* Points of one process, or of the kernel: pid 0. */
struct stat_asked {
	pid_t pid;
	struct ki_asked asked;
};

struct stat_points {
	ki_vec(struct stat_asked) of;
	struct ki_opened_processes processes;
};

/* Read them. CLI_OK, or reported. Free it in any case. */
int stat_points_read(struct stat_points *p, const struct verb *self, const struct stat_options *o);
void stat_points_free(struct stat_points *p);

/* The points of the kernel, which there may be none of. */
struct ki_asked *stat_points_kernel(struct stat_points *p);

/* All are of one process, and nothing is asked for that only the kernel can do: its number, or
   OPEN_COMMAND; else 0. */
pid_t stat_points_process(const struct stat_points *p, const struct stat_options *o);

/* Open the processes; what is not built for them. CLI_OK, or reported. */
int stat_points_open(struct stat_points *p, const struct verb *self, const struct stat_options *o,
		     struct command *command);

/* All of them become points of `points`, counted in the kernel t. CLI_OK, or reported. */
int stat_points_resolve(const struct stat_points *p, struct ki_points *points, struct ki_target *t,
			struct ki_points_how *how, bool quiet);

/* Are all points of processes that have ended? */
bool stat_points_over(const struct stat_points *p, const struct ki_measure *m);

#endif
