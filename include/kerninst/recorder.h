/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording while it is made: instruments that come and go in groups, the file that is written,
 * and the budget below which its cost is kept.
 *
 * The file is there before anything is installed, so that its clock is the one by which instruments
 * come and go. Everything is taken out before what is left in the buffers is read: so nothing is
 * lost that was not counted as lost.
 *
 * Functions return 0 or -errno. What went wrong is in r->err then, to be told and cleared; it is
 * empty for -ENOMEM, and when the file could not be written before either.
 */
#ifndef KERNINST_RECORDER_H
#define KERNINST_RECORDER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "kerninst/budget.h"
#include "kerninst/opened.h"
#include "kerninst/points.h"
#include "kerninst/predict.h"
#include "kerninst/record.h"
#include "kerninst/record_values.h"
#include "kerninst/skipped.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_recorder_mode {
	KI_RECORDER_RING,   /* buffers are read now and then */
	KI_RECORDER_WAKE,   /* when one is half full, too */
	KI_RECORDER_NEWEST, /* they stay in memory, the oldest go */
	KI_RECORDER_DISK,   /* the disk has them before more are read */
	KI_RECORDER_TOTALS, /* no records but counts */
	KI_RECORDER_MODES
};

/* A point, what is written there, and when. */
struct ki_recorder_ask {
	char *point;
	pid_t pid; /* of what process; 0: of the kernel; else what ki_opened_find is asked for */
	struct ki_record_values values;
	double at, until; /* seconds from the start; until 0: the end */
};

struct ki_recorder_options {
	struct {
		struct ki_recorder_ask *v;
		size_t n, cap;
	} asks;
	enum ki_recorder_mode mode;
	bool quiet;		       /* no warnings of what is refused, or taken out */
	bool predict;		       /* what it would cost */
	bool (*pause)(double seconds); /* for that; see predict.h */
	double budget;		       /* share of the machine; 0: none */
	uint32_t buffer;	       /* bytes for each CPU; 0: as the library has it */
	const char *output;
};

/* Instruments that come and go together. */
struct ki_recorder_group {
	pid_t asked_pid; /* of that process; 0: of the kernel; OPEN_COMMAND */
	const struct ki_opened_process *process; /* once it is open; NULL: of the kernel */
	double at, until;			 /* seconds from the start */
	bool on, over;
	bool closed;	   /* totals: its time is over, and nothing more is written of it */
	uint64_t from, to; /* the same as ticks; only records between them are kept */
	uint64_t *outside; /* of each point, hits whose records were not */
	struct ki_asked asked;
	struct ki_recorder_ask **asks; /* of each text */
	struct ki_points points;
	uint64_t *seen; /* totals: of each point, what has been written */
	uint32_t first; /* id of the first point's records; the others' follow, */
	uint32_t ids;	/* each so far after the one before */
	bool totals, budgeted, newest, predicted;
	struct ki_prediction prediction; /* if it is wanted */
	struct ki_record_making making;
};

/* What the file says of the code that is recorded: graphs of functions, build ids of modules. */
struct ki_recorder_code {
	struct ki_record_function *functions;
	struct ki_record_module *modules;
	char (*builds)[72]; /* of the modules */
	size_t nfunctions, nmodules;
};

struct ki_recorder;

/* What is sampled, or taken out, and that the file says so. */
struct ki_recorder_budget {
	double share; /* of the machine; 0: there is no budget, and nothing is done */
	struct ki_recorder *r;
	struct ki_costs cost;
	struct ki_budget budget;
	struct ki_record_file *file;
	struct {
		struct ki_record_event *v;
		size_t n, cap;
	} events; /* all there were */
	int err;  /* -errno of the file */
};

struct ki_recorder_instruments {
	struct ki_instrument *v;
	size_t n, cap;
};

struct ki_recorder {
	/* given; all of it lives as long */
	struct ki_recorder_options *o;
	struct ki_target *t;	   /* a live kernel */
	struct ki_predicate *when; /* NULL: always */
	const struct ki_opened_processes *processes;
	const struct ki_listener *listener;
	/* found, and made */
	struct ki_ring_map *ring;     /* NULL: totals */
	struct ki_stacks_map *stacks; /* NULL: none is asked for */
	struct ki_recorder_group *groups;
	size_t ngroups;
	struct ki_recorder_instruments instruments;
	struct ki_record_origin origin;
	struct ki_recorder_code code;
	struct ki_record_file *file;
	struct ki_recorder_budget budget;
	struct ki_skipped skipped;
	double start; /* seconds of CLOCK_MONOTONIC */
	uint64_t written;
	uint64_t misfit, *misfits; /* records of another number of values; of each instrument */
	unsigned int snapshots;
	bool unwritten; /* writing has failed */
	struct ki_err err;
};

/* ---- before it begins ---- */

/* Divide what is asked for into groups. -EINVAL without a reason: what was asked is wrong. */
int ki_recorder_group(struct ki_recorder *r);

/* Find out what is meant; the target and processes are open. all_refused: that is no error, as
   where nothing is to be installed. */
int ki_recorder_resolve(struct ki_recorder *r, bool all_refused);

/* What is to be known before the clock starts; then the file, whose clock starts. command: what
   the file says it was asked for. */
int ki_recorder_prepare(struct ki_recorder *r);
int ki_recorder_begin_file(struct ki_recorder *r, const char *command);

/* ---- while it goes on ---- */

/* Put in what is due, and let the budget begin. */
int ki_recorder_begin(struct ki_recorder *r);

/* When something is to be done, seconds of CLOCK_MONOTONIC; negative: never. Do what is due. */
double ki_recorder_next(const struct ki_recorder *r);
int ki_recorder_due(struct ki_recorder *r);

/* Write all that is in the buffers, or has been counted. */
int ki_recorder_read(struct ki_recorder *r);

/* All that is in the buffers to a file of its own. What fails is warned of, and ends nothing. */
void ki_recorder_snapshot(struct ki_recorder *r);

/* Have all processes of which something is recorded ended, and is nothing of the kernel? */
bool ki_recorder_over(const struct ki_recorder *r);

/* ---- the end ---- */

int ki_recorder_take_out(struct ki_recorder *r);

/* Read the buffers for the last time, and finish the file. */
int ki_recorder_finish(struct ki_recorder *r);

/* Records that are not in the file. */
uint64_t ki_recorder_lost(const struct ki_recorder *r);

/* Warn of instruments that have written what is not what they say. */
void ki_recorder_warn(const struct ki_recorder *r);

/* What was written in so many seconds, what it has cost, and what was done about that: an object in
   a line, or lines for the listener. */
int ki_recorder_json(const struct ki_recorder *r, double seconds, FILE *out);
void ki_recorder_say(const struct ki_recorder *r, double seconds);

/* All but what was given; a file that was not finished is removed. */
void ki_recorder_free(struct ki_recorder *r);

#ifdef __cplusplus
}
#endif

#endif
