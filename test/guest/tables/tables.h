/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables: what threads of this process do is known to the last call, and so is what tables must say
 * of it. What the parts share.
 */
#ifndef TEST_GUEST_TABLES_H
#define TEST_GUEST_TABLES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kerninst/splice.h"
#include "kerninst/table.h"

#define MAX 16 /* threads, CPUs */

/* The functions that calls go through. */
#define FUNCTION "__x64_sys_sched_get_priority_max"
#define OTHER	 "__x64_sys_sched_get_priority_min"

struct session {
	struct ki_target *t;
	struct ki_plan *plan;
};

void die(const char *what, const char *why);
void report(const char *name, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void session_open(struct session *s);
void session_close(struct session *s);
struct ki_table_map *table_open(struct session *s, const struct ki_table_options *o);
struct ki_snippet *snippet_new(void);
/* The statement that the snippet is, to the function's entry; the snippet is freed. */
void put(struct session *s, const char *function, struct ki_snippet *sn, struct ki_node *stmt);
void apply(struct session *s);

/* Argument n of the system call. */
struct ki_node *sys_arg(struct ki_snippet *s, unsigned int n);

/* Make n calls as number `who`, with numbers from `first` on. */
void calls(unsigned int who, uint64_t first, uint64_t n);
void other_calls(unsigned int who, uint64_t first, uint64_t n);
unsigned int cpu_count(void);
void on_cpu(unsigned int cpu); /* this thread only there */

/* Threads, each with that many calls; pinned: each to a CPU, else they wander. */
void crowd(unsigned int n, uint64_t each, bool pinned);

void test_exact(void);	 /* exact.c */
void test_shared(void);	 /* shared.c */
void test_hostile(void); /* hostile.c */
void test_cost(void);	 /* cost.c; needs -icount */

#endif
