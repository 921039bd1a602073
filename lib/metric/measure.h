/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A measurement's inside: curves, and the code that they share.
 */
#ifndef KI_METRIC_MEASURE_H
#define KI_METRIC_MEASURE_H

#include "kerninst/process.h"
#include "metric/price.h"
#include "metric/table.h"
#include "util/vec.h"

/* In which order code comes: what ends something before what begins it. */
enum { STAGE_STOP, STAGE_INSIDE, STAGE_START };

typedef ki_vec(uint32_t) ki_numbers;

/* A place of a snippet: its chunk in the plan, and what is free there. */
struct site {
	uint32_t chunk;
	struct ki_site_regs regs;
};

typedef ki_vec(struct ki_snippet *) ki_snippets;

/* Places of which the kernel is told, in the measurement's told_at. */
struct told_run {
	uint32_t first, n;
};

/* One snippet at all places of one point. Of a process, in the kernel: one for each place. */
struct code {
	struct ki_snippet *snippet;
	ki_snippets told;
	struct told_run run;
	ki_vec(struct site) sites;
};

/* Where a thread is while a word of it is not 0; made when the first predicate asks for it. Those
   of functions of one name stand together and have one word. */
struct inside {
	uint64_t function;
	uint32_t word;
	uint32_t passes; /* of enter and leave, if metered: index in the measurement's counters */
	uint32_t bundle;
	struct code enter, leave;
	struct price enter_price, leave_price; /* since the start */
};

/* What starts at a point find as their clock (prior.c). */
struct prior {
	uint64_t function;
	struct ki_point at;
	uint16_t order;
	uint8_t source;
	struct ki_event_ask event;
	uint32_t word;
	uint32_t bundle;
	struct code code;
};

/* Start and stop of one source at one point, under one predicate. */
struct pair {
	uint64_t function;
	struct ki_point at;
	char *when; /* the predicate's text; NULL: none */
	uint16_t order;
	bool own; /* it does more at its end, for one curve */
	uint8_t source;
	struct ki_event_ask event;  /* SOURCE_EVENT */
	uint32_t number;	    /* of that, the driver's */
	uint8_t keeps;		    /* what the code writes */
	uint32_t total, over, log2; /* indices in the measurement's counters */
	uint32_t deep;		    /* calls deeper in themselves than can be counted */
	uint32_t starts, stops;	    /* passes of the code, if metered */
	bool gone;		    /* taken out for good: nobody is inside; */
	uint64_t gone_at;	    /* when that was, by the time stamp counter */
	uint32_t part;		    /* the first pair of those that curves tie together */
	uint32_t word;
	uint32_t prior; /* what has read its clock; KI_NONE: the start itself */
	uint32_t bundle;
	ki_numbers needs; /* the insides that its predicate asks */
	uint64_t seen;	  /* what the last reading gave: readings do not fall */
	struct code start, stop;
	struct price start_price, stop_price;
};

struct curve {
	const struct ki_metric_row *row;
	uint32_t pair;		 /* KI_NONE: it counts */
	uint32_t other;		 /* a second pair, or KI_NONE */
	uint32_t counter;	 /* then: index in the measurement's counters */
	uint32_t passes;	 /* the same, if metered; a bare counter's own */
	uint32_t chunk, nchunks; /* in the plan */
	uint32_t taken;		 /* the same, of hits at which its action was done, and after it
				    how many are left out before the next; KI_NONE: all */
	uint32_t mask;		 /* then: the global variable that says at which */
	ki_numbers needs;	 /* the insides that its predicate asks */
	uint32_t bundle;	 /* KI_NONE: there is one chunk */
	struct told_run told;	 /* of a process, and counted in the kernel */
	/* with a predicate: one for all places, or in another's process one for each; none: the
	   bare counter */
	ki_snippets snippets;
	struct price price;
};

/* A place in a process of which the kernel is told, and for what. */
struct told {
	struct ki_target *process;
	struct ki_process_hit hit;
	uint32_t bundle;
	bool gone;	  /* the bundle has been taken out */
	uint32_t sharers; /* those at its place that are not gone */
};

/* The breakpoints in one process. */
struct told_in {
	struct ki_target *process;
	struct ki_splice_process *splice; /* NULL: there are none */
};

/* An event that is counted. */
struct counted {
	struct ki_event_ask event;
	uint32_t number;
};

/* When costs were noted the last time. */
struct prices {
	struct price *codes; /* of each chunk, without jumps; NULL: never, */
	double *spent;	     /* instructions of each part until then, */
	double *counters;    /* what each counter was */
};

struct ki_measure {
	struct ki_target *t;
	struct ki_plan *plan;
	struct ki_counter_map *map;	   /* since the start; NULL of a process, */
	struct ki_splice_process *process; /* which has this */
	struct ki_target *told; /* what is added is of this process, but in the kernel; NULL */
	ki_vec(struct told_in) hits;
	uint32_t tsc_khz; /* 0: not known */
	ki_vec(struct told) told_at;
	ki_vec(struct curve) curves;
	ki_vec(struct pair) pairs;
	ki_vec(struct inside) insides;
	ki_vec(struct prior) earlies;
	ki_vec(struct counted) events;
	ki_vec(uint32_t) counters; /* their numbers */
	struct prices priced;
	struct ki_reading *start;
	uint32_t number; /* what instruments are told of the points that come now */
	bool started, each_cpu, metered, sampled, prior, sheds;
};

/* What ki_measure_add was asked for. */
struct ask {
	struct ki_measure *m;
	const struct ki_metric_row *row;
	struct ki_event_ask event; /* SOURCE_EVENT: which of the row's; EVENT_NONE: none */
	const struct ki_function *fn;
	const struct ki_spans *spans;
	const struct ki_point *pt;
	uint16_t order;
	const struct ki_predicate *when; /* NULL: always */
	ki_measure_action *make;	 /* what else is done; NULL: nothing */
	void *arg;
	const struct ki_measure_ends *ends; /* the same, of what lasts */
	struct ki_err *err;
};

/* ---- where it is measured, in the kernel or in a process (place.c) ---- */

bool ki_measure_in_process(const struct ki_measure *m);
bool ki_measure_is_spread(const struct ki_measure *m); /* in a process, each CPU apart */
/* How fast the time stamp counter is; 0 and an error. */
uint32_t ki_measure_khz(struct ki_measure *m, struct ki_err *err);
int ki_measure_put_in(struct ki_measure *m, struct ki_err *err);
int ki_measure_take_out(struct ki_measure *m, struct ki_err *err);
/* Has it begun? */
bool ki_measure_is_in(const struct ki_measure *m);
/* A counter, by its index in the measurement's; of all CPUs: KI_ALL_CPUS. */
uint64_t ki_measure_counter(const struct ki_measure *m, size_t index, int cpu);
/* The code of a bare counter. */
void ki_measure_bare(const struct ki_measure *m, struct ki_code *out, uint32_t counter,
		     bool keep_flags);

const char *ki_measure_name(const struct ki_function *fn);

/* See to it that an event is counted: its number. */
int ki_measure_event(struct ki_measure *m, const struct ki_event_ask *event, uint32_t *number,
		     struct ki_err *err);
/* The same of two; each is asked for before one is taken, which would keep its counter. */
int ki_measure_events(struct ki_measure *m, const struct ki_event_ask *first,
		      const struct ki_event_ask *second, struct ki_err *err);
bool ki_event_is_same(const struct ki_event_ask *a, const struct ki_event_ask *b);

/* Take a run of counters: the index of the first. */
int ki_measure_counters(struct ki_measure *m, uint32_t count, uint32_t *index, struct ki_err *err);

/* One more for a counter, as the first statement of what is metered. */
struct ki_node *ki_measure_pass(const struct ki_measure *m, struct ki_snippet *s, uint32_t index,
				struct ki_node *then);

/* Note what each part costs now: something has come, or gone (cost.c). -ENOMEM. */
int ki_costs_note(struct ki_measure *m, struct ki_err *err);
void ki_costs_free(struct ki_measure *m);

/* ---- places (site.c) ---- */

struct places {
	struct ki_place *v;
	size_t n;
};

/* All places of a point, none of them refused; of the one asked for: KI_POINT_KINDS. Free v. */
int ki_measure_places(const struct ask *a, enum ki_point_kind kind, struct places *out);
int ki_measure_places_of(const struct ask *a, const struct ki_point *pt, struct places *out);

/* Compile for each place, and put it there. */
int ki_code_put(const struct ask *a, struct code *c, const struct places *at, uint16_t order);
void ki_code_free(struct code *c);

/* What is free at a place, as far as that is known without the whole program. */
void ki_measure_site(const struct ki_function *fn, const struct ki_place *place,
		     struct ki_site_regs *out);

/* ---- points of a process, counted in the kernel (told.c) ---- */

struct told_code {
	/* Of the thread: called once for each place. */
	int (*build)(const struct ask *a, const void *arg, struct ki_snippet *s,
		     struct ki_node **out);
	const void *arg;
	uint32_t bundle;
	ki_snippets *snippets; /* where they are kept */
};
/* Adds to c->sites. */
int ki_told_put(const struct ask *a, const struct told_code *t, const struct places *at,
		struct code *c);
/* Breakpoints at all places. What has none is left out of the plan, which has not been applied. */
int ki_told_begin(struct ki_measure *m, struct ki_err *err);
/* A bundle is taken out for good; when its code has been, so are breakpoints that only it has. */
void ki_told_shed(struct ki_measure *m, uint32_t bundle);
/* How many share each place's breakpoint now. 0, or -ENOMEM. */
int ki_told_note_sharers(struct ki_measure *m);
int ki_told_update(struct ki_measure *m, struct ki_err *err);
int ki_told_end(struct ki_measure *m, struct ki_err *err);
void ki_told_free(struct ki_measure *m);

void ki_curve_free(struct curve *c);

/* What is done at the curve's point, after its predicate (curves.c). */
struct words;
int ki_count_build(const struct ask *a, const struct curve *c, const struct words *words,
		   struct ki_snippet *s, struct ki_node **out);

/* ---- the end of calls (exits.c) ---- */

struct exits {
	struct places at;	  /* in the function */
	struct ki_function *cold; /* its cold part; NULL: none */
	struct ki_spans spans;	  /* of that */
	struct places cold_at;	  /* in that */
};

/* All places where callers get control back, none of them refused. Free it in any case. */
int ki_exits_find(const struct ask *a, struct exits *out);
int ki_exits_put(const struct ask *a, struct code *c, const struct exits *e, uint16_t order);
/* What is asked of the cold part. */
struct ask ki_exits_cold(const struct ask *a, const struct exits *e);
void ki_exits_free(struct exits *e);

/* ---- what begins and ends (region.c) ---- */

/* Where what the point stands for begins, and where it ends; KI_R_NO_DURATION: it does not. Free
   both in any case. */
int ki_region_find(const struct ask *a, struct places *begin, struct exits *end);
int ki_region_ends(const struct ask *a, struct exits *end);

/* ---- predicates (inside.c) ---- */

/* The words of a predicate's inside(), by number. */
struct words {
	ki_vec(struct ki_var) v;
	ki_numbers insides; /* of all of them: one name may be several functions */
	ki_numbers bundles;
};

/* See to it that the code of all its inside() is in the plan. Free with ki_words_free. */
int ki_words_of(const struct ask *a, struct words *out);
/* The insides that it asks, which are the caller's then. */
ki_numbers ki_words_insides(struct words *w);
void ki_words_free(struct words *w);

/* ---- clocks before predicates (prior.c) ---- */

/* See to it that the pair's clock is read before its predicate is decided, at its beginnings. */
int ki_prior_get(const struct ask *a, struct pair *p, const struct places *at, struct words *needs);
struct ki_node *ki_prior_clock(const struct ki_measure *m, struct ki_snippet *s, uint32_t prior);

/* The bundle makes no sense without them. */
int ki_words_need(const struct ask *a, const struct words *w, uint32_t bundle);

/* ---- pairs (pair.c) ---- */

bool ki_point_is_same(const struct ki_point *a, const struct ki_point *b);
/* What is read at its start and at its stop. */
struct ki_node *ki_pair_clock(struct ki_snippet *s, const struct pair *p);
/* What its code does (pair_code.c). */
int ki_pair_start(const struct ask *a, const struct pair *p, const struct words *words,
		  struct ki_snippet *s, struct ki_node **out);
int ki_pair_stop(const struct ask *a, const struct pair *p, struct ki_snippet *s,
		 struct ki_node **out);
/* The pair of what is asked for, made or found, with all that the row keeps. */
int ki_pair_get(const struct ask *a, uint32_t *number);
void ki_pair_free(struct pair *p);
/* A curve is of both: they are one part of the measurement. */
void ki_pairs_tie(struct ki_measure *m, uint32_t a, uint32_t b);
/* The one that was made last is left out of the plan, and there no more. */
void ki_pair_drop(struct ki_measure *m);

#define NS_SHIFT 16
uint64_t ki_ticks_factor(const struct ki_measure *m);

#endif
