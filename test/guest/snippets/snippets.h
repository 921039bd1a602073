/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snippets: installed at points of the running kernel, each compared with what this process knows
 * that it did. What the parts share.
 */
#ifndef TEST_GUEST_SNIPPETS_H
#define TEST_GUEST_SNIPPETS_H

#include <stdio.h>

#include "common/common.h"

extern struct ki_target *target;
extern struct ki_counter_map *counters;
extern struct ki_global_map *globals;
extern struct ki_program *program;

/* Slots of ours, zero. */
uint32_t take_counters(uint32_t n);
uint32_t take_globals(uint32_t n);
uint32_t take_words(uint32_t n);

struct ki_var var(unsigned int kind, uint32_t first, uint32_t count); /* of u64 */
struct ki_node *add(struct ki_snippet *s, const struct ki_var *v, struct ki_node *value);

/* Put a snippet at all places of a function's ENTRY or EXIT; known: use the registers that are dead
   there. The snippet is freed. */
void put(struct ki_plan *plan, const char *function, enum ki_point_kind kind,
	 struct ki_snippet *snippet, bool known);
void take_out(struct ki_plan *plan); /* and free it */

/* A snippet that does this in threads of this process only. */
void only_here(struct ki_snippet *s, struct ki_node *stmt);

/* timers.c */
void timers(bool known);
void facts(bool known);

/* minmax.c */
void minmax(bool known);

/* random.c */
void random_trees(unsigned int rounds, unsigned int each); /* trees of a round */

#endif
