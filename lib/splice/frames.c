// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The unwinder has a row for each address: where, from the stack pointer or %rbp, the return
 * address is. A bounce stands at an address that has a row already, another instruction's, and a
 * trace that begins at the bounce is right if that is the row of the window's beginning too.
 *
 * Windows are a pure function of bytes and blocks, so the rows themselves are not asked: not
 * everybody who looks can read them. What they say is told from the code again: pushes, pops and
 * additions to %rsp, along all edges from the entry on. Where the depth cannot be known (code that
 * only others jump to, a stack that is aligned, a frame pointer that takes over), a new base
 * begins; depths of the same base can be compared, those of others are taken to differ.
 */
#include "splice/frames.h"

#include <stdlib.h>

#include "code/function/form.h"
#include "util/vec.h"

#define BASE (1ll << 32)

struct walk {
	const struct ki_function *fn;
	int64_t *frame; /* of instructions */
	int64_t *entry; /* of blocks; KI_FRAME_NONE: not known yet */
	int64_t base;	/* the last that was given */
	ki_vec(uint32_t) todo;
};

static int64_t new_base(struct walk *w)
{
	w->base += BASE;
	return w->base;
}

/* push and pop, by their opcodes: the bytes that they take; 0: it is neither. */
static int pushed(const struct ki_form *f)
{
	if ((f->opcode & ~7) == 0x50 || f->opcode == 0x68 || f->opcode == 0x6a || f->opcode == 0x9c)
		return 8;
	if ((f->opcode & ~7) == 0x58 || f->opcode == 0x8f || f->opcode == 0x9d)
		return -8;
	return f->opcode == 0xff && f->reg == 6 ? 8 : 0;
}

static bool moves(const struct ki_form *f, uint8_t to, uint8_t from)
{
	return (f->opcode == 0x89 && f->rm == to && f->reg == from) ||
	       (f->opcode == 0x8b && f->reg == to && f->rm == from);
}

/* %rsp becomes something else, or %rbp what the frame is found by. */
static bool changes_base(const struct ki_form *f)
{
	return f->opcode == 0xc9 || moves(f, KI_RSP, KI_RBP) || moves(f, KI_RBP, KI_RSP) ||
	       ((f->opcode == 0x81 || f->opcode == 0x83) && f->rm == KI_RSP && f->reg == 4) ||
	       (f->opcode == 0x8d && f->reg == KI_RSP && f->base != KI_RSP);
}

/*
 * Can it be one of those that count here, by its opcode and whether its operand is a register? Most
 * cannot, and need not be taken apart. Prefixes are those of form.c.
 */
static bool may_count(const uint8_t *p, const uint8_t *end)
{
	while (p < end && (*p == 0x66 || *p == 0x3e || *p == 0xf2 || *p == 0x2e))
		p++;
	if (p < end && (*p & 0xf0) == 0x40) /* REX */
		p++;
	if (p == end)
		return false;
	switch (*p) {
	case 0x81:
	case 0x83:
	case 0x89:
	case 0x8b:
		return p + 1 < end && p[1] >= 0xc0;
	case 0x50 ... 0x5f:
	case 0x68:
	case 0x6a:
	case 0x8d:
	case 0x8f:
	case 0x9c:
	case 0x9d:
	case 0xc9:
	case 0xff:
		return true;
	default:
		return false;
	}
}

static int64_t behind(struct walk *w, uint32_t i)
{
	const struct ki_insn *in = &w->fn->insns[i];
	const uint8_t *bytes = w->fn->bytes + (in->addr - w->fn->start);
	int64_t frame = w->frame[i];
	struct ki_form f;

	if (in->kind != KI_INSN_PLAIN || !may_count(bytes, bytes + in->len))
		return frame;
	if (!ki_form_parse(w->fn, in, &f))
		f.rm = f.reg = f.base = KI_NO_REG;
	if (changes_base(&f))
		return new_base(w);
	if ((f.opcode == 0x81 || f.opcode == 0x83) && f.rm == KI_RSP && (f.reg == 0 || f.reg == 5))
		return frame + (f.reg ? f.imm : -f.imm);
	if (f.opcode == 0x8d && f.reg == KI_RSP)
		return frame - f.disp;
	return frame + pushed(&f);
}

static int enter(struct walk *w, uint32_t block, int64_t frame)
{
	if (block == KI_NONE || w->entry[block] != KI_FRAME_NONE)
		return 0;
	w->entry[block] = frame;
	return ki_vec_push(&w->todo, block);
}

static int visit(struct walk *w, uint32_t block)
{
	const struct ki_block *b = &w->fn->blocks[block];
	int64_t frame = w->entry[block];
	int ret = 0;

	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		w->frame[i] = frame;
		frame = behind(w, i);
	}
	for (uint32_t e = b->first_edge; e < b->first_edge + b->nedges && !ret; e++) {
		const struct ki_edge *edge = &w->fn->edges[e];

		ret = enter(w, edge->to_block,
			    edge->kind == KI_EDGE_FALL ? frame : w->frame[edge->insn]);
	}
	return ret;
}

int ki_frames_find(const struct ki_function *fn, int64_t *frame)
{
	struct walk w = {.fn = fn, .frame = frame};
	int ret = 0;

	w.entry = malloc((fn->nblocks + 1) * sizeof(*w.entry));
	if (!w.entry)
		return -ENOMEM;
	for (uint32_t b = 0; b < fn->nblocks; b++)
		w.entry[b] = KI_FRAME_NONE;
	for (uint32_t i = 0; i < fn->ninsns; i++)
		frame[i] = KI_FRAME_NONE;
	for (uint32_t b = 0; b < fn->nblocks && !ret; b++) {
		if (w.entry[b] == KI_FRAME_NONE)
			ret = enter(&w, b, new_base(&w));
		while (w.todo.n && !ret)
			ret = visit(&w, w.todo.v[--w.todo.n]);
	}
	ki_vec_free(&w.todo);
	free(w.entry);
	return ret;
}
