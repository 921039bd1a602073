/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The edges of a function's blocks: where control may go from each, and the calls that come
 * back.
 */
#include "code/function/function.h"

struct maker {
	struct ki_analysis *a;
	uint32_t block; /* whose edges are made */
	size_t way;	/* the first way of a table that has not been used */
};

static int add(struct maker *m, uint32_t insn, enum ki_edge_kind kind, uint64_t to)
{
	const struct ki_function *fn = m->a->fn;
	struct ki_edge e = {
		.to = to, .insn = insn, .block = m->block, .to_block = KI_NONE, .kind = kind};

	if (kind != KI_EDGE_CALL && to && ki_function_holds(fn, to)) {
		const struct ki_block *b = ki_function_block_at(fn, to);

		if (b && b->start == to)
			e.to_block = (uint32_t)(b - fn->blocks);
	}
	return ki_vec_push(&m->a->edges, e);
}

/* A jump or a conditional one: inside the function, to its cold part, or to another function? */
static int add_branch(struct maker *m, uint32_t insn, enum ki_edge_kind inside)
{
	const struct ki_function *fn = m->a->fn;
	uint64_t to = fn->insns[insn].target;
	const struct ki_symbol *sym;

	if (ki_function_holds(fn, to))
		return add(m, insn, inside, to);
	sym = ki_target_symbol_at(fn->target, to);
	if (sym && sym->addr == to && !ki_symbol_is_cold(sym))
		return add(m, insn, KI_EDGE_TAIL, to);
	return add(m, insn, inside, to);
}

static int add_fall(struct maker *m, uint32_t last)
{
	const struct ki_function *fn = m->a->fn;
	const struct ki_insn *in = &fn->insns[last];

	/* A trap may be one that somebody handles, and goes on after: then there is something. */
	if (in->kind == KI_INSN_TRAP &&
	    (last + 1 == fn->ninsns || fn->insns[last + 1].kind == KI_INSN_PAD))
		return 0;
	return add(m, last, KI_EDGE_FALL, in->addr + in->len);
}

static int add_indirect(struct maker *m, uint32_t insn)
{
	const struct ki_analysis *a = m->a;
	int ret = 0;

	if (!a->extra[insn].table)
		return add(m, insn, KI_EDGE_TAIL_INDIRECT, 0);
	while (m->way < a->ways.n && a->ways.v[m->way].insn < insn)
		m->way++;
	for (; !ret && m->way < a->ways.n && a->ways.v[m->way].insn == insn; m->way++)
		ret = add(m, insn, KI_EDGE_TABLE, a->ways.v[m->way].to);
	return ret;
}

static int add_fixups(struct maker *m, uint32_t insn)
{
	const struct ki_analysis *a = m->a;
	const struct ki_insn *in = &a->fn->insns[insn];
	const struct ki_reserved_row *rows;
	size_t n;
	int ret = 0;

	if (!ki_insn_has_fixup(in))
		return 0;
	rows = ki_analysis_rows(a, in, &n);
	for (size_t r = 0; !ret && r < n; r++)
		if (rows[r].reason == KI_R_EXTABLE && rows[r].target)
			ret = add(m, insn, KI_EDGE_FIXUP, rows[r].target);
	return ret;
}

/* A call into the middle of oneself leads there: what it pushes is not always returned to. */
static int add_call(struct maker *m, uint32_t insn)
{
	const struct ki_function *fn = m->a->fn;
	uint64_t to = fn->insns[insn].target;
	int ret = add(m, insn, KI_EDGE_CALL, to);

	if (!ret && to != fn->start && ki_function_holds(fn, to))
		ret = add(m, insn, KI_EDGE_JUMP, to);
	return ret;
}

/* What leaves the block at its last instruction. */
static int add_last(struct maker *m, uint32_t insn)
{
	const struct ki_insn *in = &m->a->fn->insns[insn];
	int ret;

	switch (in->kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
		ret = add_branch(m, insn, KI_EDGE_TAKEN);
		return ret ? ret : add_fall(m, insn);
	case KI_INSN_JMP:
		return add_branch(m, insn, KI_EDGE_JUMP);
	case KI_INSN_JMP_INDIRECT:
		return add_indirect(m, insn);
	case KI_INSN_RET:
		return add(m, insn, KI_EDGE_RETURN, 0);
	case KI_INSN_BAD:
		return 0;
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
		return in->flags & KI_INSN_NORETURN ? 0 : add_fall(m, insn);
	default:
		return add_fall(m, insn);
	}
}

static int add_block(struct maker *m, struct ki_block *b)
{
	const struct ki_insn *insns = m->a->fn->insns;
	uint32_t end = b->first + b->count;
	int ret = 0;

	b->first_edge = (uint32_t)m->a->edges.n;
	for (uint32_t i = b->first; !ret && i < end; i++) {
		ret = add_fixups(m, i);
		if (!ret && insns[i].kind == KI_INSN_CALL)
			ret = add_call(m, i);
		if (!ret && insns[i].kind == KI_INSN_CALL_INDIRECT)
			ret = add(m, i, KI_EDGE_CALL_INDIRECT, 0);
	}
	if (!ret)
		ret = add_last(m, end - 1);
	b->nedges = (uint32_t)m->a->edges.n - b->first_edge;
	return ret;
}

int ki_edges_build(struct ki_analysis *a)
{
	struct maker m = {.a = a};
	int ret = 0;

	for (; !ret && m.block < a->fn->nblocks; m.block++)
		ret = add_block(&m, &a->fn->blocks[m.block]);
	a->fn->edges = a->edges.v;
	a->fn->nedges = (uint32_t)a->edges.n;
	return ret;
}

const char *ki_edge_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[KI_EDGE_FALL] = "fall",
		[KI_EDGE_TAKEN] = "taken",
		[KI_EDGE_JUMP] = "jump",
		[KI_EDGE_TABLE] = "table",
		[KI_EDGE_FIXUP] = "fixup",
		[KI_EDGE_CALL] = "call",
		[KI_EDGE_CALL_INDIRECT] = "call-indirect",
		[KI_EDGE_TAIL] = "tail",
		[KI_EDGE_TAIL_INDIRECT] = "tail-indirect",
		[KI_EDGE_RETURN] = "return",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "?";
}
