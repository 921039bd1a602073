/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random instructions with the registers and memory that they need to be executed: operands in
 * memory lead to the data or the stack, branches to pads.
 */
#ifndef COMMON_CASE_H
#define COMMON_CASE_H

#include "common_forms.h"
#include "kerninst/code.h"

/* The places that instructions may refer to; all below 2 GiB. */
struct case_world {
	uint64_t data, stack; /* the middle of each */
	uint64_t gs, fs;      /* bases of the segments */
	uint64_t far[4];      /* pads, somewhere */
	bool only_made;	      /* they are not to be executed: none is left out */
};

struct insn_case {
	uint64_t addr; /* given: where it is to stand */
	uint8_t bytes[16];
	uint8_t len;
	struct form_info info;
	struct ki_insn in;    /* what the library says of it */
	struct exec_cpu cpu;  /* the registers before it */
	uint64_t poke, value; /* this must stand there in memory; 0: nothing */
	uint64_t taken;	      /* a branch: the pad that it may lead to, or what is after it */
	bool conditional;
};

/* From a form, with other operands and numbers; false: it is not to be executed, *why. */
bool case_from_form(struct insn_case *c, const struct form *f, const struct case_world *w,
		    const char **why);

/* A branch, call, return or ud2. False: it became none. */
bool case_branch(struct insn_case *c, const struct case_world *w, const char **why);

#endif
