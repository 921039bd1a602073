/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parts of the recorder. What goes wrong is in r->err, but for -ENOMEM.
 */
#ifndef KI_RUN_RECORD_INSIDE_H
#define KI_RUN_RECORD_INSIDE_H

#include "kerninst/recorder.h"
#include "util/listen.h"
#include "util/vec.h"

/* ---- group.c ---- */

/* Those of the asks with equal times, in the order of the asks. 0, or -errno; err is set but for
   -ENOMEM, as of all here. */
int recorder_groups_make(struct ki_recorder_options *o, struct ki_recorder_group **groups,
			 size_t *n, struct ki_err *err);
void recorder_groups_free(struct ki_recorder_group *g, size_t n);

/* The next free numbers. */
struct recorder_numbers {
	uint32_t id, point;
};
/* Find out what is meant, and what it would cost. to: ring and stacks. */
int recorder_group_resolve(struct ki_recorder_group *g, const struct ki_record_making *to,
			   struct recorder_numbers *next, struct ki_recorder *r);

/* The id of a point's records. */
static inline uint32_t recorder_group_id(const struct ki_recorder_group *g, size_t point)
{
	return g->first + g->ids * (uint32_t)point;
}

/* Of at and until: start is their zero. A group without times keeps everything. */
void recorder_group_set_times(struct ki_recorder_group *g, uint64_t start, uint32_t tsc_khz);

/* Seconds before its time at which it is to be installed, so that it is there then. */
double recorder_group_lead(const struct ki_recorder_group *g);

/* Does it have a beginning or an end of its own? */
static inline bool recorder_group_is_timed(const struct ki_recorder_group *g)
{
	return g->at > 0 || g->until > 0;
}

/*
 * Is it known how many hits were of its time? Of what is sampled, or overwritten before it is read,
 * it is not known when it was.
 */
static inline bool recorder_group_knows_hits(const struct ki_recorder_group *g)
{
	return !recorder_group_is_timed(g) || !(g->budgeted || g->newest);
}

/* How often point i was reached in its time, if that is known. */
uint64_t recorder_group_hits(const struct ki_recorder_group *g, size_t i);

/* Is it a record of this group? *keep: it is of its time. */
bool recorder_group_owns(struct ki_recorder_group *g, const struct ki_record *rec, bool *keep);

/* Append what the file says of its points. -ENOMEM. Point names and fields live with the group;
   free each .point. */
int recorder_group_describe(const struct ki_recorder_group *g, struct ki_recorder_instruments *out);
void recorder_instruments_free(struct ki_recorder_instruments *v);

/* What points' addresses are in processes, for the file. 0, or -errno. */
int recorder_processes_write(const struct ki_recorder_group *groups, size_t n,
			     struct ki_record_file *f);

/* ---- code.c: all points that are not refused ---- */

int recorder_code_find(struct ki_recorder_code *c, struct ki_target *t,
		       const struct ki_recorder_group *groups, size_t n, struct ki_err *err);
void recorder_code_free(struct ki_recorder_code *c);
int recorder_code_write(const struct ki_recorder_code *c, struct ki_record_file *f);

/* ---- budget.c ---- */

struct ki_json;

int recorder_budget_open(struct ki_recorder_budget *b, struct ki_recorder *r);
void recorder_budget_close(struct ki_recorder_budget *b);
int recorder_budget_begin(struct ki_recorder_budget *b, struct ki_record_file *file, double now);
double recorder_budget_next(const struct ki_recorder_budget *b);
int recorder_budget_look(struct ki_recorder_budget *b, double now);
int recorder_budget_write(const struct ki_recorder_budget *b, struct ki_record_file *file);
void recorder_budget_json(const struct ki_recorder_budget *b, struct ki_json *j);
void recorder_budget_say(const struct ki_recorder_budget *b);
void recorder_budget_note(struct ki_recorder_budget *b, double now);

/* ---- file.c: after a failure nothing can be written ---- */

int recorder_file_failed(struct ki_recorder *r, int ret);
int recorder_file_create(struct ki_recorder *r);
int recorder_file_hits(struct ki_recorder *r); /* how often what is over was reached */
int recorder_file_close(struct ki_recorder *r, struct ki_recorder_group *g);
int recorder_file_event(struct ki_recorder *r, const struct ki_recorder_group *g, uint32_t kind);

#endif
