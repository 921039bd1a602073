// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Points: on which sides of which instructions code has to stand so that it runs when the block is
 * entered, when the function is left, when an instruction is reached.
 *
 * An entry or block need not be caught at its first byte: any instruction of the block will do
 * that is executed exactly when the block is. So the ftrace nop and endbr64 are stepped over,
 * and inside the window we first_dead_flags where the flags are dead, which makes a counter one
 * instruction. What may leave the block on the way (an exception-table entry, a static branch, a
 * call) is never stepped over; code may stand before it.
 *
 * A block that only one edge leads to is executed exactly when the edge is taken. So each may be
 * caught where the other is, if its own place is refused; only there, or the two would ask each
 * other for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "splice/point.h"

/* What a point is looked for with. */
struct search {
	struct ki_ground g;
	const struct ki_point *pt;
	ki_places found;
	struct ki_err *err;
};

static int found(struct search *s, struct ki_place place)
{
	return ki_vec_push(&s->found, place);
}

static const char *name_of(const struct ki_function *fn)
{
	return fn->symbol ? fn->symbol->name : "function";
}

/* From instruction i of a window on, the first before which the flags are dead; else i. */
static uint32_t first_dead_flags(const struct ki_ground *g, uint32_t i)
{
	const struct ki_insn *insns = g->fn->insns;
	const struct ki_span *w = ki_spans_at(g->spans, g->fn, insns[i].addr);

	for (uint32_t k = i; w && k < w->first + w->count; k++) {
		if (!(insns[k].flags & KI_INSN_FLAGS_LIVE))
			return k;
		if (!ki_place_may_pass(&insns[k]))
			break;
	}
	return i;
}

struct ki_place ki_block_place(const struct ki_ground *g, const struct ki_block *b)
{
	struct ki_place first = {.addr = b->start, .reason = g->fn->reason};

	for (uint32_t i = b->first; !g->fn->reason && i < b->first + b->count; i++) {
		const struct ki_insn *in = &g->fn->insns[i];
		struct ki_place place = ki_place_side(g, i, KI_BEFORE);

		if (!place.reason)
			return ki_place_side(g, first_dead_flags(g, i), KI_BEFORE);
		/* What stops us counts for more than what was stepped over before. */
		if (!first.reason || !ki_place_may_pass(in))
			first = place;
		if (!ki_place_may_pass(in))
			break;
	}
	return first;
}

static int find_block(struct search *s, uint32_t number)
{
	const struct ki_function *fn = s->g.fn;
	const struct ki_edge *only;
	struct ki_place at, edge;

	if (!number && !fn->nblocks)
		return found(s,
			     (struct ki_place){.addr = fn->start,
					       .reason = fn->reason ? fn->reason : KI_R_NO_CODE});
	if (number >= fn->nblocks)
		return ki_err_set(s->err, -EINVAL, fn->start,
				  "%s has no block %u: it has %u, from 0", name_of(fn), number,
				  fn->nblocks);
	at = ki_block_place(&s->g, &fn->blocks[number]);
	only = at.reason && !fn->reason ? ki_place_only_edge(&s->g, number) : NULL;
	if (only) {
		edge = ki_edge_place(&s->g, only);
		if (!edge.reason)
			at = edge;
	}
	return found(s, at);
}

/* Something but calls leads to instruction i, the first that is looked at. */
static bool is_repeated(const struct ki_function *fn, uint32_t i)
{
	if ((i && fn->insns[i].block_start) || fn->blocks[0].entered)
		return true;
	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->edges[e].to_block == 0)
			return true;
	return false;
}

static int find_this_block(struct search *s)
{
	return find_block(s, s->pt->block);
}

static bool comes_back(const struct ki_insn *in)
{
	return (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT) &&
	       !(in->flags & KI_INSN_NORETURN);
}

/* Before what ends the block; after what does not. */
static int find_block_end(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	const struct ki_block *b;
	const struct ki_insn *last;
	uint32_t i;

	if (s->pt->block >= fn->nblocks)
		return find_this_block(s);
	b = &fn->blocks[s->pt->block];
	i = b->first + b->count - 1;
	last = &fn->insns[i];
	if (last->kind == KI_INSN_PLAIN || comes_back(last))
		return found(s, ki_place_behind(&s->g, i));
	return found(s, ki_place_before(&s->g, i));
}

static int find_insn(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	const struct ki_insn *in = ki_function_insn_at(fn, s->pt->addr);
	uint32_t i;

	if (!in)
		return ki_err_reason(s->err, KI_R_NOT_BOUNDARY, s->pt->addr, "%s+0x%llx",
				     name_of(fn), (unsigned long long)(s->pt->addr - fn->start));
	i = (uint32_t)(in - fn->insns);
	return found(s, s->pt->kind == KI_POINT_INSN ? ki_place_before(&s->g, i)
						     : ki_place_behind(&s->g, i));
}

static int find_edge_number(struct search *s, uint32_t number)
{
	const struct ki_function *fn = s->g.fn;
	const struct ki_edge *e;
	struct ki_place at, target;

	if (number >= fn->nedges)
		return ki_err_set(s->err, -EINVAL, fn->start,
				  "%s has no edge %u: it has %u, from 0", name_of(fn), number,
				  fn->nedges);
	e = &fn->edges[number];
	at = ki_edge_place(&s->g, e);
	/* At a fixup a chunk costs those nothing who do not fault. */
	if ((at.reason || e->kind == KI_EDGE_FIXUP) && !fn->reason && e->to_block != KI_NONE &&
	    ki_place_only_edge(&s->g, e->to_block) == e) {
		target = ki_block_place(&s->g, &fn->blocks[e->to_block]);
		if (!target.reason)
			at = target;
	}
	return found(s, at);
}

static int find_edge(struct search *s)
{
	return find_edge_number(s, s->pt->edge);
}

static int find_entry(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	uint32_t grown = KI_NONE;
	bool repeated = fn->nblocks && !fn->reason && is_repeated(fn, 0);
	int ret;

	if (repeated)
		grown = ki_point_grown(fn);
	if (grown != KI_NONE)
		return find_edge_number(s, grown);
	ret = find_block(s, 0);
	if (!ret && !s->found.v[0].reason && repeated)
		s->found.v[0].reason = KI_R_ENTRY_REPEATED;
	return ret;
}

static int find_exits(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	int ret = 0;

	for (uint32_t e = 0; !ret && e < fn->nedges; e++)
		if (ki_edge_leaves(fn, &fn->edges[e]))
			ret = found(s, ki_edge_place(&s->g, &fn->edges[e]));
	return ret;
}

/* The same, at a jump: when what it leads to has returned. (After a fault nothing can be.) */
static struct ki_place behind_exit(const struct ki_ground *g, const struct ki_edge *e)
{
	struct ki_place at;

	if (e->kind == KI_EDGE_RETURN || e->kind == KI_EDGE_FIXUP)
		return ki_edge_place(g, e);
	at = ki_place_side(g, e->insn, KI_RETURNED);
	if (e->kind == KI_EDGE_TAIL_INDIRECT && at.reason == KI_R_NO_SUCH_SIDE)
		at.reason = KI_R_TAIL_UNKNOWN;
	return at;
}

static int find_exits_after(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	int ret = 0;

	for (uint32_t e = 0; !ret && e < fn->nedges; e++)
		if (ki_edge_leaves(fn, &fn->edges[e]))
			ret = found(s, behind_exit(&s->g, &fn->edges[e]));
	return ret;
}

/* Calls, but not the one that ftrace writes at its site. */
static int find_calls(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	bool before = s->pt->kind == KI_POINT_CALLS;
	int ret = 0;

	for (uint32_t e = 0; !ret && e < fn->nedges; e++) {
		uint32_t i = fn->edges[e].insn;

		if ((fn->edges[e].kind != KI_EDGE_CALL &&
		     fn->edges[e].kind != KI_EDGE_CALL_INDIRECT) ||
		    fn->insns[i].reason == KI_R_FTRACE_SITE)
			continue;
		if (before)
			ret = found(s, ki_edge_place(&s->g, &fn->edges[e]));
		else if (comes_back(&fn->insns[i]))
			ret = found(s, ki_place_behind(&s->g, i));
	}
	return ret;
}

/* The frame of a call may stand already when something else comes to the beginning. */
static int find_start(struct search *s)
{
	const struct ki_function *fn = s->g.fn;
	struct ki_place at;
	uint32_t i = 0;

	if (!fn->nblocks)
		return find_block(s, 0);
	while (i + 1 < fn->ninsns &&
	       (fn->insns[i].reason == KI_R_FTRACE_SITE || fn->insns[i].reason == KI_R_ENDBR))
		i++;
	at = ki_place_side(&s->g, i, KI_BEFORE);
	if (!at.reason && is_repeated(fn, i))
		at.reason = KI_R_ENTRY_REPEATED;
	return found(s, at);
}

int ki_point_places(const struct ki_function *fn, const struct ki_spans *spans,
		    const struct ki_point *pt, struct ki_place **out, size_t *count,
		    struct ki_err *err)
{
	static int (*const finders[KI_POINT_KINDS])(struct search *) = {
		[KI_POINT_ENTRY] = find_entry,
		[KI_POINT_EXIT] = find_exits,
		[KI_POINT_BLOCK] = find_this_block,
		[KI_POINT_INSN] = find_insn,
		[KI_POINT_BLOCK_END] = find_block_end,
		[KI_POINT_AFTER] = find_insn,
		[KI_POINT_EDGE] = find_edge,
		[KI_POINT_CALLS] = find_calls,
		[KI_POINT_RETURNS] = find_calls,
		[KI_POINT_START] = find_start,
		[KI_POINT_EXIT_AFTER] = find_exits_after,
	};
	struct search s = {.g = {fn, spans}, .pt = pt, .err = err};
	int ret = -EINVAL;

	if (pt->kind < KI_POINT_KINDS)
		ret = finders[pt->kind](&s);
	*out = s.found.v;
	*count = s.found.n;
	if (ret) {
		free(s.found.v);
		*out = NULL;
		*count = 0;
		ki_err_set(err, ret, fn->start, "point: %s", strerror(-ret));
	}
	return ret;
}
