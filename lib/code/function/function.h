/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The analysis of one function, as it goes from step to step: instructions (function.c), jump
 * tables (tables.c), blocks (blocks.c), edges (edges.c), liveness of the flags (flags.c).
 *
 * One struct ki_analysis serves any number of functions, one after the other; its arrays are
 * used again. The whole-program build has one for each thread.
 */
#ifndef KI_CODE_FUNCTION_H
#define KI_CODE_FUNCTION_H

#include "code/decode/decode.h"
#include "code/decode/facts.h"
#include "code/function/alltext.h"
#include "util/vec.h"

struct ki_memo;

/* What is known of an instruction beside struct ki_insn. */
struct ki_extra {
	ki_regset use, def;
	uint8_t traits; /* KI_TRAIT_* */
	bool leader;	/* something jumps here */
	bool entered;	/* code of another symbol does */
	bool table;	/* an indirect jump by a table that is known */
};

/*
 * May control go on at a fixup? Not from a direct branch that has a row: that is meant for what
 * stands there on other processors ("rep movsb", or a call of what copies).
 */
static inline bool ki_insn_has_fixup(const struct ki_insn *in)
{
	return in->flags & KI_INSN_EXTABLE && in->kind != KI_INSN_CALL && in->kind != KI_INSN_JMP &&
	       in->kind != KI_INSN_JCC && in->kind != KI_INSN_LOOP;
}

/* One way of an indirect jump: the instruction's number, and where it leads. */
struct ki_table_way {
	uint32_t insn;
	uint64_t to;
};

/* An instruction of the symbol that starts at `symbol` is known to start at `pos` in it. */
struct ki_near {
	uint64_t symbol;
	size_t pos;
};

struct ki_analysis {
	struct ki_target *target;
	const struct ki_facts *facts;
	const struct ki_text *text; /* all text; NULL: what is needed is read from the target */
	struct ki_memo *memo;	    /* NULL: decode the slow way */

	/* The function, and its arrays: fn's pointers are these vectors' elements. */
	struct ki_function *fn, own;
	ki_vec(struct ki_insn) insns;
	ki_vec(struct ki_extra) more;
	ki_vec(struct ki_block) blocks;
	ki_vec(struct ki_edge) edges;
	ki_vec(struct ki_table_way) ways;
	size_t nread;			    /* entries of tables that have been looked at */
	ki_vec(int32_t) depths;		    /* depth.c */
	ki_vec(uint8_t) bytes;		    /* read text, if `text` is NULL */
	struct ki_extra *extra;		    /* one for each of fn->insns */
	const struct ki_reserved_row *rows; /* those that begin in the function */
	size_t nrows;
	struct ki_near near;	 /* the neighbour that was looked at last (near.c) */
	uint8_t traits;		 /* of any instruction */
	bool jumps;		 /* some jump is indirect */
	uint16_t unparsed;	 /* why not all of its code is known; KI_R_OK */
	const uint64_t *entries; /* more places that something jumps to, in order; NULL */
	size_t nentries;
	bool at_entry; /* edges only if one may lead to the first block, or by ki_analysis_whole */
};

/* An analysis of functions of t, to be freed with ki_analysis_free whatever it returned. */
int ki_analysis_init(struct ki_analysis *a, struct ki_target *t, struct ki_err *err);
void ki_analysis_free(struct ki_analysis *a);

/*
 * Analyse the function of sym: a->fn, until the next run; without the liveness of flags.
 * Errors as of ki_function_analyze.
 */
int ki_analysis_run(struct ki_analysis *a, const struct ki_symbol *sym, struct ki_err *err);

/* Make the edges that have not been made. 0, or -ENOMEM. */
int ki_analysis_whole(struct ki_analysis *a);

/* Refuse for one reason more: the one that stands first in the table is kept. */
void ki_refuse(uint16_t *reason, unsigned int why);

/* Number of the instruction that covers addr, which lies in the function. */
uint32_t ki_function_covering(const struct ki_function *fn, uint64_t addr);

static inline bool ki_function_holds(const struct ki_function *fn, uint64_t addr)
{
	return addr >= fn->start && addr < fn->end;
}

/* rows.c: find the rows that begin in the symbol; refuse and mark instructions as they say. */
int ki_rows_find(struct ki_analysis *a, const struct ki_symbol *sym, struct ki_err *err);
void ki_rows_apply(struct ki_analysis *a);

/* The rows that begin in an instruction. */
const struct ki_reserved_row *ki_analysis_rows(const struct ki_analysis *a,
					       const struct ki_insn *in, size_t *n);

/* Refuse the function, of which not all code is known. */
static inline void ki_analysis_unparsed(struct ki_analysis *a, unsigned int why)
{
	ki_refuse(&a->unparsed, why);
	ki_refuse(&a->fn->reason, why);
}

/* A compiler made it: it calls __fentry__, or ftrace has made something else of that. */
bool ki_function_compiled(const struct ki_function *fn);

/* It may: no compiler made it, in a kernel; to what it calls, jumps or returns to (flags.c). */
bool ki_function_gives_flags(const struct ki_function *fn);

/* The symbol's code is, or may be, the cold part of another function. */
bool ki_symbol_is_cold(const struct ki_symbol *sym);

/* Something jumps to addr, which lies in the function. */
void ki_analysis_leader(struct ki_analysis *a, uint64_t addr);
/* The same, from the code of another symbol. */
void ki_analysis_entry(struct ki_analysis *a, uint64_t addr);

/*
 * tables.c: find where indirect jumps by tables lead, mark leaders and ki_extra.table, and fill
 * a->ways. *unknown: some jump is by a table of which that is not known. 0, or -ENOMEM.
 */
int ki_tables_find(struct ki_analysis *a, bool *unknown);

/* Find the leaders that the function's own instructions and rows tell. */
void ki_blocks_leaders(struct ki_analysis *a);

/* Make the blocks; sets padding, and what of the function's reason the blocks tell. */
int ki_blocks_build(struct ki_analysis *a);

/* edges.c: make the edges of the blocks. */
int ki_edges_build(struct ki_analysis *a);

/* Set KI_INSN_FLAGS_LIVE: everywhere; at the function's entry, elsewhere perhaps more often. */
int ki_flags_live(struct ki_analysis *a);
int ki_flags_at_entry(struct ki_analysis *a);

#endif
