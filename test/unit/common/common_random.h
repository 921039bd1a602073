/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A function made at random, in the memory of common_exec.h: blocks of a few instructions, with
 * branches, loops, calls, tail jumps, static branches, static calls and exception rows between
 * them. No two edges of a block lead to the same place, and it comes to an end: what goes back
 * counts %r15d down.
 *
 * Run it with: %rcx not 0 and small; %rdx: TAIL; %rsi: CALLEE; %rdi: data; %r15 small; RETURNED on
 * the stack.
 */
#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

#include "common_exec.h"
#include "uapi/kerninst.h"

#define CODE	 (exec_mem->code + 4096)
#define CODE_MAX 1600
#define CALLEE	 (CODE + 1664)
#define TAIL	 (CODE + 1728)
#define RETURNED (CODE + 1792)
#define TEXT_LEN 1856

struct random_code {
	struct ki_reserved_row rows[100];
	size_t nrows;
};

extern struct random_code random_code; /* the last one that was made */

void random_code_make(void);

/* Are there static calls in it? */
extern bool random_static_calls;

/* The trampoline of one, which does what is written there now. */
const uint8_t *random_trampoline(const uint8_t *site);

unsigned int random_below(unsigned int n);
/* The numbers below n, in some order. */
void random_order(uint32_t *v, uint32_t n);

/* Only what is around it: the callee, and the pads that it ends at. */
void random_code_lay(void);

#endif
