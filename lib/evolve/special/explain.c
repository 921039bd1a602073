// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a version is, in text.
 */
#include <inttypes.h>

#include "evolve/special/inside.h"

/* "rsi = 1, edx = 0" */
static void print_known(const struct ki_constants *c, FILE *f)
{
	const char *between = "";

	for (unsigned int r = 0; r < 16; r++) {
		char name[64];

		if (!(c->half & 1u << r))
			continue;
		ki_regset_format(KI_REGSET_REG(r), name, sizeof(name));
		fprintf(f, "%s%s%s = %" PRId64, between, name,
			c->known & 1u << r ? "" : " (32 bits)",
			c->known & 1u << r ? (int64_t)c->v[r] : (int64_t)(int32_t)c->v[r]);
		between = ", ";
	}
}

static const char *way_of(const struct ki_fold_insn *x)
{
	return x->action == KI_FOLD_JUMP ? "always" : "never";
}

/* Branches with one way, and why the way is known; blocks that are not there. */
static void print_branches(const struct ki_folded *folded, FILE *f)
{
	const struct ki_function *fn = folded->fn;

	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const uint32_t last = fn->blocks[b].first + fn->blocks[b].count - 1;
		const struct ki_fold_insn *x = &folded->insns[last];
		char text[128];

		if (!folded->blocks[b].reached || folded->blocks[b].left || !ki_fold_branches(x) ||
		    x->action == KI_FOLD_KEEP)
			continue;
		ki_insn_format(fn, &fn->insns[last], text, sizeof(text));
		fprintf(f, "  +0x%" PRIx64 " %s: %s%s\n", fn->insns[last].addr - fn->start, text,
			way_of(x), x->site ? ", its key is write-protected" : "");
	}
}

static void print_left(const struct ki_folded *folded, FILE *f)
{
	const struct ki_function *fn = folded->fn;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		if (folded->blocks[b].reached && folded->blocks[b].left)
			fprintf(f, "  +0x%" PRIx64 " is not copied: the original's goes on there\n",
				fn->blocks[b].start - fn->start);
}

static void print_blocks(const struct ki_folded *folded, FILE *f)
{
	uint32_t gone = 0;

	for (uint32_t b = 0; b < folded->fn->nblocks; b++)
		gone += !folded->blocks[b].reached;
	fprintf(f,
		": %" PRIu32 " instructions, %" PRIu32 " dropped; %" PRIu32 " of %" PRIu32
		" blocks are not reached\n",
		folded->kept, folded->dropped, gone, folded->fn->nblocks);
}

void ki_special_explain(const struct ki_special *s, FILE *f)
{
	for (size_t i = 0; i < s->copies.n; i++) {
		const struct ki_folded *folded = &s->code.v[i].folded;

		fprintf(f, "%s with ", folded->fn->symbol->name);
		print_known(&s->copies.v[i].entry, f);
		print_blocks(folded, f);
		print_branches(folded, f);
		print_left(folded, f);
	}
	fprintf(f,
		"static branches %zu, static calls %zu, what may fault %zu, BUGs and WARNs %zu\n",
		s->jumps.n, s->calls.n, s->faults.n, s->bugs.n);
}
