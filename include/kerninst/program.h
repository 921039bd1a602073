/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program: all code of a target at once (the kernel and its modules, or an ELF image), its
 * call graph, and which registers are live where.
 *
 * Built in parallel, then read only: any number of threads may ask. It is a picture of the
 * moment when it was built; a module that is loaded later is not in it. Functions, blocks and
 * calls have numbers, in order of address. Pointers that are returned live as long as it does;
 * it must not outlive its target.
 */
#ifndef KERNINST_PROGRAM_H
#define KERNINST_PROGRAM_H

#include "kerninst/code.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_program;

struct ki_program_options {
	size_t size;	      /* of this structure */
	unsigned int threads; /* 0: one for each CPU that this process may use */
	bool no_liveness;     /* leave liveness out: ki_live_at then fails with -ENODATA */
};

struct ki_program_totals {
	uint64_t functions;    /* symbols that have an address of their own */
	uint64_t parsed;       /* those whose code is fully known: KI_FUNCTION_PARSED */
	uint64_t refused[128]; /* by enum ki_reason: functions in which nothing can be instrumented
				*/
	uint64_t instructions, blocks, edges; /* edges: calls not included */
	uint64_t calls, indirect_calls, tail_calls, indirect_tail_calls, returns, table_jumps;
	uint64_t noreturn;		 /* functions that do not return */
	uint64_t parts;			 /* cold parts and clones whose parent is known */
	uint64_t text_bytes, code_bytes; /* code: in blocks */
	double read_seconds, parse_seconds, liveness_seconds; /* wall clock */
	uint64_t peak_bytes; /* the most memory that the process has used so far */
};

#define KI_FUNCTION_NORETURN 0x01 /* control never comes back from it */
#define KI_FUNCTION_COLD     0x02 /* a cold part: it belongs to its parent's code */
#define KI_FUNCTION_CLONE    0x04 /* .part, .isra, .constprop, .llvm of its parent */
#define KI_FUNCTION_PARSED                                                                         \
	0x08 /* every byte is in a block or is padding, and where each                             \
		jump goes is known */

struct ki_program_function {
	const struct ki_symbol *symbol;
	uint32_t parent;      /* whose cold part or clone it is; else itself */
	uint32_t first_block; /* its blocks are numbered from here */
	uint32_t nblocks, ninsns;
	uint32_t first_call, ncalls; /* its calls are numbered from here */
	uint32_t code_size;	     /* bytes up to the end of its last block */
	uint16_t reason;	     /* as in struct ki_function */
	uint16_t unparsed; /* why not all of its code is known; KI_R_OK: KI_FUNCTION_PARSED */
	uint16_t flags;	   /* KI_FUNCTION_* */
};

struct ki_program_block {
	uint64_t start, end;
	uint32_t function;
	uint32_t first_edge, nedges; /* calls are not among them */
};

struct ki_program_edge {
	uint64_t from, to; /* address of the instruction, of the destination (0: not known) */
	uint32_t to_block; /* KI_NONE: nothing is known there */
	uint8_t kind;	   /* enum ki_edge_kind */
};

struct ki_program_call {
	uint64_t from;	 /* address of the call or tail jump */
	uint64_t to;	 /* 0: indirect */
	uint32_t caller; /* number of the function */
	uint32_t callee; /* KI_NONE: not known, or not in the program */
	uint8_t kind;	 /* KI_EDGE_CALL, CALL_INDIRECT, TAIL, TAIL_INDIRECT */
};

/* o may be NULL. Free with ki_program_free. */
int ki_program_new(struct ki_target *t, const struct ki_program_options *o, struct ki_program **out,
		   struct ki_err *err);
void ki_program_free(struct ki_program *p); /* NULL is allowed */

const struct ki_program_totals *ki_program_totals(const struct ki_program *p);

/* Functions, in order of address; aliases are left out. */
const struct ki_program_function *ki_program_functions(const struct ki_program *p, uint32_t *n);

/* Number of the function that covers addr; KI_NONE. O(log n). */
uint32_t ki_program_function_at(const struct ki_program *p, uint64_t addr);

/* 0, or -ENOENT: no such block. */
int ki_program_block(const struct ki_program *p, uint32_t number, struct ki_program_block *out);

/* Number of the block that covers addr; KI_NONE: padding, or nothing known. O(log n). */
uint32_t ki_program_block_at(const struct ki_program *p, uint64_t addr);

/* Does an instruction of some block start at addr? O(log n), and along its block. */
bool ki_program_insn_at(const struct ki_program *p, uint64_t addr);

/* Edge number `number`, from a block's first_edge on. 0, or -ENOENT. */
int ki_program_edge(const struct ki_program *p, uint32_t number, struct ki_program_edge *out);

/* Call number `number`, from a function's first_call on. 0, or -ENOENT. */
int ki_program_call(const struct ki_program *p, uint32_t number, struct ki_program_call *out);

/* Numbers of the calls and tail calls that lead to a function. */
const uint32_t *ki_program_callers(const struct ki_program *p, uint32_t function, uint32_t *n);

/*
 * The registers and flags whose value may be used, by whatever comes, before the instruction at
 * addr is executed: what is not in *live may be overwritten there. The stack pointer is
 * always live. Where something is not known it is taken to be live.
 *
 * Interprocedural, in two phases after Goodwin, "Interprocedural Dataflow Analysis in an
 * Executable Optimizer" (PLDI 1997): what each function uses and passes on, then what is live
 * after its returns. The ABI is trusted where callers or callees are not known: for functions
 * with an ftrace site, which a compiler made; other code may have conventions of its own, and
 * only what it overwrites itself counts as dead.
 *
 * Returns 0, or:
 *    -ENODATA                     built without liveness
 *    -EINVAL (KI_R_NOT_BOUNDARY)  no instruction there
 *    -EFAULT (KI_R_NO_SYMBOL)     no function there
 */
int ki_live_at(const struct ki_program *p, uint64_t addr, ki_regset *live, struct ki_err *err);

/* The same for all instructions of a function: live[fn->ninsns]. Padding: KI_REGSET_ALL. */
int ki_program_live(const struct ki_program *p, const struct ki_function *fn, ki_regset *live,
		    struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
