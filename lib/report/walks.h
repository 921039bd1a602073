/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ways: what a thread came by, from the entry of a function on to its end. Points of the function
 * and of those that it calls are steps of it.
 */
#ifndef KI_REPORT_WALKS_H
#define KI_REPORT_WALKS_H

#include "report/inside.h"
#include "util/vec.h"

struct step {
	uint32_t in;	/* index of the instrument */
	uint32_t depth; /* functions around it whose entry and exit are recorded */
};

struct step_seen {
	double time; /* of the first time, */
	uint64_t times;
};

/* One that a thread has gone, or is on. What is repeated at once is one with a number of times. */
struct walk {
	uint64_t tid; /* of an idle thread: one for each CPU */
	ki_vec(struct step) steps;
	ki_vec(struct step_seen) seen; /* of each step */
	ki_vec(uint64_t) stack;	       /* functions that it is in */
	uint64_t root;		       /* where it began */
	uint64_t records;	       /* that are in it */
	double start, end;
	bool open, broken; /* something is missing in it */
	bool cut;	   /* there were more steps than are kept */
	bool enclosed;	   /* by the root's entry and exit; else it ends where the next begins */
};

struct walks {
	struct ki_report *c;
	int (*done)(void *arg, const struct walk *w); /* one that is whole: 0, or -errno */
	void *arg;
	struct player *players; /* of each instrument */
	void *threads;		/* tree of struct walk */
	uint64_t whole, broken; /* an entry or an exit is missing: lost, or not of the time */
	uint64_t swallowed;	/* records in broken ones */
	uint64_t outside;	/* records that are in none */
	bool gaps;		/* records are missing inside of the recording */
	int err;
};

/* 0, or -ENOMEM. Free it in any case. */
int ki_walks_begin(struct walks *w, struct ki_report *c);
int ki_walks_record(struct walks *w, const struct ki_report_record *e); /* 0, or -errno */
int ki_walks_end(struct walks *w);					/* what still goes on */
void ki_walks_free(struct walks *w);

/* Is the step at a point of this function? */
bool ki_walks_is_of(const struct walks *w, const struct step *s, uint64_t function);

#endif
