/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The different ways of a recording, and how often each was gone.
 */
#ifndef KI_REPORT_PATHS_H
#define KI_REPORT_PATHS_H

#include "report/spread.h"
#include "report/walks.h"

struct path {
	uint64_t tid;		/* those of one thread; 0: of all */
	struct spread duration; /* in nanoseconds; its n: how often */
	bool cut;
	size_t nsteps;
	const struct step *steps;
	struct path_step {
		double after;	/* seconds since the beginning, */
		uint64_t times; /* and how often: sums over all ways */
	} * sums;
};

struct path_set {
	struct walks walks;
	void *tree; /* of struct path */
	ki_vec(struct path *) rows;
	uint64_t steps; /* records that are in ways which are whole */
	bool by_thread, sampled;
	bool branches; /* some way has more in it than an entry and an exit */
	size_t most;   /* different ones that are wanted; more are not looked at. 0: all */
};

/* by_thread, most: by the caller; all else is 0. 0, or -ENOMEM; free it in any case. */
int ki_path_set_begin(struct path_set *s, struct ki_report *c);
int ki_path_set_record(struct path_set *s, const struct ki_report_record *e);
int ki_path_set_end(struct path_set *s);
void ki_path_set_free(struct path_set *s);

/* Are there few, are they most of what was recorded, and do they tell more than how long calls
   took? */
bool ki_path_set_fits(const struct path_set *s, uint64_t shown);

#endif
