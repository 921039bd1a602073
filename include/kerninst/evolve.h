/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The evolving kernel: functions whose code is laid out anew while they run, by how they are used.
 *
 * profile (cover.h, KI_COVER_EDGES) -> choose an order of blocks -> lay out (splice.h) -> measure
 * -> keep or undo. Each step is a function of data. What a layout does to the code is the driver's:
 * an order cannot change what code does.
 */
#ifndef KERNINST_EVOLVE_H
#define KERNINST_EVOLVE_H

#include <stdio.h>

#include "kerninst/cover.h"
#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- an order of blocks ---- */

struct ki_lay_block {
	uint32_t size; /* bytes */
	uint64_t count;
};

/* Control goes from one to the other, and could fall there. */
struct ki_lay_edge {
	uint32_t from, to;
	uint64_t count;
};

struct ki_lay_graph {
	struct ki_lay_block *blocks; /* in order of address */
	struct ki_lay_edge *edges;
	uint32_t nblocks, nedges;
};

/*
 * A policy: how an order is chosen. *order: of all blocks; *nhot: so many of them, which come
 * first, are hot. hot: a block is if it was executed more often than that; so is block 0, always.
 * 0, or -ENOMEM.
 */
typedef int ki_lay_policy(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order,
			  uint32_t *nhot);

/*
 * ext-TSP: chains of hot blocks are joined where that makes control fall most often, and jump near
 * where it jumps. (Newell and Pupyrev, "Improved Basic Block Reordering", 2020); cold blocks stand
 * after them as they were. hot-first: hot blocks as they were, then cold ones. reverse: the last
 * block first, which serves tests alone.
 */
int ki_lay_ext_tsp(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot);
int ki_lay_hot_first(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot);
int ki_lay_reverse(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot);

/* The policy of a name, "ext-tsp", "hot-first", "reverse"; NULL. */
ki_lay_policy *ki_lay_policy_find(const char *name);

/* How good ext-TSP finds an order of n blocks (of others it knows nothing): to be compared with
   that of another order of the same. */
double ki_lay_score(const struct ki_lay_graph *g, const uint32_t *order, uint32_t n);

/* ---- which functions ---- */

struct ki_evolve_search {
	size_t n;	/* so many at most */
	double seconds; /* sample so long */
	/* Wait so long; false: stop (-ECANCELED). */
	bool (*wait)(void *arg, double seconds);
	void *arg;
};

struct ki_evolve_hot {
	const struct ki_symbol *sym;
	const struct ki_symbol *caller; /* by which it was called most often then; NULL: unknown */
};

/*
 * The symbols in which the kernel is found most often, the hottest first: each CPU's clock is
 * sampled 2,000 times a second by perf events (no counter of the processor is needed); the
 * kernel's unwinder finds the callers. A live kernel. *out: *count of the target's symbols,
 * some of which may be no functions that can be laid out; ki_free(). -EACCES, -EPERM:
 * perf_event_paranoid.
 */
int ki_evolve_hottest(struct ki_target *t, const struct ki_evolve_search *how,
		      struct ki_evolve_hot **out, size_t *count, struct ki_err *err);

/*
 * How the edges of how->n functions are used, for how->seconds. 0; -ECANCELED: how->wait has ended
 * it; *out may be there even so. Free it with ki_coverage_free.
 */
int ki_evolve_profile(struct ki_target *t, const struct ki_symbol *const *syms,
		      const struct ki_evolve_search *how, struct ki_coverage **out,
		      struct ki_err *err);

/* ---- functions ---- */

/* What a layout of a function is expected to do, by its profile. */
struct ki_evolve_forecast {
	uint64_t calls;		   /* in the profile */
	uint32_t blocks, hot;	   /* there are; of these, hot */
	uint32_t bytes, hot_bytes; /* the same, of code */
	uint32_t lines_before;	   /* cache lines that hold hot blocks in the text */
	uint32_t lines_after;	   /* that they will fill, if none of their jumps were needed */
	double taken_before;	   /* times per call that control does not fall from a hot block */
	double taken_after;	   /* into the next one */
};

/*
 * What a profile says of a function, as a graph of its blocks: g's arrays are to be freed. An edge
 * that leaves through the text (a static branch) has count 0: nothing can fall there. With err:
 *    -ENOENT  it is not in the profile
 *    -ESTALE  it is there with other blocks or edges
 *    other    why it could not be profiled
 */
int ki_evolve_graph(const struct ki_coverage *profile, const struct ki_function *fn,
		    const struct ki_spans *spans, struct ki_lay_graph *g, uint64_t *calls,
		    struct ki_err *err);
void ki_lay_graph_free(struct ki_lay_graph *g);

struct ki_evolve; /* layouts of several functions, to be put in and taken out together */

struct ki_evolve_options {
	ki_lay_policy *policy;
	unsigned int hot; /* 1/hot of a function's calls is the threshold of its blocks; 0: what was
			     executed at all is hot */
	bool apart;	  /* each function by itself, instead of the kernel's together (splice.h) */
	bool retarget;	  /* direct calls by the kernel's other functions lead there, too */
	size_t cache;	  /* KiB of the processor's first-level cache of code; 0: unknown. If hot
			     blocks of functions together take more, and not many times more, those
			     that are executed less often stand aside (splice.h). */
};

/* Of this machine, in KiB; 32, which most have, if the kernel does not say. */
size_t ki_evolve_code_cache(void);

int ki_evolve_new(struct ki_target *t, const struct ki_evolve_options *o, struct ki_evolve **out,
		  struct ki_err *err);
void ki_evolve_free(
	struct ki_evolve *e); /* what is in is not taken out: the target's end does it */

/*
 * Choose a layout of a function. On a refusal nothing is added: no calls in the profile are
 * -ENODATA. The profile need not live on.
 */
int ki_evolve_add(struct ki_evolve *e, const struct ki_coverage *profile,
		  const struct ki_symbol *sym, struct ki_evolve_forecast *out, struct ki_err *err);

/*
 * Put all in, take all out; again and again. Only ask whether they could be put in. What the driver
 * refuses is left out; all of it is an error. After the first of these nothing can be added.
 */
int ki_evolve_install(struct ki_evolve *e, struct ki_err *err);
int ki_evolve_undo(struct ki_evolve *e, struct ki_err *err);
int ki_evolve_check(struct ki_evolve *e, struct ki_err *err);

/* Why the driver refused the n-th function that was added, *sym; KI_R_OK: it did not. *sym is NULL:
   there are no more. */
unsigned int ki_evolve_refusal(const struct ki_evolve *e, size_t n, const struct ki_symbol **sym);

/* Does the n-th function that was added, *sym, stand aside in the cache (ki_evolve_options.cache)?
   It is known once it has been asked whether they can be put in. *sym is NULL: there are no more. */
bool ki_evolve_is_aside(const struct ki_evolve *e, size_t n, const struct ki_symbol **sym);

/* How many calls by others lead into layouts where they stand (retarget), once it has been asked
   whether they can be put in. */
size_t ki_evolve_retargeted(const struct ki_evolve *e);

/* ---- better? ---- */

/*
 * Windows of time without the layouts and with them, in turn; what one call of a function takes in
 * each. Its own clock is read by inserted code, which costs less inside a function that is laid
 * out (no jumps): a function that is not, such as a caller, is the fairer judge.
 */
struct ki_evolve_trial {
	const struct ki_symbol *judge;
	const char *metric; /* NULL: "vtime/call" */
	size_t windows;	    /* of each kind, at least 2 */
	double seconds;	    /* of one */
	/* Wait so long; false: stop (-ECANCELED). NULL: just wait. */
	bool (*wait)(void *arg, double seconds);
	void *arg;
};

/*
 * A fair judge of the functions that were added: the one that calls them most often, of those
 * that were not added and can be measured. The kernel is sampled for how->seconds, as
 * ki_evolve_hottest does it, with its errors; how->n is not looked at. *out NULL: none was seen.
 * Call it before a layout is in: copies have no callers.
 */
int ki_evolve_find_judge(struct ki_evolve *e, const struct ki_evolve_search *how,
			 const struct ki_symbol **out, struct ki_err *err);

/*
 * Fills windows values each; then the layouts are in. -ENODATA: the judge was not called in a
 * window. On a failure they are out.
 */
int ki_evolve_try(struct ki_evolve *e, const struct ki_evolve_trial *t, double *before,
		  double *after, struct ki_err *err);

/* Measurements of the same, before and after: a mean of each window. */
struct ki_evolve_verdict {
	double before, after; /* means */
	double low, high;     /* of (after - before) / before, with 95 % confidence */
	bool better;	      /* all of the interval is below 0 */
	bool worse;	      /* above */
};

/* n windows of each, at least 2. */
void ki_evolve_judge(const double *before, const double *after, size_t n,
		     struct ki_evolve_verdict *out);

/* Both: the verdict of a trial. */
int ki_evolve_try_judge(struct ki_evolve *e, const struct ki_evolve_trial *t,
			struct ki_evolve_verdict *out, struct ki_err *err);

/* ---- a service ---- */

/* A function that is hot now, and what is known of it. */
struct ki_evolve_service;
struct ki_evolve_case {
	struct ki_target *t;
	const struct ki_evolve_hot *hot; /* the first is the function; after it those of the hot
					    ones that it calls, at any depth */
	size_t n;
	const struct ki_coverage *profile; /* of all that are hot */
	const struct ki_evolve_service *service;
};

/* Something that is put in and taken out, again and again. */
struct ki_evolve_idea {
	const char *what; /* for the log */
	size_t functions; /* that it is about, from the case's first on */
	int (*install)(void *own, struct ki_err *err);
	int (*undo)(void *own, struct ki_err *err); /* err may be NULL */
	void (*free)(void *own);		    /* when it is out */
	void *own;
};

/*
 * A policy of what could be done: a C function, so that others add theirs. What it proposes is
 * tried as everything is, and stays if it is better. Symbols of the case's target must stay what
 * they are. It returns 0 and *out, or:
 *    -ENODATA without a text  nothing
 *    -ECANCELED               the service is to end
 *    other                    why not, which is told
 */
typedef int ki_evolve_policy(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			     struct ki_err *err);

/*
 * "layout": of the function, by itself. "group": of it and those that it calls, in one patch.
 * "version": for the value that an argument mostly has (special.h), of those that are numbers by
 * the kernel's types; each is watched as long as a profile takes.
 */
int ki_evolve_propose_layout(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			     struct ki_err *err);
int ki_evolve_propose_group(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			    struct ki_err *err);
int ki_evolve_propose_version(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			      struct ki_err *err);

/* The policy of a name, as above; NULL. */
ki_evolve_policy *ki_evolve_policy_find(const char *name);

enum ki_evolve_news {
	KI_EVOLVE_KEPT,	     /* something is better: it stays */
	KI_EVOLVE_DROPPED,   /* it is not: it was taken out */
	KI_EVOLVE_CONFIRMED, /* one that was kept was measured again, and is not worse */
	KI_EVOLVE_UNDONE,  /* it is worse by now, or its function is not called: it was taken out */
	KI_EVOLVE_REFUSED, /* a function cannot be laid out, or measured now: err says why */
	KI_EVOLVE_PAUSES,  /* nothing is inserted now but layouts, for so many seconds */
};

struct ki_evolve_notice {
	enum ki_evolve_news news;
	const struct ki_symbol *sym;		 /* NULL: of no function */
	const char *what;			 /* the idea's; NULL: of none */
	size_t functions;			 /* that the idea is about */
	const struct ki_evolve_verdict *verdict; /* of what was measured; else NULL */
	const struct ki_err *err;		 /* of what could not be done; else NULL */
	double seconds;				 /* of a rest */
	size_t kept;				 /* ideas that are in now */
};

/*
 * In rounds: find the hottest functions, profile those that nothing is in of, try what policies say
 * of each, keep what is better; try again what has been kept for `again` rounds; rest. What was
 * dropped or refused is passed over for so many rounds.
 */
struct ki_evolve_service {
	struct ki_evolve_options choice; /* of layouts; `retarget` of versions, too */
	/* Asked in this order, the first idea that is better stays. npolicies 0: layouts alone. */
	ki_evolve_policy *const *policies;
	size_t npolicies;
	struct ki_evolve_search search; /* its wait ends the service */
	double seconds;			/* a profile takes so long */
	/* Without a judge it is each function's caller, whose inserted code a layout does not
	   change. */
	struct ki_evolve_trial trial;
	/*
	 * How much of the kernel's time a round and its rest may cost together, above 0 to 1:
	 * profiles and trials count as KI_EVOLVE_COST of the time that they are in.
	 */
	double budget;
	unsigned int again;
	/* What has happened; valid until it returns. */
	void (*tell)(void *arg, const struct ki_evolve_notice *n);
	void *arg;
};

#define KI_EVOLVE_COST 0.3

/*
 * Go on until search.wait or trial.wait returns false; then all is taken out. 0; or what the
 * hottest functions could not be found for, or something not be taken out.
 */
int ki_evolve_serve(struct ki_target *t, const struct ki_evolve_service *s, struct ki_err *err);

/* ---- who keeps layouts ---- */

/* Processes that keep layouts have this name (PR_SET_NAME): so they are found among the driver's
   sessions. */
#define KI_EVOLVE_NAME "ki-evolve"

/* Who they are, and what is laid out. */
void ki_evolve_list(struct ki_target *t, FILE *out);

/* End them: *n there were. -EBUSY: one does not end, or is another user's. */
int ki_evolve_undo_all(struct ki_target *t, size_t *n, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
