/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a program costs while it runs, and how that is kept below a budget.
 *
 * Each place counts who comes by and how many clauses come to their end, and the code that was made
 * for it says how many instructions that takes (metric/price.h). A probe is a part of the cost,
 * which a budget takes out as a whole.
 */
#ifndef KI_DLANG_COST_H
#define KI_DLANG_COST_H

#include "dlang/run/run.h"

struct ki_d_cost;

/* -ENOMEM */
int ki_d_cost_new(struct ki_d_cost **out);
void ki_d_cost_free(struct ki_d_cost *c); /* NULL is allowed */

/* Counters for a place. KI_R_COUNTERS_FULL: there are none. */
int ki_d_cost_meter(struct ki_dlang *d, struct ki_d_meter *m, struct ki_err *err);
/* A chunk of a plan is that place's; in a process: how its hits are come by. -ENOMEM. */
enum ki_d_cost_way { KI_D_COST_INLINE, KI_D_COST_BREAKPOINT, KI_D_COST_UPROBE };
struct ki_d_cost_at {
	struct ki_plan *plan;
	uint32_t chunk;
	uint32_t probe;
	enum ki_d_cost_way way;
};
int ki_d_cost_chunk(struct ki_dlang *d, const struct ki_d_meter *m, const struct ki_d_cost_at *at);

/* All is in; from here on it counts, until the end. */
int ki_d_cost_begin(struct ki_dlang *d, struct ki_err *err);
void ki_d_cost_end(struct ki_d_cost *c);

/* While it counts: a plan more is in; one goes, and what it has cost is kept. */
int ki_d_cost_came(struct ki_dlang *d, struct ki_err *err);
void ki_d_cost_gone(struct ki_dlang *d, const struct ki_plan *plan);
/* Has the probe been taken out? Then it does not come again. */
bool ki_d_cost_is_out(const struct ki_dlang *d, uint32_t probe);

/* Of at most so many, the milliseconds until the next look. */
int ki_d_cost_until(const struct ki_d_cost *c, int most);
/* Take out what costs too much, and warn of it. */
int ki_d_cost_look(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err);

#endif
