// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dead code: an instruction that only writes registers and flags which nobody reads before they are
 * written again goes. What it read is needed no more, so this goes backward until nothing changes,
 * from sets that are empty at first.
 *
 * All is needed where control goes to the original, and before a call all registers are: what a
 * callee reads is its own matter. Flags are dead before a function that a compiler made. After a
 * return the result and what the ABI keeps are needed. All is needed, too, where the kernel may
 * look at registers: at what may fault, and at a BUG.
 */
#include "evolve/special/fold.h"

#define R(r)	 KI_REGSET_REG(KI_##r)
#define RETURNED (R(RAX) | R(RDX) | R(RSP) | R(RBX) | R(RBP) | R(R12) | R(R13) | R(R14) | R(R15))

static ki_regset all_of(uint16_t registers)
{
	ki_regset set = 0;

	for (int r = 0; r < 16; r++)
		if (registers & 1u << r)
			set |= KI_REGSET_REG(r);
	return set;
}

static ki_regset flags_of(uint8_t flags)
{
	return (ki_regset)flags << 48;
}

struct walk {
	struct ki_folded *f;
	const struct ki_fold_callees *callees;
};

static ki_regset before_call(const struct walk *w, const struct ki_insn *in, ki_regset live)
{
	if (in->kind == KI_INSN_CALL && w->callees->compiled(w->callees->arg, in->target))
		return KI_REGSET_GPRS;
	return live | KI_REGSET_ALL;
}

/* %rbp is the frame's: unwinders may look at it. */
static bool makes_frame(const struct ki_operation *op)
{
	return op->writes & 1u << KI_RBP &&
	       ((op->v[1].kind == KI_OPERAND_REGISTER && op->v[1].reg == KI_RSP) ||
		(op->v[1].kind == KI_OPERAND_MEMORY && op->v[1].base == KI_RSP));
}

/* What is needed before an instruction, of what is after it; its action. */
static ki_regset back(const struct walk *w, uint32_t i, ki_regset live)
{
	const struct ki_insn *in = &w->f->fn->insns[i];
	struct ki_fold_insn *x = &w->f->insns[i];
	const ki_regset writes = all_of(x->op.writes) | flags_of(x->op.flags);

	if (ki_fold_is_entry_mark(in))
		return live;
	if (x->site == KI_SITE_CALL || x->site == KI_SITE_FAULT || x->site == KI_SITE_BUG) {
		x->action = KI_FOLD_KEEP;
		return live | KI_REGSET_ALL;
	}
	if (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT)
		return before_call(w, in, live);
	if (ki_fold_branches(x))
		return x->action == KI_FOLD_KEEP && x->op.kind == KI_OP_JUMP ? live | x->use : live;
	if (x->op.pure && !x->reads && !(writes & live) && !makes_frame(&x->op)) {
		x->action = KI_FOLD_DROP;
		return live;
	}
	if (x->known && !(flags_of(x->op.flags) & live)) {
		x->action = KI_FOLD_VALUE;
		return live & ~KI_REGSET_REG(x->op.v[0].reg);
	}
	x->action = KI_FOLD_KEEP;
	return (live & ~x->def) | x->use;
}

static bool goes(const struct ki_fold_insn *last, const struct ki_edge *e)
{
	if (!ki_fold_branches(last) || last->action == KI_FOLD_KEEP || e->kind == KI_EDGE_FIXUP)
		return true;
	return (e->kind == KI_EDGE_FALL) == (last->action == KI_FOLD_DROP);
}

/* What is needed after a block's last instruction. */
static ki_regset behind(const struct ki_folded *f, const struct ki_block *b)
{
	const struct ki_fold_insn *last = &f->insns[b->first + b->count - 1];
	ki_regset live = 0;

	for (uint32_t n = b->first_edge; n < b->first_edge + b->nedges; n++) {
		const struct ki_edge *e = &f->fn->edges[n];

		if (e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT || !goes(last, e))
			continue;
		if (e->kind == KI_EDGE_RETURN)
			live |= RETURNED;
		else if (e->to_block == KI_NONE || e->kind == KI_EDGE_TABLE ||
			 f->blocks[e->to_block].left)
			live |= KI_REGSET_ALL;
		else
			live |= f->blocks[e->to_block].live;
	}
	return live;
}

void ki_fold_dead(struct ki_folded *f, const struct ki_fold_callees *callees)
{
	const struct walk w = {f, callees};
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t n = f->fn->nblocks; n-- > 0;) {
			const struct ki_block *b = &f->fn->blocks[n];
			ki_regset live;

			if (!f->blocks[n].reached || f->blocks[n].left)
				continue;
			live = behind(f, b);
			for (uint32_t i = b->first + b->count; i-- > b->first;)
				live = back(&w, i, live);
			again |= live != f->blocks[n].live;
			f->blocks[n].live = live;
		}
	}
}
