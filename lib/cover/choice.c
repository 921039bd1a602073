// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Fewer probes (after Agrawal, "Dominators, Super Blocks, and Program Coverage", POPL 1994, without
 * what a sleeping or ended thread would make wrong).
 *
 * A block is straight if whoever begins it comes to its end, at once: no call, which may sleep or
 * never come back, no instruction that may fault. Then
 *
 *	SUCCS	a straight block that leads only to blocks to which everybody comes from it, over
 *		straight blocks, was executed if, and only if, one of these was;
 *	PREDS	a block to which only straight blocks lead that lead nowhere else was executed
 *		if, and only if, one of these was.
 *
 * That a block is dominated is not enough: a thread that slept between the two when the probes came
 * has passed the first one before, and comes to the second one now.
 *
 * PREDS asks for probes in all of its predecessors, so it depends on probes alone. SUCCS depends
 * on blocks after, and never on itself. They are read in this order, SUCCS until nothing is new.
 *
 * A function in which something may be jumped to that no edge shows (an indirect jump without its
 * table, an address of its own in an operand) has a probe in each block.
 */
#include "cover/choice.h"

#include <errno.h>
#include <stdlib.h>

#define DEPTH 4 /* blocks between the two */

struct chooser {
	const struct ki_function *fn;
	const struct ki_cfg *cfg;
	uint8_t *rules;
	uint8_t *straight;
	uint8_t *needed; /* its probe says something of another block */
};

static bool ends_early(const struct ki_insn *in)
{
	switch (in->kind) {
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
	case KI_INSN_TRAP:
	case KI_INSN_BAD:
	case KI_INSN_RET:
	case KI_INSN_JMP_INDIRECT:
		return true;
	default:
		return in->flags & (KI_INSN_EXTABLE | KI_INSN_BUG);
	}
}

bool ki_cover_straight(const struct ki_function *fn, const struct ki_block *b)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (ends_early(&fn->insns[b->first + i]))
			return false;
	return true;
}

bool ki_cover_through(const struct ki_function *fn, const struct ki_block *b)
{
	const struct ki_insn *last = &fn->insns[b->first + b->count - 1];
	const bool leaves = last->kind == KI_INSN_RET || last->kind == KI_INSN_JMP_INDIRECT;
	struct ki_block body = *b;

	body.count -= leaves && !(last->flags & KI_INSN_EXTABLE);
	return ki_cover_straight(fn, &body);
}

bool ki_cover_contained(const struct ki_function *fn)
{
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (in->kind == KI_INSN_BAD)
			return false;
		if (in->flags & KI_INSN_RIP && in->target > fn->start && in->target < fn->end)
			return false;
	}
	return true;
}

bool ki_cover_plain(const struct ki_function *fn)
{
	uint32_t tables = 0, jumps = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++)
		jumps += fn->insns[i].kind == KI_INSN_JMP_INDIRECT;
	for (uint32_t e = 0; e < fn->nedges; e++)
		tables += fn->edges[e].kind == KI_EDGE_TAIL_INDIRECT;
	return jumps == tables && ki_cover_contained(fn);
}

static uint32_t npreds(const struct chooser *c, uint32_t b)
{
	return c->cfg->pred_first[b + 1] - c->cfg->pred_first[b];
}

/* Whoever comes to block s came through b right before: over straight blocks, a few at most. */
static bool comes_from(const struct chooser *c, uint32_t b, uint32_t s, unsigned int depth)
{
	if (!s || c->fn->blocks[s].entered || !npreds(c, s) || !depth)
		return false;
	for (uint32_t i = c->cfg->pred_first[s]; i < c->cfg->pred_first[s + 1]; i++) {
		uint32_t p = c->fn->edges[c->cfg->preds[i]].block;

		if (p != b && (!c->straight[p] || !comes_from(c, b, p, depth - 1)))
			return false;
	}
	return true;
}

static bool implied_by_succs(const struct chooser *c, uint32_t b)
{
	const struct ki_block *at = &c->fn->blocks[b];

	if (!c->straight[b] || !at->nedges)
		return false;
	for (uint32_t e = at->first_edge; e < at->first_edge + at->nedges; e++) {
		uint32_t to = c->fn->edges[e].to_block;

		if (to == KI_NONE || to == b || c->rules[to] == KI_RULE_NONE ||
		    !comes_from(c, b, to, DEPTH))
			return false;
	}
	return true;
}

static bool implied_by_preds(const struct chooser *c, uint32_t b)
{
	const struct ki_function *fn = c->fn;

	if (!b || fn->blocks[b].entered || !npreds(c, b))
		return false;
	for (uint32_t i = c->cfg->pred_first[b]; i < c->cfg->pred_first[b + 1]; i++) {
		uint32_t p = fn->edges[c->cfg->preds[i]].block;

		if (p == b || c->rules[p] != KI_RULE_PROBE || !c->straight[p] ||
		    fn->blocks[p].nedges != 1)
			return false;
	}
	return true;
}

static void need_preds(struct chooser *c, uint32_t b)
{
	for (uint32_t i = c->cfg->pred_first[b]; i < c->cfg->pred_first[b + 1]; i++)
		c->needed[c->fn->edges[c->cfg->preds[i]].block] = true;
}

/* From the bottom up, so that what is below has its rule. */
static void choose(struct chooser *c, bool every)
{
	for (uint32_t i = c->cfg->nreached; i--;) {
		uint32_t b = c->cfg->rpo[i];

		if ((!every || c->rules[b] == KI_RULE_NONE) && implied_by_succs(c, b))
			c->rules[b] = KI_RULE_SUCCS;
	}
	for (uint32_t b = 0; b < c->fn->nblocks; b++) {
		bool none = c->rules[b] == KI_RULE_NONE;
		bool spare = !every && c->rules[b] == KI_RULE_PROBE && !c->needed[b];

		if ((none || spare) && implied_by_preds(c, b)) {
			c->rules[b] = KI_RULE_PREDS;
			need_preds(c, b);
		}
	}
}

static bool is_trap(const struct ki_function *fn, const struct ki_spans *spans, uint64_t addr)
{
	const struct ki_span *s = ki_spans_at(spans, fn, addr);

	return s && s->board == KI_BOARD_TRAP;
}

static int find_places(const struct ki_function *fn, const struct ki_spans *spans, bool no_traps,
		       uint8_t *rules, struct ki_place *places, struct ki_err *err)
{
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = b};
		struct ki_place *v;
		size_t n;
		int ret = ki_point_places(fn, spans, &pt, &v, &n, err);

		if (ret)
			return ret;
		places[b] = v[0];
		if (no_traps && !v[0].reason && is_trap(fn, spans, v[0].addr))
			places[b].reason = KI_R_NO_TRAP;
		rules[b] = places[b].reason ? KI_RULE_NONE : KI_RULE_PROBE;
		free(v);
	}
	return 0;
}

int ki_cover_choose(const struct ki_function *fn, const struct ki_spans *spans, unsigned int how,
		    uint8_t *rules, struct ki_place *places, struct ki_err *err)
{
	struct chooser c = {.fn = fn, .rules = rules};
	struct ki_cfg *cfg = NULL;
	int ret = find_places(fn, spans, how & KI_CHOOSE_NO_TRAPS, rules, places, err);

	if (ret || !ki_cover_plain(fn))
		return ret;
	c.straight = calloc(fn->nblocks, 2);
	if (!c.straight)
		return ki_err_set(err, -ENOMEM, fn->start, "coverage: out of memory");
	c.needed = c.straight + fn->nblocks;
	ret = ki_cfg_new(fn, &cfg, err);
	if (!ret) {
		c.cfg = cfg;
		for (uint32_t b = 0; b < fn->nblocks; b++)
			c.straight[b] = ki_cover_straight(fn, &fn->blocks[b]);
		choose(&c, how & KI_CHOOSE_EVERY);
	}
	ki_cfg_free(cfg);
	free(c.straight);
	return ret;
}
