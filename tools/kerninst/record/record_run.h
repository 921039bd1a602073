/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst record: all that there is while it records.
 */
#ifndef KERNINST_RECORD_RUN_H
#define KERNINST_RECORD_RUN_H

#include "record/record_budget.h"
#include "record/record_code.h"
#include "record/record_process.h"
#include "record/record_wait.h"
#include "skipped.h"

struct record_run {
	struct record_options *o;
	struct ki_target *t;
	struct ki_predicate *when;
	struct ki_ring_map *ring;     /* NULL: totals */
	struct ki_stacks_map *stacks; /* NULL: nobody asks for any */
	opened_processes processes;
	struct record_group *groups;
	size_t ngroups;
	record_instruments instruments;
	struct ki_record_origin origin;
	struct record_code code;
	struct ki_record_file *file;
	struct command command;
	struct record_waiting waiting;
	struct record_budget budget;
	struct skipped skipped;
	double start, end, next; /* of the file's clock; when to stop, when to read: -1: never */
	uint64_t written;
	uint64_t misfit, *misfits; /* records of another number of values; of each instrument */
	unsigned int snapshots;
	struct ki_err err; /* of writing, */
	bool said;	   /* which has been reported */
};

static inline uint64_t record_lost(const struct record_run *r)
{
	return r->misfit + (r->ring ? ki_ring_lost(r->ring) : 0);
}

/* record_dry.c: the code, and what would be installed. CLI_OK, or reported. */
int record_show(struct record_run *r);

/* record_file.c. CLI_OK, or reported: once, since after a failure nothing can be written. */
int record_file_failed(struct record_run *r);
int record_file_create(struct record_run *r);
int record_file_read(struct record_run *r); /* all that is in the buffers, or has been counted */
int record_file_hits(struct record_run *r); /* how often what is over was reached */

/* The time of a group is over, though it is still there. */
int record_file_close(struct record_run *r, struct record_group *g);

/* All that is in the buffers to a file of its own. What fails is warned of, and ends nothing. */
void record_file_snapshot(struct record_run *r);

/* Say which instruments have written what is not what they say. */
void record_file_warn(const struct record_run *r);

/* Of all points of a group. 0, or -errno, which is in r->err. */
int record_file_event(struct record_run *r, const struct record_group *g, uint32_t kind);

#endif
