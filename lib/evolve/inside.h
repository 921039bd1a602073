/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_EVOLVE_INSIDE_H
#define KI_EVOLVE_INSIDE_H

#include "kerninst/evolve.h"
#include "evolve/order.h"
#include "util/vec.h"

/* A function that is laid out. */
struct ki_evolved {
	struct ki_function *fn;
	struct ki_spans spans;
	uint32_t *order;
	struct ki_layout l; /* of these, and where its chunk is */
	struct ki_lay_function size;
	unsigned int reason; /* why it cannot be in the plan */
};

/* Direct calls and jumps of a function that is laid out to the start of another one. */
struct ki_evolve_link {
	uint32_t from; /* its number */
	uint64_t to;   /* address */
	uint64_t count;
};

/* A function that calls some of them; one of its calls. */
struct ki_evolve_caller {
	struct ki_function *fn;
	struct ki_spans spans;
};

struct ki_evolve_call {
	size_t caller;
	struct ki_layout l;
};

struct ki_evolve {
	struct ki_target *t;
	struct ki_evolve_options o;
	struct ki_plan *apart; /* each function in a patch of its own */
	struct ki_plan *plan;  /* what is put in: that, or all together; NULL: not chosen yet */
	ki_vec(struct ki_evolved) v;
	ki_vec(struct ki_evolve_link) links;
	ki_vec(struct ki_evolve_caller) callers;
	ki_vec(struct ki_evolve_call) calls; /* that lead into the layouts; in order of address */
};

/* Is it one of the functions that stand in one patch? Those of modules do not. */
bool ki_evolve_joins(const struct ki_evolved *f);

/* Gives each function its turn, by who calls whom. */
int ki_evolve_take_turn(struct ki_evolve *e, struct ki_err *err);

/* Which functions stand aside. They have had their turns. */
void ki_evolve_part(struct ki_evolve *e);

/* Fills callers and calls, when it is known which functions are laid out. */
int ki_evolve_find_callers(struct ki_evolve *e, struct ki_err *err);
void ki_evolve_forget_callers(struct ki_evolve *e);

/* What is put in and taken out in turn, to see what comes of it. */
struct ki_evolve_turn {
	struct ki_target *t;
	int (*install)(void *arg, struct ki_err *err);
	int (*undo)(void *arg, struct ki_err *err);
	void *arg;
};

/* As ki_evolve_try. Symbols may be others after each step; the judge stays where it is. */
int ki_evolve_take_turns(const struct ki_evolve_turn *x, const struct ki_evolve_trial *t,
			 double *before, double *after, struct ki_err *err);

/* As ki_evolve_find_judge, of those n functions. */
int ki_evolve_find_caller(struct ki_target *t, const struct ki_symbol *const *callees, size_t n,
			  const struct ki_evolve_search *how, const struct ki_symbol **out,
			  struct ki_err *err);

/* Whether what a call of it takes can be measured, found by doing so for a moment. */
bool ki_evolve_can_judge(struct ki_target *t, const struct ki_symbol *sym);

#endif
