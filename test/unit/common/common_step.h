/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run code as exec_at does, one instruction after the other, with a look at the registers before
 * each. Not through code that changes the trap flag itself: helpers of common_snippet.c do.
 */
#ifndef COMMON_STEP_H
#define COMMON_STEP_H

#include <stdint.h>
#include <ucontext.h>

struct step {
	const uint8_t *start, *end; /* instructions that count */
	uint32_t n;		    /* how many there were */
	/* NULL, or called before each of them. */
	void (*before)(struct step *s, gregset_t regs);
	void *arg;
};

/* As exec_at; s->n is set. */
uint32_t step_at(const uint8_t *entry, struct step *s);

#endif
