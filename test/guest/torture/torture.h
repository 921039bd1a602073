/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The torture driver's parts: what they share is a crew, a session with a plan.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include "kerninst/splice.h"

struct crew {
	struct ki_target *t;
	struct ki_counter_map *map;
	struct ki_plan *plan;
	uint32_t first, room;	       /* counters taken */
	uint32_t used;		       /* of these by the plan */
	size_t *owner;		       /* of each: the number of its symbol in what was added */
	uint64_t *before;	       /* what each said when it was taken into the plan */
	uint32_t functions;	       /* of the plan */
	size_t at;		       /* the symbol that was looked at last */
	uint64_t left_out;	       /* places that the library itself refuses */
	uint64_t refusals[KI_R_COUNT]; /* chunks that the driver has refused, of all plans */
};

void crew_open(struct crew *c, uint32_t counters);
void crew_close(struct crew *c);
void crew_plan(struct crew *c); /* an empty one */

/*
 * What function number i gets: one counter at its entry; one at all of its blocks; one at each of
 * its windows, in order.
 */
typedef void crew_what(struct crew *c, size_t i, const struct ki_function *fn,
		       const struct ki_spans *spans);
crew_what crew_entry, crew_blocks, crew_windows;

/*
 * Add functions to the plan, in order. Where the counters do not suffice for the next one `full`
 * is asked to begin a new plan; false, or none: end. Whether all have been added.
 */
typedef bool crew_full(void *arg);
bool crew_add(struct crew *c, const struct ki_symbol *const *syms, size_t n, crew_what *what,
	      crew_full *full, void *arg);

void crew_apply(struct crew *c); /* what is refused is counted */
void crew_remove(struct crew *c);
uint64_t crew_hits(const struct crew *c, uint32_t counter); /* since it was taken into the plan */
uint64_t crew_all_hits(const struct crew *c);
/* Chunks refused by the driver; if `who` says so, with a line for each reason. */
uint64_t crew_refused(const struct crew *c, const char *who);

void die(const char *what, const struct ki_err *err);
void sleep_ms(unsigned int ms);
double now(void);

/* Numbers that a seed makes again. */
uint64_t rng(uint64_t *state);
/* The text symbols that are no aliases, shuffled; caller frees. */
const struct ki_symbol **shuffled(struct ki_target *t, uint64_t *seed, size_t *n);

/* The kinds of torture; exit statuses. */
int once(uint64_t seed, double seconds, size_t from);
int hot(unsigned int functions, double seconds, uint64_t seed);
int sessions(uint64_t seed, double seconds);
int hold(char **globs);
int refuse(void);

#endif
