/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How much stack a function has taken when it comes to some instruction. Followed from its start
 * along direct branches, before the blocks are known; each instruction by the first way found. What
 * stands after a call comes last: the call may be one that does not return, and the code after it
 * may have another frame.
 */
#include "code/function/form.h"

#define UNSET INT32_MIN
#define BACK  16 /* instructions between the last pop and the jump */

struct walk {
	const struct ki_analysis *a;
	int32_t *depth; /* by instruction; UNSET */
	int32_t frame;	/* where the frame pointer points to; UNSET */
	ki_vec(uint32_t) now, later;
	int error;
};

static void reach(struct walk *w, uint32_t i, int32_t depth, bool late)
{
	if (i >= w->a->fn->ninsns || w->depth[i] != UNSET || w->error)
		return;
	/* Not yet known if it comes later: there may be a better way. */
	if (!late)
		w->depth[i] = depth;
	w->error = late ? ki_vec_push(&w->later, i) : ki_vec_push(&w->now, i);
}

/* push and pop, by their opcodes: the bytes that they take; 0: it is neither. */
static int32_t pushed(const struct ki_form *f)
{
	if ((f->opcode & ~7) == 0x50 || f->opcode == 0x68 || f->opcode == 0x6a || f->opcode == 0x9c)
		return 8;
	if ((f->opcode & ~7) == 0x58 || f->opcode == 0x8f || f->opcode == 0x9d)
		return -8;
	return f->opcode == 0xff && f->reg == 6 ? 8 : 0;
}

/* The depth after an instruction that changes the stack pointer; UNSET: not known. */
static int32_t changed(const struct walk *w, const struct ki_form *f, int32_t depth)
{
	bool sp = f->rm == KI_RSP;

	if (pushed(f))
		return depth + pushed(f);
	if ((f->opcode == 0x81 || f->opcode == 0x83) && sp && (f->reg == 0 || f->reg == 5))
		return depth + (int32_t)(f->reg ? f->imm : -f->imm);
	if (f->opcode == 0x81 || f->opcode == 0x83) /* and: it is aligned */
		return sp ? UNSET : depth;
	if (f->opcode == 0x8d && f->reg == KI_RSP && f->index == KI_NO_REG && !f->rip) {
		if (f->base == KI_RSP)
			return depth - (int32_t)f->disp;
		if (f->base == KI_RBP && w->frame != UNSET)
			return w->frame - (int32_t)f->disp;
	}
	if (w->frame != UNSET && f->opcode == 0xc9)
		return w->frame - 8;
	if (w->frame != UNSET && ((f->opcode == 0x89 && sp && f->reg == KI_RBP) ||
				  (f->opcode == 0x8b && f->reg == KI_RSP && f->rm == KI_RBP)))
		return w->frame;
	return UNSET;
}

/* The depth after instruction i. */
static int32_t behind(struct walk *w, uint32_t i)
{
	const struct ki_insn *in = &w->a->fn->insns[i];
	int32_t depth = w->depth[i];
	bool writes = w->a->extra[i].def & KI_REGSET_REG(KI_RSP);
	struct ki_form f;

	if (in->kind != KI_INSN_PLAIN)
		return depth;
	if (!ki_form_parse(w->a->fn, in, &f))
		f.rm = f.reg = f.base = KI_NO_REG;
	if ((f.opcode == 0x89 && f.rm == KI_RBP && f.reg == KI_RSP) ||
	    (f.opcode == 0x8b && f.reg == KI_RBP && f.rm == KI_RSP))
		w->frame = depth;
	return writes ? changed(w, &f, depth) : depth;
}

static void visit(struct walk *w, uint32_t i)
{
	const struct ki_function *fn = w->a->fn;
	const struct ki_insn *in = &fn->insns[i];
	int32_t depth = behind(w, i);

	if (depth == UNSET)
		return;
	switch (in->kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
	case KI_INSN_JMP:
		if (ki_function_holds(fn, in->target))
			reach(w, ki_function_covering(fn, in->target), depth, false);
		if (in->kind != KI_INSN_JMP)
			reach(w, i + 1, depth, false);
		break;
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
	case KI_INSN_TRAP:
		if (i + 1 < fn->ninsns && !(w->a->extra[i + 1].traits & KI_TRAIT_FILLER))
			reach(w, i + 1, depth, true);
		break;
	case KI_INSN_PLAIN:
		reach(w, i + 1, depth, false);
		break;
	}
}

static bool next(struct walk *w, uint32_t *i)
{
	while (w->now.n) {
		*i = w->now.v[--w->now.n];
		return true;
	}
	while (w->later.n) {
		*i = w->later.v[--w->later.n];
		if (w->depth[*i] != UNSET)
			continue;
		w->depth[*i] = w->depth[*i - 1];
		return true;
	}
	return false;
}

/* All of the function's, once. */
static int find_depths(struct ki_analysis *a)
{
	struct walk w = {.a = a, .frame = UNSET};
	uint32_t at;

	if (ki_vec_reserve(&a->depths, a->fn->ninsns))
		return -ENOMEM;
	a->depths.n = a->fn->ninsns;
	w.depth = a->depths.v;
	for (uint32_t k = 0; k < a->fn->ninsns; k++)
		w.depth[k] = UNSET;
	reach(&w, 0, 0, false);
	while (!w.error && next(&w, &at))
		visit(&w, at);
	ki_vec_free(&w.now);
	ki_vec_free(&w.later);
	return w.error;
}

int ki_stack_depth(struct ki_analysis *a, uint32_t i, int32_t *depth)
{
	int ret = a->depths.n ? 0 : find_depths(a);

	if (ret)
		return ret;
	*depth = a->depths.v[i];
	return *depth == UNSET ? -ENOENT : 0;
}

bool ki_stack_is_given_back(const struct ki_analysis *a, uint32_t i)
{
	for (uint32_t back = 1; back <= BACK && back <= i; back++) {
		const struct ki_insn *in = &a->fn->insns[i - back];
		struct ki_form f;

		if (in->kind != KI_INSN_PLAIN || a->extra[i - back + 1].leader)
			return false;
		if (!(a->extra[i - back].def & KI_REGSET_REG(KI_RSP)))
			continue;
		ki_form_parse(a->fn, in, &f);
		return pushed(&f) < 0 || f.opcode == 0xc9 ||
		       ((f.opcode == 0x81 || f.opcode == 0x83) && f.reg == 0);
	}
	return false;
}
