// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Places: sides of instructions, and which of them are the same moment.
 *
 * An instruction that must stay where it is has no side of its own that code could stand on. But
 * what runs after an instruction runs before the next one, if nothing else leads to the next: the
 * two are one moment, with the same registers and flags, and either will do. So the moment
 * before instruction i is also KI_AFTER i - 1 if i begins no block, and the moment after i is also
 * KI_BEFORE i + 1 if that begins none, or one that this edge alone leads to. After a call only
 * the latter exists: its return address is one of the original's.
 *
 * That nothing else leads to a block has to be known, not supposed: one edge of the function, no
 * jump of other code (ki_block.entered), and nothing that could be its address, in an operand or an
 * immediate, for somebody to return to.
 */
#include "splice/point.h"

#include <string.h>

#include "code/function/function.h"

static bool is_call(const struct ki_insn *in)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT;
}

/* Whether the instruction has this side, whatever may be in the way. */
static bool has_side(const struct ki_insn *in, enum ki_where where)
{
	if (where == KI_RETURNED)
		return in->kind == KI_INSN_JCC || in->kind == KI_INSN_LOOP ||
		       in->kind == KI_INSN_JMP;
	if (where == KI_TAKEN && ki_insn_has_fixup(in))
		return true;
	switch (in->kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
		return true;
	case KI_INSN_JMP:
	case KI_INSN_CALL:
		return where != KI_AFTER;
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_CALL_INDIRECT:
	case KI_INSN_RET:
	case KI_INSN_BAD:
		return where == KI_BEFORE;
	default:
		return where != KI_TAKEN;
	}
}

static bool flags_live_at(const struct ki_function *fn, uint64_t target)
{
	const struct ki_insn *in = ki_function_insn_at(fn, target);
	const struct ki_symbol *sym;

	if (in)
		return (in->flags & KI_INSN_FLAGS_LIVE) != 0;
	sym = ki_function_holds(fn, target) ? NULL : ki_target_symbol_at(fn->target, target);
	/* A cold part is a function only by name. */
	return !sym || sym->addr != target || ki_symbol_is_cold(sym) || ki_function_gives_flags(fn);
}

/* Where control goes on the taken side; 0: nowhere. */
static uint64_t target_of(const struct ki_function *fn, const struct ki_insn *in)
{
	if (!ki_insn_has_fixup(in))
		return in->target;
	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->edges[e].kind == KI_EDGE_FIXUP && &fn->insns[fn->edges[e].insn] == in)
			return fn->edges[e].to;
	return 0;
}

static bool flags_live(const struct ki_function *fn, const struct ki_insn *in, enum ki_where where)
{
	if (where == KI_RETURNED)
		return true; /* what another function leaves in them is not known */
	if (where == KI_TAKEN)
		return flags_live_at(fn, target_of(fn, in));
	if (where == KI_BEFORE)
		return (in->flags & KI_INSN_FLAGS_LIVE) != 0;
	in++;
	return in == fn->insns + fn->ninsns || in->kind == KI_INSN_PAD ||
	       (in->flags & KI_INSN_FLAGS_LIVE) != 0;
}

struct ki_place ki_place_side(const struct ki_ground *g, uint32_t i, enum ki_where where)
{
	const struct ki_insn *in = &g->fn->insns[i];
	struct ki_place place = {.addr = in->addr, .where = (uint8_t)where};
	struct ki_copy copy;

	if (g->fn->reason)
		place.reason = g->fn->reason;
	else if (!has_side(in, where))
		place.reason = KI_R_NO_SUCH_SIDE;
	else if (!ki_spans_at(g->spans, g->fn, in->addr))
		place.reason =
			(uint16_t)ki_relocate(in, g->fn->bytes + (in->addr - g->fn->start), &copy);
	place.flags_live = flags_live(g->fn, in, where);
	return place;
}

/* Control comes to instruction i from the one before it only. */
static bool only_falls(const struct ki_ground *g, uint32_t i)
{
	const struct ki_insn *in = &g->fn->insns[i];
	const struct ki_edge *e;

	if (in->kind == KI_INSN_PAD)
		return false;
	if (!in->block_start)
		return true;
	e = ki_place_only_edge(g,
			       (uint32_t)(ki_function_block_at(g->fn, in->addr) - g->fn->blocks));
	return e && e->kind == KI_EDGE_FALL && e->insn == i - 1;
}

struct ki_place ki_place_before(const struct ki_ground *g, uint32_t i)
{
	struct ki_place at = ki_place_side(g, i, KI_BEFORE), behind;

	if (!at.reason || !i || g->fn->reason || !only_falls(g, i))
		return at;
	behind = ki_place_side(g, i - 1, KI_AFTER);
	return behind.reason ? at : behind;
}

struct ki_place ki_place_behind(const struct ki_ground *g, uint32_t i)
{
	const struct ki_insn *in = &g->fn->insns[i];
	struct ki_place at = ki_place_side(g, i, KI_AFTER), next;

	if (!at.reason || g->fn->reason)
		return at;
	if (is_call(in) ? in->flags & KI_INSN_NORETURN : !has_side(in, KI_AFTER))
		return at;
	if (i + 1 < g->fn->ninsns && only_falls(g, i + 1)) {
		next = ki_place_side(g, i + 1, KI_BEFORE);
		if (!next.reason || is_call(in))
			return next;
	} else if (is_call(in)) {
		at.reason = KI_R_RETURN_ENTERED;
	}
	return at;
}

bool ki_place_may_pass(const struct ki_insn *in)
{
	if (in->reason == KI_R_FTRACE_SITE || in->reason == KI_R_ENDBR)
		return true;
	return in->kind == KI_INSN_PLAIN && !(in->flags & KI_INSN_EXTABLE) &&
	       (in->reason == KI_R_OK || in->reason == KI_R_LOCK_PREFIX);
}

bool ki_place_address_taken(const struct ki_function *fn, uint64_t addr)
{
	uint32_t low = (uint32_t)addr;

	for (uint32_t i = 0; i < fn->ninsns; i++)
		if (fn->insns[i].flags & KI_INSN_RIP && fn->insns[i].target == addr)
			return true;
	return memmem(fn->bytes, fn->end - fn->start, &low, sizeof(low)) != NULL;
}

const struct ki_edge *ki_place_only_edge(const struct ki_ground *g, uint32_t b)
{
	const struct ki_function *fn = g->fn;
	const struct ki_insn *first = &fn->insns[fn->blocks[b].first];
	const struct ki_edge *only = NULL;

	if (!b || fn->blocks[b].entered)
		return NULL;
	for (uint32_t e = 0; e < fn->nedges; e++) {
		if (fn->edges[e].to_block != b)
			continue;
		if (only)
			return NULL;
		only = &fn->edges[e];
	}
	return only && !ki_place_address_taken(fn, first->addr) ? only : NULL;
}
