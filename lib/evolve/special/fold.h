/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is left of a function when some of what it is entered with is known.
 */
#ifndef KI_EVOLVE_FOLD_H
#define KI_EVOLVE_FOLD_H

#include "evolve/special/constant.h"
#include "kerninst/code.h"

enum ki_fold_action {
	KI_FOLD_KEEP,
	KI_FOLD_DROP,  /* nobody needs what it does */
	KI_FOLD_VALUE, /* it writes a number into a register */
	KI_FOLD_JUMP,  /* a conditional branch that is always taken */
};

/* What an instruction is to the kernel, beside what it does. */
enum ki_site {
	KI_SITE_NONE,
	KI_SITE_LEFT,	/* it cannot be copied */
	KI_SITE_LOCK,	/* a lock prefix, that the kernel takes away while it has one CPU */
	KI_SITE_BRANCH, /* a static branch */
	KI_SITE_ALWAYS, /* one whose key nobody can change any more: it jumps */
	KI_SITE_NEVER,	/* ... and it does not */
	KI_SITE_CALL,	/* a static call */
	KI_SITE_FAULT,	/* it has a row in the exception table */
	KI_SITE_BUG,	/* a BUG or WARN */
};

struct ki_fold_insn {
	struct ki_operation op;
	ki_regset use, def;
	uint64_t value; /* KI_FOLD_VALUE: of register op.v[0].reg */
	uint8_t action; /* enum ki_fold_action */
	uint8_t site;	/* enum ki_site */
	bool known;	/* its result is `value` */
	bool reads;	/* memory whose value is not known */
};

struct ki_fold_block {
	struct ki_constants in;
	ki_regset live; /* before its first instruction */
	bool reached;
	bool left; /* it is not copied: control goes to the original */
};

struct ki_folded {
	const struct ki_function *fn; /* not owned */
	struct ki_fold_insn *insns;   /* as fn's */
	struct ki_fold_block *blocks;
	uint32_t kept, dropped, branches; /* instructions that are left and that are not, of the
					     blocks that are reached; branches that are decided */
};

/* Does a call of that address keep to the ABI, and expect nothing in flags? */
struct ki_fold_callees {
	bool (*compiled)(void *arg, uint64_t addr);
	void *arg;
};

/* What is such an instruction: enum ki_site. Of a static branch, which may be flipped: BRANCH. */
struct ki_fold_sites {
	uint8_t (*about)(void *arg, const struct ki_function *fn, const struct ki_insn *in);
	void *arg;
};

struct ki_fold_how {
	const struct ki_constant_memory *memory;
	const struct ki_fold_callees *callees;
	const struct ki_fold_sites *sites; /* NULL: none is copied */
	/*
	 * What is known is wanted of the function itself, not of a copy: also of what blocks that
	 * are not copied, jump tables, fixups and other symbols lead to.
	 */
	bool whole;
};

/*
 * 0; -ENOTSUP: the entry cannot be copied; -ENOMEM. fn must live as long. The function's callers
 * keep to the ABI (ki_function_compiled).
 */
int ki_fold(const struct ki_function *fn, const struct ki_constants *entry,
	    const struct ki_fold_how *how, struct ki_folded *out);
void ki_fold_free(struct ki_folded *f);

/* What is known before an instruction of a block that is reached. */
void ki_fold_before(const struct ki_folded *f, uint32_t block, uint32_t insn,
		    const struct ki_constant_memory *m, struct ki_constants *out);

/* The ftrace site, and the mark of an indirect branch's target, of a function's entry. */
bool ki_fold_is_entry_mark(const struct ki_insn *in);

/* Does it end its block by a branch that is known to go one way, or both: conditional or static? */
static inline bool ki_fold_branches(const struct ki_fold_insn *x)
{
	return x->op.kind == KI_OP_JUMP || (x->site >= KI_SITE_BRANCH && x->site <= KI_SITE_NEVER);
}

/* dead.c: which instructions are not needed, backward from what is; fills action. */
void ki_fold_dead(struct ki_folded *f, const struct ki_fold_callees *callees);

#endif
