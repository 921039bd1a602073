/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Liveness of the arithmetic flags inside one function, exactly for each flag.
 *
 * Calls, returns and jumps to functions neither take nor give flags: the ABI says so, and what
 * a compiler made keeps to it. Assembler code need not: the emulations of cmpxchg return ZF, and
 * KVM's stubs (fastop) take all flags and return them. So in a kernel, where functions that a
 * compiler made are known by their ftrace sites, the others give flags to whom they call, return
 * or jump. Wherever control goes to a place that is not looked at, all flags are live.
 */
#include "code/function/function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/live/fixpoint.h"

struct flow {
	struct ki_analysis *a;
	uint8_t *in;	 /* flags live at the start of each block */
	uint8_t outside; /* flags live where it calls, returns, and jumps to others */
};

static uint8_t live_at(const struct flow *f, uint64_t target)
{
	const struct ki_function *fn = f->a->fn;
	const struct ki_symbol *sym;
	const struct ki_block *b;

	if (ki_function_holds(fn, target)) {
		b = ki_function_block_at(fn, target);
		return b && b->start == target ? f->in[b - fn->blocks] : KI_FLAG_ALL;
	}
	sym = ki_target_symbol_at(fn->target, target);
	/* A cold part is a function only by name. */
	if (!sym || sym->addr != target || ki_symbol_is_cold(sym))
		return KI_FLAG_ALL;
	return f->outside;
}

/* After the last instruction of a block that control may fall out of. */
static uint8_t live_behind(const struct flow *f, const struct ki_block *b)
{
	const struct ki_function *fn = f->a->fn;
	const struct ki_block *next = b + 1;

	if (next < fn->blocks + fn->nblocks && next->start == b->end)
		return f->in[next - fn->blocks];
	return KI_FLAG_ALL;
}

/* After instruction i, the last of block b. */
static uint8_t live_out(const struct flow *f, const struct ki_block *b, uint32_t i)
{
	const struct ki_insn *in = &f->a->fn->insns[i];

	switch (in->kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
		return live_at(f, in->target) | live_behind(f, b);
	case KI_INSN_JMP:
		return live_at(f, in->target);
	case KI_INSN_RET:
		return f->outside;
	case KI_INSN_JMP_INDIRECT:
		return f->a->extra[i].table || f->a->fn->reason == KI_R_COMPUTED_GOTO ? KI_FLAG_ALL
										      : f->outside;
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
		return f->outside;
	default:
		return live_behind(f, b);
	}
}

/* What an exception at instruction i finds at its fixup. */
static uint8_t live_at_fixup(const struct flow *f, const struct ki_insn *in)
{
	const struct ki_reserved_row *rows;
	uint8_t live = 0;
	size_t n;

	if (!ki_insn_has_fixup(in))
		return 0;
	rows = ki_analysis_rows(f->a, in, &n);
	for (size_t r = 0; r < n; r++)
		if (rows[r].reason == KI_R_EXTABLE && rows[r].target)
			live |= live_at(f, rows[r].target);
	return live;
}

static uint8_t before(const struct flow *f, uint32_t i, uint8_t live)
{
	const struct ki_insn *in = &f->a->fn->insns[i];
	uint8_t read = ki_regset_flags(f->a->extra[i].use);
	uint8_t written = ki_regset_flags(f->a->extra[i].def);

	if (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT)
		return read | f->outside;
	return (live & (uint8_t)~written) | read | live_at_fixup(f, in);
}

static uint8_t through(const struct flow *f, const struct ki_block *b, bool mark)
{
	uint32_t last = b->first + b->count - 1;
	uint8_t live = live_out(f, b, last);

	for (uint32_t i = last + 1; i-- > b->first;) {
		live = before(f, i, live);
		if (mark && live)
			f->a->fn->insns[i].flags |= KI_INSN_FLAGS_LIVE;
	}
	return live;
}

static bool step(void *arg, uint32_t b)
{
	struct flow *f = arg;
	uint8_t live = through(f, &f->a->fn->blocks[b], false), was = f->in[b];

	f->in[b] = live;
	return live != was;
}

static uint32_t first_edge(void *arg, uint32_t b)
{
	const struct ki_function *fn = ((struct flow *)arg)->a->fn;

	return b < fn->nblocks ? fn->blocks[b].first_edge : fn->nedges;
}

static uint32_t edge_to(void *arg, uint32_t e)
{
	return ((struct flow *)arg)->a->fn->edges[e].to_block;
}

int ki_flags_live(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;
	struct flow f = {.a = a, .in = calloc(fn->nblocks + 1, 1)};
	struct ki_fixpoint all = {&f, fn->nblocks, fn->nedges, step, first_edge, edge_to};

	if (!f.in)
		return -ENOMEM;
	f.outside = ki_function_gives_flags(fn) ? KI_FLAG_ALL : 0;
	ki_fixpoint(&all);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		through(&f, &fn->blocks[b], true);
	free(f.in);
	return 0;
}

/* The first block is marked. others: all else is live; not others: none is, and its marks go. */
static void mark_all(struct ki_function *fn, bool others)
{
	const uint32_t first = fn->blocks[0].first, end = first + fn->blocks[0].count;

	for (uint32_t i = first; !others && i < end; i++)
		fn->insns[i].flags &= (uint8_t)~KI_INSN_FLAGS_LIVE;
	for (uint32_t i = 0; others && i < first; i++)
		fn->insns[i].flags |= KI_INSN_FLAGS_LIVE;
	for (uint32_t i = end; others && i < fn->ninsns; i++)
		fn->insns[i].flags |= KI_INSN_FLAGS_LIVE;
}

/*
 * As if all flags were live wherever blocks begin. If they are dead at the entry all the same, the
 * first block writes them itself; if they are not, all blocks are looked at.
 */
int ki_flags_at_entry(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;
	struct flow f = {.a = a};
	uint8_t live;

	if (!fn->nblocks)
		return 0;
	f.in = malloc(fn->nblocks + 1);
	if (!f.in)
		return -ENOMEM;
	memset(f.in, KI_FLAG_ALL, fn->nblocks + 1);
	f.outside = ki_function_gives_flags(fn) ? KI_FLAG_ALL : 0;
	live = through(&f, &fn->blocks[0], true);
	free(f.in);
	mark_all(fn, !live);
	if (!live)
		return 0;
	return ki_analysis_whole(a) ? -ENOMEM : ki_flags_live(a);
}
