// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Moving a whole function: all its windows are linked into one patch (a group), so that control,
 * once it is in there, goes from block to block without coming back to the text. A chunk then
 * costs its own instructions and nothing else.
 *
 * Control leaves the patch where it must: a call is executed in the text, or has the original
 * return address, since none may point into a patch, so the callee returns into the text; an
 * instruction that
 * may not be displaced (a static branch, a static call, the ftrace site) is run where it is; a
 * fault goes to its fixup. Where control comes back into the text there has to be a springboard:
 *
 *   - the first instruction, or what follows those at the entry that may not be displaced
 *   - after each call, unless the function is laid out: then calls are made from the patch
 *   - after, and at the targets of, what may not be displaced
 *   - at fixups, at the targets of jump tables, and where other functions jump to
 *   - at what nothing is seen to lead to: after an iret, which takes its target from the stack
 *   - and every host in whose tail one of these bounces
 *
 * All other windows need none. The text that they leave is still right if somebody is there, a
 * task that was there before: it runs uncounted up to the next springboard.
 */
#include <errno.h>
#include <stdlib.h>

#include "splice/move.h"

struct boards {
	const struct ki_function *fn;
	const struct ki_spans *spans;
	bool *v;
	bool laid;
	bool inside; /* control would come into the middle of a window */
};

static void come_to(struct boards *b, uint64_t addr)
{
	const struct ki_span *s;

	if (addr < b->fn->start || addr >= b->fn->end)
		return;
	s = ki_spans_at(b->spans, b->fn, addr);
	if (!s)
		return; /* run in the text: what follows it is looked at for itself */
	b->inside |= s->addr != addr;
	b->v[s - b->spans->v] = true;
}

static bool goes_on(const struct ki_insn *in)
{
	switch (in->kind) {
	case KI_INSN_JMP:
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_RET:
	case KI_INSN_BAD:
	case KI_INSN_PAD:
		return false;
	default:
		return !(in->flags & KI_INSN_NORETURN);
	}
}

static bool is_call(const struct ki_insn *in)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT;
}

static void look_at(struct boards *b, const struct ki_insn *in)
{
	bool in_text = !ki_spans_at(b->spans, b->fn, in->addr);

	if (in->kind == KI_INSN_PAD)
		return;
	if ((in_text || (is_call(in) && !b->laid)) && goes_on(in))
		come_to(b, in->addr + in->len);
	if (in_text && !(in->flags & KI_INSN_RIP))
		come_to(b, in->target);
}

/* Blocks that no edge of the function leads to. */
static int look_at_unled(struct boards *b)
{
	const struct ki_function *fn = b->fn;
	bool *led = calloc(fn->nblocks, sizeof(*led));

	if (!led)
		return -ENOMEM;
	for (uint32_t i = 0; i < fn->nedges; i++)
		if (fn->edges[i].to_block != KI_NONE)
			led[fn->edges[i].to_block] = true;
	for (uint32_t i = 0; i < fn->nblocks; i++)
		if (!led[i])
			come_to(b, fn->blocks[i].start);
	free(led);
	return 0;
}

int ki_move_boards(const struct ki_function *fn, const struct ki_spans *spans, bool laid,
		   bool *boarded)
{
	struct boards b = {.fn = fn, .spans = spans, .v = boarded, .laid = laid};

	if (look_at_unled(&b))
		return -ENOMEM;
	come_to(&b, fn->start);
	for (uint32_t i = 0; i < fn->ninsns; i++)
		look_at(&b, &fn->insns[i]);
	for (uint32_t i = 0; i < fn->nblocks; i++)
		if (fn->blocks[i].entered)
			come_to(&b, fn->blocks[i].start);
	for (uint32_t i = 0; i < fn->nedges; i++)
		if (fn->edges[i].kind == KI_EDGE_FIXUP || fn->edges[i].kind == KI_EDGE_TABLE)
			come_to(&b, fn->edges[i].to);
	for (size_t i = 0; i < spans->n; i++)
		if (boarded[i] && spans->v[i].host != KI_NONE)
			boarded[spans->v[i].host] = true;
	return b.inside ? -EINVAL : 0;
}

/* Does a window of these places, none of them moved, have no other springboard? */
static bool traps_single(const struct ki_function *fn, const struct ki_spans *spans,
			 const struct ki_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ki_span *s =
			places[i].reason ? NULL : ki_spans_at(spans, fn, places[i].addr);

		if (s && s->board == KI_BOARD_TRAP)
			return true;
	}
	return false;
}

int ki_move_spares(const struct ki_function *fn, const struct ki_spans *spans,
		   const struct ki_place *places, size_t n, bool *spares)
{
	bool *boarded;
	int ret;

	*spares = false;
	if (fn->reason || spans->n < 2 || !traps_single(fn, spans, places, n))
		return 0;
	boarded = calloc(spans->n, sizeof(*boarded));
	if (!boarded)
		return -ENOMEM;
	ret = ki_move_boards(fn, spans, false, boarded);
	*spares = !ret;
	for (size_t i = 0; i < spans->n; i++)
		if (boarded[i] && spans->v[i].board == KI_BOARD_TRAP)
			*spares = false;
	free(boarded);
	return ret == -ENOMEM ? ret : 0;
}
