/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What test programs of the guest share. A program is linked with all of it; what fails and should
 * not, ends it with status 2.
 */
#ifndef TEST_GUEST_COMMON_H
#define TEST_GUEST_COMMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kerninst/program.h"
#include "kerninst/splice.h"

typedef unsigned long long ull;

#define MAX  16 /* threads, CPUs */
#define PAGE 4096ul
#define MARK 0x5eedfacecafe1234ull

/* ---- report.c: lines "ok NAME: ..." and "not ok NAME: ..." ---- */

__attribute__((noreturn)) void die(const char *what, const char *why);
void report(const char *name, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int report_status(void); /* of the program: 1 if one was not ok */

/* ---- points.c: snippets at points ---- */

struct ki_snippet *snippet_new(void);
struct ki_plan *plan_new(void);
void plan_apply(struct ki_plan *plan, struct ki_target *t);

/* A point of a function and its places. program NULL: nothing is known of registers. */
struct spot {
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_place *places;
	struct ki_site_regs *sites; /* of each place */
	size_t n;
};
void spot_find(struct spot *spot, struct ki_target *t, const char *function,
	       enum ki_point_kind kind, struct ki_program *program);
void spot_put(const struct spot *spot, struct ki_plan *plan, const struct ki_snippet *sn);
void spot_free(struct spot *spot);

/* The snippet, which is freed, to a function's entry. */
void entry_put(struct ki_target *t, struct ki_plan *plan, const char *function,
	       struct ki_snippet *sn, struct ki_program *program);

/* Argument n of a system call, 0 to 2, at the entry of its function. */
struct ki_node *sys_arg(struct ki_snippet *s, unsigned int n);
struct ki_node *is_mine(struct ki_snippet *s); /* is it this process? */
struct ki_node *only_mine(struct ki_snippet *s, struct ki_node *stmt);

/* ---- calls.c: who goes through these functions, and how often ---- */

#define CALLED	     "__x64_sys_sched_get_priority_max"
#define CALLED_OTHER "__x64_sys_sched_get_priority_min"

/* Make n calls as number `who`, with numbers from `first` on, and MARK after these. */
void calls(unsigned int who, uint64_t first, uint64_t n);
void other_calls(unsigned int who, uint64_t first, uint64_t n);
unsigned int cpu_count(void);
void on_cpu(int cpu); /* this thread only there, modulo the number of CPUs; -1: anywhere */
bool move_to_cpu(pid_t tid, int cpu); /* the same for any thread; false: it cannot be */

/* Threads, each with that many calls; pinned: each to a CPU, else they wander. */
struct crowd {
	pthread_t thread[MAX];
	unsigned int n;
	uint64_t each;
	bool pinned;
	volatile unsigned int over; /* threads that have done all */
};
void crowd_begin(struct crowd *c, unsigned int n, uint64_t each, bool pinned);
void crowd_end(struct crowd *c);

/* On each CPU timers go off, each 50 us or so. */
void timers_begin(void);
void timers_end(void);

/* ---- ticks.c: what something costs; with -icount a tick is an instruction ---- */

/* Ticks of all that is done, divided by `n`: of some runs the median. */
double ticks_median(void (*run)(void *arg), void *arg, unsigned int n);
double ticks_read(int fd); /* of a read of one byte */
#define TICKS_READS 9000   /* of them it makes */
/* Of a switch between two processes, which hand a byte to and fro from begin to end. */
void switches_begin(void);
double ticks_switch(void);
void switches_end(void);

/* ---- device.c ---- */

int device_open(void);

/* group.c: the number after the key, "" is none, in a file of a control group, or dies. */
long group_value(const char *group, const char *file, const char *key);
/* 0, or the errno. What was mapped is gone again. */
int map_errno(int fd, size_t len, int prot, int flags, uint64_t at);

/* ---- child.c: who is killed in the middle ---- */

/* Run it in another process; returns when that has called child_ready, which does not return. */
pid_t child_begin(void (*be)(void));
__attribute__((noreturn)) void child_ready(void);
bool child_kill(pid_t pid); /* was it this that has ended it? */

#endif
