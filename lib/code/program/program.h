/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside a program: the arrays, and the steps that fill them.
 *
 *	parse.c		functions are analysed in portions, on all threads; what is kept of each
 *			goes into its portion's arrays
 *	link.c		the portions' arrays become the program's; addresses become numbers
 *	callgraph.c	callers, parents of cold parts and clones
 *	noreturn.c	functions that do not return
 *	live.c		what is live at the start of each block
 *	live_at.c	and at each instruction, when asked
 *
 * An instruction is kept as one byte, its length. All else about it is decoded again when it is
 * asked for: 20 ns.
 */
#ifndef KI_CODE_PROGRAM_H
#define KI_CODE_PROGRAM_H

#include "code/function/function.h"
#include "kerninst/program.h"
#include "util/vec.h"

/* Where in its function an edge or a call leaves, and its kind. */
#define KI_WHERE(off, kind)  ((uint32_t)(off) << 4 | (uint32_t)(kind))
#define KI_WHERE_OFF(where)  ((where) >> 4)
#define KI_WHERE_KIND(where) ((where)&15)
#define KI_FUNCTION_MAX	     (1u << 28) /* offsets that fit */

struct ki_pblock {
	uint32_t off;	     /* from the start of its function */
	uint32_t first_insn; /* in the array of lengths; the next block's: where they end */
	uint32_t first_edge;
	uint32_t function;
};

struct ki_pedge {
	uint32_t where;
	uint32_t to_block;
};

struct ki_pcall {
	uint32_t where;
	uint32_t callee;
};

/* What comes after a run of plain instructions, seen from their end. */
enum ki_event {
	KI_EVENT_NONE,
	KI_EVENT_CALL,	      /* arg: number of the call */
	KI_EVENT_CALL_ANY,    /* to some function that keeps to the ABI */
	KI_EVENT_CALL_STATIC, /* to one that need not: it may keep all registers */
	KI_EVENT_TAIL,	      /* arg: number of the tail call */
	KI_EVENT_TAIL_ANY,    /* to some function that keeps to the ABI */
	KI_EVENT_RETURN,
	KI_EVENT_FIXUP, /* arg: number of the block of the fixup, or KI_NONE */
	KI_EVENT_ALL,	/* nobody knows */
};

/*
 * A run of instructions for the liveness of what is before it:
 * live = use | (event(live) & ~def). Those of a block stand in backward order.
 */
struct ki_run {
	ki_regset use, def;
	uint32_t arg;
	uint32_t event;
};

typedef ki_vec(struct ki_run) ki_run_vec;

/* While parsing, an edge or call still has an address. */
struct ki_raw_way {
	uint32_t where;
	uint32_t to_block; /* in the same function, counted from its first; KI_NONE */
	uint64_t to;
};

struct ki_portion {
	uint32_t first, end; /* functions */
	ki_vec(uint8_t) lens;
	ki_vec(struct ki_pblock) blocks;
	ki_vec(struct ki_raw_way) edges, calls;
	ki_run_vec runs;
	ki_vec(uint32_t) first_run; /* one for each block */
	struct ki_program_totals totals;
	/* Of the numbers in the program's arrays. */
	uint32_t base_insn, base_block, base_edge, base_call;
};

struct ki_links {
	uint32_t *first; /* n + 1: of(i) = v[first[i] .. first[i + 1]) */
	uint32_t *v;
};

struct ki_program {
	struct ki_target *target;
	const struct ki_facts *facts;
	struct ki_text text;
	unsigned int threads;
	struct ki_program_totals totals;

	uint64_t *starts; /* of the functions, for searching */
	struct ki_program_function *functions;
	uint32_t nfunctions;
	uint8_t *lens;
	struct ki_pblock *blocks; /* nblocks + 1 */
	struct ki_pedge *edges;
	struct ki_pcall *calls;
	uint32_t ninsns, nblocks, nedges, ncalls;
	uint32_t *caller_of;	 /* function that makes a call */
	struct ki_links callers; /* numbers of calls, by function */

	/* Liveness; NULL without. use, pass, out: by function (live.c). */
	ki_regset *live; /* at the start of each block */
	ki_regset *use, *pass, *out;

	/* While it is built. */
	struct ki_portion *portions;
	uint32_t nportions;
	uint32_t *portion_of;	  /* number of the portion of a function */
	uint32_t *first_run;	  /* of a block, in its portion */
	uint8_t *compiled;	  /* functions that a compiler made, by their ftrace site */
	ki_vec(uint64_t) entries; /* places that only tables of other functions lead to */
};

/* parse.c: fill p->functions and p->portions. */
int ki_program_parse(struct ki_program *p, bool runs, struct ki_err *err);

/*
 * link.c: the arrays; of the portions, only the runs are left. *again: some jump leads into a
 * function where no block was known to start; the place is in p->entries now, and parsing has to be
 * done again.
 */
int ki_program_link(struct ki_program *p, bool runs, bool *again, struct ki_err *err);
void ki_program_portions_free(struct ki_program *p);

/* callgraph.c */
int ki_program_connect(struct ki_program *p, struct ki_err *err);

/* noreturn.c: KI_FUNCTION_NORETURN, and drop the edges after calls of such. 0, or -ENOMEM. */
int ki_program_noreturn(struct ki_program *p);

/* live.c: needs the portions' runs. */
int ki_program_liveness(struct ki_program *p, struct ki_err *err);

/*
 * runs.c: append the runs of block b, the last one first. Arguments are numbers in the function:
 * of KI_EVENT_CALL and TAIL, among its calls; of KI_EVENT_FIXUP, among its edges as they are
 * in fn->edges. calls: how many calls of the function come before the block. ends NULL, or
 * ends[i]: how many runs there are in `out` when those of the block's instruction i are, one or
 * more for each.
 */
int ki_runs_add(const struct ki_analysis *a, const struct ki_block *b, uint32_t calls,
		ki_run_vec *out, size_t *ends);

static inline bool ki_edge_is_call(unsigned int kind)
{
	return kind == KI_EDGE_CALL || kind == KI_EDGE_CALL_INDIRECT || kind == KI_EDGE_TAIL ||
	       kind == KI_EDGE_TAIL_INDIRECT;
}

/* live.c: what is live after the last instruction of a block, and before a run. */
ki_regset ki_live_behind(const struct ki_program *p, uint32_t block);
ki_regset ki_live_before(const struct ki_program *p, uint32_t function, const struct ki_run *run,
			 ki_regset live);

/*
 * live_order.c: what does not depend on what is solved. order: all functions, callees before
 * their callers where that can be. jumpers: the functions with edges or tail calls into a
 * function, by that function. 0, or -ENOMEM.
 */
int ki_live_order(const struct ki_program *p, uint32_t *order);
int ki_live_jumpers(const struct ki_program *p, struct ki_links *jumpers);

/* step(arg, block) for the blocks of function f until none says that its start has changed. Has
   any? */
bool ki_live_solve(const struct ki_program *p, uint32_t f, bool (*step)(void *arg, uint32_t block),
		   void *arg);

/* Number of the block that starts at addr, or KI_NONE. */
uint32_t ki_program_block_from(const struct ki_program *p, uint64_t addr);

static inline uint64_t ki_program_block_start(const struct ki_program *p, uint32_t block)
{
	return p->starts[p->blocks[block].function] + p->blocks[block].off;
}

#endif
