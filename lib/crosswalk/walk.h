/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A search: its graph (graph.c), which is a matter of data alone, and what measures.
 */
#ifndef KI_CROSSWALK_WALK_H
#define KI_CROSSWALK_WALK_H

#include "kerninst/code.h"
#include "kerninst/crosswalk.h"
#include "kerninst/predicate.h"
#include "kerninst/thread_stacks.h"
#include "util/vec.h"

/* ---- graph.c ---- */

struct ki_crosswalk_graph {
	ki_vec(struct ki_crosswalk_node) nodes;
	ki_vec(struct ki_crosswalk_edge) edges;
};

void ki_crosswalk_graph_free(struct ki_crosswalk_graph *g);

/* KI_NONE: there is none. */
uint32_t ki_crosswalk_find(const struct ki_crosswalk_graph *g, bool kernel, uint64_t addr);

/*
 * A function that `from` calls (KI_NONE: it is a root): if there is none yet a node that is in
 * question, and an edge. 0, or -ENOMEM.
 */
struct ki_crosswalk_seen {
	uint32_t from;
	enum ki_crosswalk_how how;
	uint64_t site; /* of KI_CROSSWALK_POINTER */
};
int ki_crosswalk_add(struct ki_crosswalk_graph *g, const struct ki_symbol *sym, bool kernel,
		     const struct ki_crosswalk_seen *by);

/* What has been found out of a node; of REFUSED call ki_crosswalk_refuse. */
void ki_crosswalk_conclude(struct ki_crosswalk_node *n, double threshold);
void ki_crosswalk_refuse(struct ki_crosswalk_node *n, unsigned int reason);

/* Which nodes are bottlenecks: of what is true what calls nothing that is. */
void ki_crosswalk_mark_last(struct ki_crosswalk_graph *g);

/* ---- the search ---- */

typedef ki_vec(uint32_t) ki_crosswalk_numbers;

/* Where a thread is. */
struct ki_crosswalk_thread {
	pid_t tid;
	struct ki_thread_stack *user; /* NULL: not known */
	char *kernel;		      /* its stack there, text of the kernel's; "" */
	uint64_t ran;		      /* nanoseconds; 0: not known */
};

struct ki_crosswalk_stand {
	struct ki_thread_stacks stacks;
	ki_vec(struct ki_crosswalk_thread) threads;
};

struct ki_crosswalk {
	pid_t pid;
	struct ki_target *process, *kernel; /* kernel NULL: in the program only */
	struct ki_crosswalk_options o;
	const struct ki_listener *listener;
	struct ki_crosswalk_graph graph;
	ki_vec(struct ki_crosswalk_elsewhere) elsewhere;
	struct ki_predicate *own;	/* it is the process: for the kernel */
	struct ki_stack_reader *stacks; /* NULL: cannot be had */
	struct ki_crosswalk_stand now;	/* the last that was taken */
	double speed;			/* instructions a second */
	double begun;			/* seconds of CLOCK_MONOTONIC */
	double spent[2];		/* instructions in the program, in the kernel */
	bool untimed;			/* the program has no timers: stacks tell all */
	bool ended, stopped;
};

/* Open the process again: it has mapped something, or words were taken that it has no place for. */
int ki_crosswalk_reopen(struct ki_crosswalk *w, struct ki_err *err);

/* elsewhere.c: what was elsewhere, as a list, or objects. */
void ki_crosswalk_elsewhere_free(struct ki_crosswalk *w);
int ki_crosswalk_elsewhere_show(const struct ki_crosswalk *w, const struct ki_page *page);

/* wait.c: false: the search is to end. */
bool ki_crosswalk_wait(struct ki_crosswalk *w, double seconds);

/*
 * stand.c: where the threads are; without stacks nothing is known, and that is no error. They are
 * held for a moment, and run for that. Before what is measured their running times are noted after
 * it, and else before it.
 */
int ki_crosswalk_stand_take(struct ki_crosswalk *w, bool times_after, struct ki_crosswalk_stand *s,
			    struct ki_err *err);
void ki_crosswalk_stand_free(struct ki_crosswalk_stand *s);
/* How many threads are in a function now; in both, in the same call. called: others came. */
unsigned int ki_crosswalk_stand_in(const struct ki_crosswalk *w, const struct ki_crosswalk_stand *s,
				   const struct ki_crosswalk_node *n);
unsigned int ki_crosswalk_stand_both(const struct ki_crosswalk *w,
				     const struct ki_crosswalk_stand *a,
				     const struct ki_crosswalk_stand *b,
				     const struct ki_crosswalk_node *n, bool called);
/* The functions in which threads begin. */
int ki_crosswalk_add_roots(struct ki_crosswalk *w, struct ki_err *err);
/* Callees of these nodes that are on stacks. */
int ki_crosswalk_add_standing(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
			      struct ki_err *err);

/* level.c: measure all that is in question. */
int ki_crosswalk_measure(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
			 struct ki_err *err);

/* expand.c: add what these nodes call. */
int ki_crosswalk_expand(struct ki_crosswalk *w, const ki_crosswalk_numbers *of, struct ki_err *err);

/* crossing.c: system calls and faults of these nodes' functions. Start; after a while, add them. */
struct ki_crosswalk_crossing;
int ki_crosswalk_crossing_new(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
			      struct ki_crosswalk_crossing **out, struct ki_err *err);
int ki_crosswalk_crossing_add(struct ki_crosswalk_crossing *c, struct ki_err *err);
void ki_crosswalk_crossing_free(struct ki_crosswalk_crossing *c); /* NULL is allowed */

#endif
