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
	uint32_t first, room; /* counters taken */
	uint32_t used;	      /* by the plan: one for each chunk, in order of ids */
	uint32_t functions;   /* of the plan */
	uint64_t left_out;    /* places that the library itself refuses */
	uint64_t refused;     /* chunks that the driver has refused, of all plans */
};

void crew_open(struct crew *c, uint32_t counters);
void crew_close(struct crew *c);
void crew_plan(struct crew *c); /* an empty one */

/* Add a counter at a function's entry, at all its windows, at all its blocks; false: no more room.
 */
bool crew_add_entry(struct crew *c, const struct ki_symbol *sym);
bool crew_add_windows(struct crew *c, const struct ki_symbol *sym);
bool crew_add_blocks(struct crew *c, const struct ki_symbol *sym);

void crew_apply(struct crew *c); /* what is refused is counted */
void crew_remove(struct crew *c);
uint64_t crew_hits(const struct crew *c, uint32_t chunk);
uint64_t crew_all_hits(const struct crew *c);

void die(const char *what, const struct ki_err *err);
void sleep_ms(unsigned int ms);
double now(void);

/* Numbers that a seed makes again. */
uint64_t rng(uint64_t *state);
/* The text symbols that are no aliases, shuffled; caller frees. */
const struct ki_symbol **shuffled(struct ki_target *t, uint64_t *seed, size_t *n);

/* The kinds of torture; exit statuses. */
int once(uint64_t seed, double seconds);
int hot(unsigned int functions, double seconds);
int sessions(uint64_t seed, double seconds);
int hold(char **globs);
int refuse(void);

#endif
