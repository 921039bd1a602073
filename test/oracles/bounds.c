// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boundaries of instructions: ours in blocks are objdump's, and what objdump sees outside of
 * blocks is padding. And every place where the kernel's unwind table changes is a boundary.
 *
 * objdump decodes a section from its first byte on and knows nothing of symbols in vmlinux, which
 * has none: where data stands in text it may take some instructions to come back into step.
 */
#include <string.h>

#include "oracles.h"

/* fwait is an instruction; objdump writes it and the x87 instruction after it as one. */
static bool is_behind_fwait(const struct ki_function *fn, const struct ki_insn *in)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start);

	return in->addr > fn->start && p[-1] == 0x9b && (*p & 0xf8) == 0xd8;
}

static enum cause cause_of(const struct oracles *o, const struct ki_function *fn,
			   const struct ki_insn *in)
{
	if (is_behind_fwait(fn, in))
		return CAUSE_FWAIT;
	return overlaps(o, in->addr) ? CAUSE_OVERLAP : CAUSE_COUNT;
}

/* A function with as many boundaries more or less as this: which? */
static void tell_ours(struct oracles *o, uint32_t f)
{
	struct ki_function *fn;

	if (ki_function_analyze(o->t, o->functions[f].symbol, &fn, NULL)) {
		differ(o, CAUSE_COUNT, o->functions[f].symbol->addr, "no memory");
		return;
	}
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (in->kind == KI_INSN_PAD || listing_at(&o->listing, in->addr))
			continue;
		differ(o, cause_of(o, fn, in), in->addr, "no boundary, says objdump");
	}
	ki_function_free(fn);
}

static void check_outside(struct oracles *o, uint32_t f, const struct line *l)
{
	if (l->kind == LINE_PAD)
		return;
	differ(o, o->functions[f].flags & KI_FUNCTION_PARSED ? CAUSE_CODE_OUTSIDE : CAUSE_UNPARSED,
	       l->addr, "code outside of blocks");
}

/* Lines from *i on up to `end`, which are, or are not, in a block; how many. */
static uint32_t check_lines(struct oracles *o, uint32_t f, size_t *i, uint64_t end, bool inside)
{
	const struct listing *l = &o->listing;
	uint32_t n = 0;

	for (; *i < l->lines.n && l->lines.v[*i].addr < end; ++*i, n++) {
		const struct line *x = &l->lines.v[*i];

		if (!inside)
			check_outside(o, f, x);
		else if (!ki_program_insn_at(o->p, x->addr))
			differ(o, CAUSE_BOUNDARY, x->addr, "a boundary, says objdump");
	}
	return n;
}

static void check_function(struct oracles *o, uint32_t f)
{
	const struct ki_program_function *pf = &o->functions[f];
	size_t i = listing_from(&o->listing, pf->symbol->addr);
	uint32_t n = 0;

	for (uint32_t b = 0; b < pf->nblocks; b++) {
		struct ki_program_block block;

		if (ki_program_block(o->p, pf->first_block + b, &block))
			return;
		check_lines(o, f, &i, block.start, false);
		n += check_lines(o, f, &i, block.end, true);
	}
	check_lines(o, f, &i, pf->symbol->addr + pf->symbol->size, false);
	looked(o, pf->ninsns);
	if (n != pf->ninsns)
		tell_ours(o, f);
}

void check_bounds(struct oracles *o)
{
	for (uint32_t f = 0; f < o->nfunctions; f++)
		check_function(o, f);
}

/* An address between blocks: after the code of a function, or padding. */
static bool is_padding(const struct oracles *o, uint64_t addr)
{
	size_t i = listing_from(&o->listing, addr);

	return ki_program_block_at(o->p, addr) == KI_NONE &&
	       (i == o->listing.lines.n || o->listing.lines.v[i].addr == addr);
}

void check_unwind(struct oracles *o)
{
	for (size_t i = 0; i < o->image.unwind.n; i++) {
		uint64_t addr = o->image.unwind.v[i];

		looked(o, 1);
		if (ki_program_function_at(o->p, addr) == KI_NONE)
			differ(o, CAUSE_NO_SYMBOL, addr, "no function there");
		else if (!ki_program_insn_at(o->p, addr) && !is_padding(o, addr))
			differ(o,
			       image_alternative(&o->image, addr) ? CAUSE_ALTERNATIVE
								  : CAUSE_UNWIND,
			       addr, "a boundary, says the unwind table");
	}
}
