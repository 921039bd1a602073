/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A search: its graph (graph.c), which is a matter of data alone, and what measures.
 */
#ifndef KI_CROSSWALK_WALK_H
#define KI_CROSSWALK_WALK_H

#include "kerninst/code.h"
#include "kerninst/crosswalk.h"
#include "kerninst/metric.h"
#include "kerninst/predicate.h"
#include "kerninst/table.h"
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
	uint64_t used;		      /* of the events that are searched */
	bool running;		      /* just before; of KI_WHAT_CPU */
};

struct ki_crosswalk_stand {
	struct ki_thread_stacks stacks;
	ki_vec(struct ki_crosswalk_thread) threads;
	ki_vec(pid_t) running; /* of KI_WHAT_CPU: just before their stacks were read */
	double at;	       /* seconds of CLOCK_MONOTONIC: when their times were noted */
};

/* What is searched. */
enum ki_crosswalk_what { KI_WHAT_WALL, KI_WHAT_CPU, KI_WHAT_EVENT };

/* Of a level: what each thread has of all, and what looks at it weigh (looks.c). */
struct ki_crosswalk_part {
	pid_t tid;
	uint64_t ran, first, used; /* at its beginning; at the last look */
	double weight, part;
};
struct ki_crosswalk_parts {
	ki_vec(struct ki_crosswalk_part) v;
	unsigned int looks;
	double begun; /* seconds of CLOCK_MONOTONIC */
	double all;   /* seconds, or events */
};

/* A counter of perf's; -1: the thread has none. */
struct ki_crosswalk_counter {
	pid_t tid;
	int fd;
};

struct ki_crosswalk {
	pid_t pid;
	struct ki_target *process, *kernel; /* kernel NULL: in the program only */
	struct ki_crosswalk_options o;
	const struct ki_listener *listener;
	struct ki_crosswalk_graph graph;
	ki_vec(struct ki_crosswalk_elsewhere) elsewhere;
	enum ki_crosswalk_what what;
	const struct ki_metric *metric;
	struct ki_metric *named;    /* that, if it is in no table; else NULL */
	bool told;		    /* functions of the program are timed in the kernel */
	struct ki_table_map *table; /* what each thread has taken (threads.c); NULL: not wanted */
	ki_vec(struct ki_crosswalk_counter) counters;
	struct ki_crosswalk_parts parts; /* of the last level */
	struct ki_predicate *own;	 /* it is the process: for the kernel */
	struct ki_stack_reader *stacks;	 /* NULL: cannot be had */
	struct ki_crosswalk_stand now;	 /* the last that was taken */
	double speed;			 /* instructions a second */
	double begun;			 /* seconds of CLOCK_MONOTONIC */
	double spent[2];		 /* instructions in the program, in the kernel */
	bool untimed;			 /* the program has no timers: stacks tell all */
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
/* Without the program's stacks, which takes no moment of any thread. -ENOMEM. */
int ki_crosswalk_stand_times(struct ki_crosswalk *w, struct ki_crosswalk_stand *s);
void ki_crosswalk_stand_free(struct ki_crosswalk_stand *s);
bool ki_crosswalk_thread_in(const struct ki_crosswalk *w, const struct ki_crosswalk_thread *t,
			    const struct ki_crosswalk_node *n);
/* How many threads are in a function now. */
unsigned int ki_crosswalk_stand_in(const struct ki_crosswalk *w, const struct ki_crosswalk_stand *s,
				   const struct ki_crosswalk_node *n);
/* In both, in the same call: the sum of their parts, which they get. called: others came. */
int ki_crosswalk_stand_both(const struct ki_crosswalk *w, const struct ki_crosswalk_stand *a,
			    const struct ki_crosswalk_stand *b, struct ki_crosswalk_node *n,
			    bool called);
/* The functions in which threads begin. */
int ki_crosswalk_add_roots(struct ki_crosswalk *w, struct ki_err *err);
/* Callees of these nodes that are on stacks. */
int ki_crosswalk_add_standing(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
			      struct ki_err *err);

/* usage.c: what the options ask for; what a thread has used, of events. */
int ki_crosswalk_take_metric(struct ki_crosswalk *w, struct ki_err *err);
uint64_t ki_crosswalk_used(struct ki_crosswalk *w, pid_t tid);
bool ki_crosswalk_is_running(const struct ki_crosswalk *w, pid_t tid);
void ki_crosswalk_usage_free(struct ki_crosswalk *w);
/* A file of a thread, as text; it may be empty. NULL: no memory. */
#define KI_CROSSWALK_TEXT 8192
char *ki_crosswalk_read_text(pid_t pid, pid_t tid, const char *name);

/* looks.c: begin with what the threads have used until now, wait for a level's time and look now
   and then, end. */
int ki_crosswalk_parts_begin(struct ki_crosswalk_parts *p, const struct ki_crosswalk_stand *s);
int ki_crosswalk_look(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		      struct ki_crosswalk_parts *p, struct ki_err *err);
int ki_crosswalk_parts_end(struct ki_crosswalk *w, struct ki_crosswalk_parts *p,
			   const struct ki_crosswalk_stand *s, double seconds);
void ki_crosswalk_parts_free(struct ki_crosswalk_parts *p);
/* Then, shares of what has been looked for. */
void ki_crosswalk_looked(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
			 struct ki_crosswalk_parts *p);
double ki_crosswalk_part(const struct ki_crosswalk_parts *p, pid_t tid);
int ki_crosswalk_share_add(struct ki_crosswalk_node *n, pid_t tid, double share);

/* threads.c: with shares of each thread; make n->share what the threshold is compared with. */
int ki_crosswalk_table_new(struct ki_crosswalk *w, struct ki_err *err);
void ki_crosswalk_judge(const struct ki_crosswalk *w, struct ki_crosswalk_node *n);

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
