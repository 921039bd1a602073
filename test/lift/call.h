/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calling a lifted function in a given state, and what came of it: how it ended (a fault, too),
 * registers, and all memory that it wrote.
 */
#ifndef LIFT_CALL_H
#define LIFT_CALL_H

#include <stdbool.h>

#include "common_exec.h"
#include "lift.h"

#define CALL_MEMORY 32768 /* bytes that pointers of a state lead to; it begins with the task */
#define CALL_STACK  16384
#define CALL_PAGES  48 /* of the kernel's data that a call may write */

enum call_end { CALL_RETURNED, CALL_SIGNAL, CALL_ENDLESS, CALL_WRITES };

struct call_page {
	uint64_t addr;
	uint64_t words[LIFT_PAGE / 8];
};

struct call_outcome {
	enum call_end end;
	int signal;
	uint64_t rip; /* where it ended, if it did not return */
	struct exec_cpu cpu;
	uint64_t memory[CALL_MEMORY / 8];
	size_t npages;
	struct call_page pages[CALL_PAGES];
};

/* What calls find: registers (rsp is set), and memory. */
struct call_state {
	struct exec_cpu cpu;
	uint64_t memory[CALL_MEMORY / 8];
};

/* current_task: where per-CPU data has it. */
int call_init(const struct lift *l, uint64_t current_task);

/* Breakpoints: what meets one goes to `via`. */
void call_no_traps(void);
void call_trap(uint64_t addr, uint64_t via);

/* Where a state's memory is. */
uint64_t call_memory(void);
uint64_t call_stack_top(void);

/* Ticks of 4 ms after which it is endless, one more or less. */
void call_at(uint64_t entry, const struct call_state *in, unsigned int ticks,
	     struct call_outcome *out);

#endif
