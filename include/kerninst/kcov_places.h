/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places that record themselves for KCOV (kerninst/kcov.h): the blocks of functions, and their
 * comparisons. One that cannot be had for a reason is counted; what else goes wrong ends all. The
 * caller begins with a plan (ki_plan_new) and what is wanted, and all else 0.
 */
#ifndef KERNINST_KCOV_PLACES_H
#define KERNINST_KCOV_PLACES_H

#include <stdio.h>

#include "kerninst/listener.h"
#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_kcov_kind { KI_KCOV_BLOCK, KI_KCOV_COMPARISON, KI_KCOV_KINDS };

struct ki_kcov_place {
	uint64_t addr;
	uint32_t id; /* of its chunk in the plan */
	enum ki_kcov_kind kind;
};

struct ki_kcov_places {
	struct ki_plan *plan;
	bool move, comparisons;	 /* wanted: functions as a whole; comparisons too */
	struct ki_kcov_place *v; /* each function's together */
	size_t n, cap;
	uint64_t refused[KI_R_COUNT];	  /* by reason */
	uint64_t asked[KI_KCOV_KINDS];	  /* of all functions */
	uint64_t recorded[KI_KCOV_KINDS]; /* since ki_kcov_sort_out */
	uint64_t touched;		  /* the same: functions with one that records itself */
};

/* Put a function's places into the plan. 0; -ENOMEM, or what a plan's functions return. */
int ki_kcov_add_function(struct ki_kcov_places *p, const struct ki_function *fn,
			 struct ki_err *err);

/* After the plan has been checked or applied: what the driver refused goes, and is counted. */
void ki_kcov_sort_out(struct ki_kcov_places *p, const struct ki_target *t);

void ki_kcov_places_free(struct ki_kcov_places *p); /* the plan too */

/* Does what a function does come by chance, and not of what a system call was asked for? Those the
   kernel's Makefiles leave out of KCOV. By its name. */
bool ki_kcov_is_by_chance(const struct ki_symbol *sym);

/* All places of functions into the plan, which is made if it is not there yet. 0; -ECANCELED: the
   listener has ended it; -ENOENT: there is no place that can record itself. */
int ki_kcov_add_functions(struct ki_kcov_places *p, struct ki_target *t,
			  const struct ki_symbol *const *syms, size_t n,
			  const struct ki_listener *l, struct ki_err *err);

/* Install the plan, or, dry, only ask the driver; and ki_kcov_sort_out. Take it out again. */
int ki_kcov_put_in(struct ki_kcov_places *p, struct ki_target *t, bool dry,
		   const struct ki_listener *l, struct ki_err *err);
int ki_kcov_take_out(struct ki_kcov_places *p, struct ki_target *t, struct ki_err *err);

/* How many record themselves, and why others do not: lines for the listener. */
void ki_kcov_tell(const struct ki_kcov_places *p, bool dry, const struct ki_listener *l);

/* A line for each place: its address as KCOV has it, the address, function+offset, and "comparison"
   if it is one. */
void ki_kcov_list(const struct ki_kcov_places *p, const struct ki_target *t, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
