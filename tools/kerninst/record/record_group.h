/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruments of a recording that come and go together.
 */
#ifndef KERNINST_RECORD_GROUP_H
#define KERNINST_RECORD_GROUP_H

#include "points.h"
#include "record/record_options.h"

struct opened_process;
struct record_group {
	pid_t asked_pid;		      /* of that process; 0: of the kernel; OPEN_COMMAND */
	const struct opened_process *process; /* once it is open; NULL: of the kernel */
	double at, until;		      /* seconds from the start */
	bool on, over;
	bool closed;	   /* totals: its time is over, and nothing more is written of it */
	uint64_t from, to; /* the same as ticks; only records between them are kept */
	uint64_t *outside; /* of each point, hits whose records were not */
	struct ki_asked asked;
	struct record_ask **asks; /* of each text */
	struct ki_points points;
	uint64_t *seen; /* totals: of each point, what has been written */
	uint32_t first; /* id of the first point's records; the others' follow, */
	uint32_t ids;	/* each so far behind the one before */
	bool totals, budgeted, newest, predicted;
	struct ki_prediction prediction; /* if it is wanted */
	struct ki_record_making making;
};

/* Those of the asks with equal times, in the order of the asks. CLI_OK, or reported. */
int record_groups_make(struct record_options *o, const struct verb *self,
		       struct record_group **groups, size_t *n);
void record_groups_free(struct record_group *g, size_t n);

/* The next free numbers. */
struct record_numbers {
	uint32_t id, point;
};
/* Find out what is meant, and what it would cost. to: ring and stacks. CLI_OK, or reported. */
int record_group_resolve(struct record_group *g, struct ki_target *t, struct ki_predicate *when,
			 const struct ki_record_making *to, struct record_numbers *next,
			 bool quiet);

/* The id of a point's records. */
static inline uint32_t record_group_id(const struct record_group *g, size_t point)
{
	return g->first + g->ids * (uint32_t)point;
}

/* Of at and until: start is their zero. A group without times keeps everything. */
void record_group_set_times(struct record_group *g, uint64_t start, uint32_t tsc_khz);

/* Seconds before its time at which it is to be installed, so that it is there then. */
double record_group_lead(const struct record_group *g);

/* Does it have a beginning or an end of its own? */
static inline bool record_group_is_timed(const struct record_group *g)
{
	return g->at > 0 || g->until > 0;
}

/*
 * Is it known how many hits were of its time? Of what is sampled, or overwritten before it is read,
 * it is not known when it was.
 */
static inline bool record_group_knows_hits(const struct record_group *g)
{
	return !record_group_is_timed(g) || !(g->budgeted || g->newest);
}

/* How often point i was reached in its time, if that is known. */
uint64_t record_group_hits(const struct record_group *g, size_t i);

/* Is it a record of this group? *keep: it is of its time. */
bool record_group_owns(struct record_group *g, const struct ki_record *rec, bool *keep);

/* Append what the file says of its points. -ENOMEM. Point names and fields live with the group;
   free each .point. */
typedef ki_vec(struct ki_instrument) record_instruments;
int record_group_describe(const struct record_group *g, record_instruments *out);
void record_instruments_free(record_instruments *v);

#endif
