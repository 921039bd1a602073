/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables: what threads of this process do is known to the last call, and so is what tables must say
 * of it. What the parts share.
 */
#ifndef TEST_GUEST_TABLES_H
#define TEST_GUEST_TABLES_H

#include "common/common.h"
#include "kerninst/table.h"

struct session {
	struct ki_target *t;
	struct ki_plan *plan;
};

void session_open(struct session *s);
void session_close(struct session *s);
struct ki_table_map *table_open(struct session *s, const struct ki_table_options *o);
/* The statement that the snippet is, to the function's entry, if it is this process that calls; or
   whoever it is. The snippet is freed. */
void put(struct session *s, const char *function, struct ki_snippet *sn, struct ki_node *stmt);
void put_all(struct session *s, const char *function, struct ki_snippet *sn, struct ki_node *stmt);

/* Threads, each with that many calls; pinned: each to a CPU, else they wander. */
void crowd(unsigned int n, uint64_t each, bool pinned);

/* Of shared tables of 8 MB as many as there is memory for; what the last one was answered. */
int take_all(int fd, int *err);
int tables_fit(void); /* how many these are, as the memory has it */

void test_exact(void);	 /* exact.c */
void test_shared(void);	 /* shared.c */
void test_hostile(void); /* hostile.c */
void test_cost(void);	 /* cost.c; needs -icount */

#endif
