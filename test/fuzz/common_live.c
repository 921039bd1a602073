/* SPDX-License-Identifier: GPL-2.0-only */
#include "common_live.h"

#include <errno.h>
#include <stdlib.h>

#include "code/program/program.h"
#include "common_cfg.h"
#include "common_program.h"

/* Blocks up to which all of them are gone over again and again; functions of so many
   instructions are asked for each of them. */
#define MOST_BLOCKS 20000
#define MOST_ASKED  48

struct returns {
	const struct ki_program *p;
	bool *block, *function;
};

static bool comes_back(const struct returns *r, uint32_t callee)
{
	return callee == KI_NONE || r->function[callee];
}

/* Does a call of block b lead to where nothing comes back from? Or does it end in a tail call? */
static void look_at_calls(const struct returns *r, uint32_t b, bool *stays, bool *tail)
{
	const struct ki_program_function *pf = &r->p->functions[r->p->blocks[b].function];
	struct ki_program_block block;

	*stays = *tail = false;
	check(!ki_program_block(r->p, b, &block));
	for (uint32_t c = pf->first_call; c < pf->first_call + pf->ncalls; c++) {
		struct ki_program_call call;

		check(!ki_program_call(r->p, c, &call));
		if (call.from < block.start || call.from >= block.end)
			continue;
		if (call.kind == KI_EDGE_CALL)
			*stays |= !comes_back(r, call.callee);
		else if (call.kind != KI_EDGE_CALL_INDIRECT)
			*tail |= comes_back(r, call.callee);
	}
}

static bool ends_in_int3(const struct ki_program *p, uint32_t b)
{
	struct ki_program_block block;
	struct ki_decoded d = {0};
	uint8_t bytes[15];

	check(!ki_program_block(p, b, &block));
	for (uint64_t at = block.start; at < block.end; at += d.in.len) {
		size_t n = block.end - at < sizeof(bytes) ? block.end - at : sizeof(bytes);

		check(!ki_target_read(p->target, at, bytes, n, KI_VIEW_ORIG, NULL));
		ki_decode(bytes, n, at, &d);
	}
	return d.traits & KI_TRAIT_INT3;
}

static bool leads_back(const struct returns *r, uint32_t b)
{
	const struct ki_pblock *block = &r->p->blocks[b];
	bool stays, tail;

	look_at_calls(r, b, &stays, &tail);
	if (!stays && ends_in_int3(r->p, b))
		return true;
	for (uint32_t e = block->first_edge; e < block[1].first_edge; e++) {
		struct ki_program_edge edge;
		uint32_t to;

		check(!ki_program_edge(r->p, e, &edge));
		if (stays && edge.kind != KI_EDGE_FIXUP)
			continue;
		if (edge.kind == KI_EDGE_RETURN || edge.to_block == KI_NONE)
			return true;
		to = r->p->blocks[edge.to_block].function;
		if (r->block[edge.to_block] || (to != block->function && r->function[to]))
			return true;
	}
	return tail && !stays;
}

static bool round_of_blocks(struct returns *r)
{
	bool changed = false;

	for (uint32_t b = r->p->nblocks; b-- > 0;) {
		uint32_t f = r->p->blocks[b].function;

		if (r->block[b] || !leads_back(r, b))
			continue;
		r->block[b] = changed = true;
		if (b == r->p->functions[f].first_block)
			r->function[f] = true;
	}
	return changed;
}

void check_returns(const struct ki_program *p)
{
	struct returns r = {.p = p};

	if (p->nblocks > MOST_BLOCKS)
		return;
	r.block = calloc(p->nblocks + 1ull, sizeof(*r.block));
	r.function = calloc(p->nfunctions + 1ull, sizeof(*r.function));
	check(r.block && r.function);
	for (uint32_t f = 0; f < p->nfunctions; f++)
		r.function[f] =
			!(p->functions[f].flags & KI_FUNCTION_PARSED) || !p->functions[f].nblocks;
	while (round_of_blocks(&r))
		;
	for (uint32_t f = 0; f < p->nfunctions; f++)
		check(r.function[f] == !(p->functions[f].flags & KI_FUNCTION_NORETURN));
	free(r.block);
	free(r.function);
}

/* Nothing happens at the instruction but what it does itself. */
static bool is_plain(const struct ki_insn *in)
{
	return in->kind == KI_INSN_PLAIN && in->reason == KI_R_OK && !(in->flags & KI_INSN_EXTABLE);
}

static void check_insns(const struct ki_function *fn, const ki_regset *live)
{
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_block *block = &fn->blocks[b];

		for (uint32_t k = 0; k < block->count; k++) {
			uint32_t i = block->first + k;
			struct ki_decoded d;
			ki_regset want;

			check(live[i] & KI_REGSET_LOW(KI_RSP) && !(live[i] & ~KI_REGSET_ALL));
			check((live[i] & KI_REGSET_REG(KI_RSP)) == KI_REGSET_REG(KI_RSP));
			if (!is_plain(&fn->insns[i]) || k + 1 == block->count)
				continue;
			ki_decode(fn->bytes + (fn->insns[i].addr - fn->start),
				  fn->end - fn->insns[i].addr, fn->insns[i].addr, &d);
			want = d.use | (live[i + 1] & ~d.def);
			check((want | KI_REGSET_REG(KI_RSP)) == (live[i] | KI_REGSET_REG(KI_RSP)));
		}
	}
}

static void ask_each(const struct ki_program *p, const struct ki_function *fn,
		     const ki_regset *live)
{
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		ki_regset one;
		int ret = ki_live_at(p, fn->insns[i].addr, &one, NULL);

		if (ret)
			check(ret < 0 && live[i] == KI_REGSET_ALL);
		else
			check(one == live[i]);
	}
}

static void check_in(const struct ki_program *p, uint32_t f, uint32_t *asked)
{
	const struct ki_program_function *pf = &p->functions[f];
	struct ki_function *fn;
	ki_regset *live;

	check(!ki_function_analyze(p->target, pf->symbol, &fn, NULL));
	check_function(fn);
	check_cfg(fn);
	live = malloc((fn->ninsns + 1ull) * sizeof(*live));
	check(live != NULL);
	check(!ki_program_live(p, fn, live, NULL));
	if (!(pf->flags & KI_FUNCTION_PARSED))
		for (uint32_t i = 0; i < fn->ninsns; i++)
			check(live[i] == KI_REGSET_ALL);
	/* Blocks that only the program knows of are not in fn. */
	else if (fn->nblocks == pf->nblocks && !p->entries.n)
		check_insns(fn, live);
	if (fn->ninsns <= MOST_ASKED && *asked < 3 * MOST_ASKED) {
		*asked += fn->ninsns;
		ask_each(p, fn, live);
	}
	free(live);
	ki_function_free(fn);
}

void check_liveness(const struct ki_program *p)
{
	uint32_t asked = 0;

	for (uint32_t f = 0; f < p->nfunctions; f++)
		check_in(p, f, &asked);
}
