/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executing functions made at random (common_random.h): at full speed, and one instruction at a
 * time, which tells how often every instruction, side and edge is passed.
 */
#ifndef COMMON_RUN_H
#define COMMON_RUN_H

#include <stdbool.h>

#include "common_exec.h"
#include "common_random.h"
#include "kerninst/splice.h"

#define RUN_STACK (exec_mem->stack + 3072)
#define RUN_DATA  (exec_mem->data + 1024)

/* Counter n, at displacement 8 * n of %gs. */
extern uint64_t run_counters[4096];

struct run_outcome {
	uint32_t pad;
	struct exec_cpu cpu;
	uint8_t data[64];
};

void run_init(void);

/* A state that the function may be called in. */
void run_state(struct exec_cpu *in);

/* Call it; what stands for it elsewhere; the same one instruction at a time. */
void run_it(struct run_outcome *out, const struct exec_cpu *in);
void run_from(const uint8_t *entry, struct run_outcome *out, const struct exec_cpu *in);
void run_stepped(struct run_outcome *out, const struct exec_cpu *in);
bool run_same(const struct run_outcome *a, const struct run_outcome *b);

/* Breakpoints: who meets one goes to `via`. */
void run_no_traps(void);
void run_trap(uint64_t addr, uint64_t via);

/* The function that random_code_make has made: a target with it, what it is, its windows. */
void run_analyse(struct ki_target **t, struct ki_function **fn, struct ki_spans *spans);

/* How often CALLEE's first instruction was executed in steps, since it was set to 0. */
extern size_t run_called;

/* How often the last run_stepped passed the point; how often it was at an instruction of the text.
 */
uint64_t run_truth(const struct ki_function *fn, const struct ki_point *pt);
size_t run_steps_at(uint64_t addr);

#endif
