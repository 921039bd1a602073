// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Edges: on which side of which instruction control is when it takes one.
 *
 *	taken, of jcc		after it on the taken side
 *	fall-through		after the block's last instruction
 *	jmp, ret, call, tail	before the instruction, which goes nowhere else
 *	exception		after it on the taken side, on its way to the fixup
 *	table			nowhere: the same instruction goes elsewhere too
 */
#include "splice/point.h"

#include <string.h>

enum edge_side { EDGE_NOWHERE, EDGE_BEFORE, EDGE_BEHIND, EDGE_BRANCH };

static const uint8_t sides[] = {
	[KI_EDGE_FALL] = EDGE_BEHIND,	       [KI_EDGE_TAKEN] = EDGE_BRANCH,
	[KI_EDGE_JUMP] = EDGE_BEFORE,	       [KI_EDGE_TABLE] = EDGE_NOWHERE,
	[KI_EDGE_FIXUP] = EDGE_BRANCH,	       [KI_EDGE_CALL] = EDGE_BEFORE,
	[KI_EDGE_CALL_INDIRECT] = EDGE_BEFORE, [KI_EDGE_TAIL] = EDGE_BRANCH,
	[KI_EDGE_TAIL_INDIRECT] = EDGE_BEFORE, [KI_EDGE_RETURN] = EDGE_BEFORE,
};

/* Before instruction i, or before what is executed if and only if i is. */
static struct ki_place reach_back(const struct ki_ground *g, uint32_t i)
{
	struct ki_place at = ki_place_before(g, i), earlier = at;

	while (earlier.reason && i && !g->fn->insns[i].block_start &&
	       ki_place_may_pass(&g->fn->insns[i - 1]))
		earlier = ki_place_before(g, --i);
	return earlier.reason ? at : earlier;
}

/* The same, if the instruction goes on to the next one whenever it is executed. */
static struct ki_place behind(const struct ki_ground *g, uint32_t i)
{
	struct ki_place at = ki_place_behind(g, i), earlier;

	if (!at.reason || !ki_place_may_pass(&g->fn->insns[i]))
		return at;
	earlier = reach_back(g, i);
	return earlier.reason ? at : earlier;
}

struct ki_place ki_edge_place(const struct ki_ground *g, const struct ki_edge *e)
{
	uint8_t kind = g->fn->insns[e->insn].kind;

	switch (sides[e->kind]) {
	case EDGE_BRANCH:
		if (kind == KI_INSN_JCC || kind == KI_INSN_LOOP || e->kind == KI_EDGE_FIXUP)
			return ki_place_side(g, e->insn, KI_TAKEN);
		return reach_back(g, e->insn);
	case EDGE_BEFORE:
		return reach_back(g, e->insn);
	case EDGE_BEHIND:
		return behind(g, e->insn);
	default:
		return (struct ki_place){
			.addr = g->fn->insns[e->insn].addr,
			.reason = g->fn->reason ? g->fn->reason : KI_R_INDIRECT_EDGE,
		};
	}
}

/* Length of a symbol's name without what the compiler hangs on for the cold part. */
static size_t stem(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold ? (size_t)(cold - name) : strlen(name);
}

/* The hot and the cold part of one function: a jump between them leaves nothing. */
static bool same_family(const struct ki_function *fn, uint64_t target)
{
	const struct ki_symbol *to = ki_target_symbol_at(fn->target, target);
	const char *own = fn->symbol ? fn->symbol->name : "";
	size_t n;

	if (!to)
		return false;
	n = stem(to->name);
	return n == stem(own) && !memcmp(to->name, own, n) && (to->name[n] || own[n]);
}

bool ki_edge_leaves(const struct ki_function *fn, const struct ki_edge *e)
{
	switch (e->kind) {
	case KI_EDGE_RETURN:
	case KI_EDGE_TAIL_INDIRECT:
		return true;
	case KI_EDGE_TAIL:
	case KI_EDGE_JUMP:
	case KI_EDGE_TAKEN:
	case KI_EDGE_FIXUP:
		return (e->to < fn->start || e->to >= fn->end) && !same_family(fn, e->to);
	default:
		return false;
	}
}
