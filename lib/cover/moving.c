// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Does it pay to move a function (splice/move.c)?
 *
 * By itself, each window with a probe costs the jump to its patch and the one back. In a function
 * that is moved probes cost nothing but themselves; what costs is coming and going: a jump at the
 * entry and after each call, a call that becomes two instructions, and the way to and from each
 * instruction that may not be displaced. Which of them is executed how often nobody knows yet:
 * each counts once. A function in which control may go where no edge shows stays where it is. A
 * springboard that traps counts for what it costs, hundreds of instructions.
 */
#include <errno.h>
#include <stdlib.h>

#include "cover/live.h"
#include "splice/springboard_choice.h"
#include "splice/move.h"

#define TRAP_COST 500
#define JUMP_COST 1

static unsigned int board_cost(const struct ki_span *s)
{
	return s->board == KI_BOARD_TRAP     ? TRAP_COST
	       : s->board == KI_BOARD_BOUNCE ? 2 * JUMP_COST
					     : JUMP_COST;
}

/* Windows with a probe, each by itself. */
static uint64_t cost_single(const struct ki_function *fn, const struct ki_spans *spans,
			    const uint8_t *rules, const struct ki_place *places)
{
	const struct ki_span *last = NULL;
	uint64_t cost = 0;

	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_span *s = ki_spans_at(spans, fn, places[b].addr);

		if (rules[b] != KI_RULE_PROBE || !s || s == last)
			continue;
		cost += board_cost(s) + JUMP_COST;
		last = s;
	}
	return cost;
}

/* All windows in one patch; only springboards to which control comes, not those of hosts. */
static uint64_t cost_moved(const struct ki_function *fn, const struct ki_spans *spans,
			   const bool *boarded)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < spans->n; i++)
		if (boarded[i])
			cost += board_cost(&spans->v[i]);
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];
		bool in_text = !ki_spans_at(spans, fn, in->addr);

		if (in->kind != KI_INSN_PAD && (in_text || ki_insn_is_call(in)))
			cost += JUMP_COST;
	}
	return cost;
}

int ki_cover_moves(const struct ki_ground *g, const uint8_t *rules, const struct ki_place *places,
		   bool *moves)
{
	bool *boarded = calloc(g->spans->n + 1, sizeof(*boarded));

	if (!boarded)
		return -ENOMEM;
	*moves = ki_cover_plain(g->fn) && !ki_move_boards(g->fn, g->spans, false, boarded) &&
		 cost_moved(g->fn, g->spans, boarded) < cost_single(g->fn, g->spans, rules, places);
	free(boarded);
	return 0;
}
