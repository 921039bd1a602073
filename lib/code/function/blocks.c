/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Basic blocks, and the padding between them.
 */
#include "code/function/function.h"

#include <string.h>

/* How far the kernel's image may go on after its text, and where modules begin with KASLR. */
#define IMAGE_TAIL (64ull << 20)
#define MODULES	   0xffffffffc0000000ull

#define FUNCTION_ALIGN 16

/* How control goes on after an instruction. */
enum flow {
	FLOW_ON,    /* to the next one, in the same block */
	FLOW_SPLIT, /* to the next one too, which begins a block */
	FLOW_TRAP,  /* maybe to the next one, but never to an int3 */
	FLOW_END,   /* not to the next one */
};

struct builder {
	struct ki_analysis *a;
	bool open;     /* the last block is not finished */
	bool proof;    /* something is known to lead into it */
	uint32_t code; /* the first instruction that is no filler, of those from `filler` on */
	uint32_t filler;
};

void ki_blocks_leaders(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (in->kind == KI_INSN_PLAIN)
			continue;
		switch (in->kind) {
		case KI_INSN_JCC:
		case KI_INSN_JMP:
		case KI_INSN_LOOP:
		case KI_INSN_CALL:
			if (ki_function_holds(fn, in->target))
				ki_analysis_leader(a, in->target);
			break;
		}
	}
	for (size_t r = 0; r < a->nrows; r++) {
		const struct ki_reserved_row *row = &a->rows[r];

		if ((row->reason == KI_R_JUMP_LABEL || row->reason == KI_R_EXTABLE) &&
		    ki_function_holds(fn, row->addr) && ki_function_holds(fn, row->target))
			ki_analysis_leader(a, row->target);
	}
}

static bool filler(const struct ki_analysis *a, uint32_t i)
{
	return a->extra[i].traits & KI_TRAIT_FILLER && !a->extra[i].leader &&
	       !(a->fn->insns[i].flags & KI_INSN_JUMP_LABEL);
}

/*
 * A call that does not return: nothing but filler follows, up to the end of the function, or,
 * with an int3 in front, up to a place that something else jumps to. (Filler of nops alone in
 * front of a leader may also be the alignment of a loop.) Or int3 up to the place of the next
 * function: some functions have lost their symbol.
 */
static bool no_return(const struct ki_analysis *a, uint32_t i)
{
	const struct ki_insn *insns = a->fn->insns;
	uint32_t n = a->fn->ninsns, next = i + 1;

	while (next < n && filler(a, next) && a->extra[next].traits & KI_TRAIT_INT3)
		next++;
	if (next < n && next > i + 1 && insns[next].addr % FUNCTION_ALIGN == 0)
		return true;
	while (next < n && filler(a, next))
		next++;
	if (next == n)
		return true;
	return a->extra[next].leader && a->extra[i + 1].traits & KI_TRAIT_INT3 && next > i + 1;
}

/*
 * Nothing but filler follows, up to the end of the function: nobody goes on there. What was found
 * of one trap is remembered: there may be many, and nothing but filler between them.
 */
static bool is_last(struct builder *b, uint32_t i)
{
	if (!b->code || i + 1 < b->filler || i + 1 > b->code) {
		b->filler = b->code = i + 1;
		while (b->code < b->a->fn->ninsns && filler(b->a, b->code))
			b->code++;
	}
	return b->code == b->a->fn->ninsns;
}

static enum flow flow_of(struct builder *b, uint32_t i)
{
	struct ki_analysis *a = b->a;
	struct ki_insn *in = &a->fn->insns[i];

	switch (in->kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
		return FLOW_SPLIT;
	case KI_INSN_JMP:
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_RET:
	case KI_INSN_BAD:
		return FLOW_END;
	case KI_INSN_TRAP:
		return is_last(b, i) ? FLOW_END : FLOW_TRAP;
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
		if (!no_return(a, i))
			return FLOW_ON;
		in->flags |= KI_INSN_NORETURN;
		return FLOW_END;
	}
	return FLOW_ON;
}

static void set_padding(struct ki_insn *in)
{
	in->kind = KI_INSN_PAD;
	in->reason = KI_R_OK;
	ki_refuse(&in->reason, KI_R_NO_CODE);
}

static int begin(struct builder *b, uint32_t i, bool proof)
{
	struct ki_insn *in = &b->a->fn->insns[i];
	struct ki_block block = {.start = in->addr, .first = i, .entered = b->a->extra[i].entered};

	in->block_start = 1;
	b->open = true;
	b->proof = proof;
	return ki_vec_push(&b->a->blocks, block);
}

/* Freed code of the kernel's own start, or data: what lies after the text of its image. */
static bool behind_text(const struct ki_target *t, uint64_t addr)
{
	return t->has_info && addr < MODULES && addr - t->info.text_end < IMAGE_TAIL;
}

/*
 * A breakpoint that can be reached is somebody's, and so is a jump out of all text: what they
 * stand on is hidden, and the instructions after may not be those that they seem to be.
 */
static void judge(struct builder *b, const struct ki_insn *in, uint32_t i)
{
	struct ki_target *t = b->a->target;

	if (in->kind == KI_INSN_BAD && b->proof)
		ki_analysis_unparsed(b->a, KI_R_UNDECODABLE);
	if (t->kind == KI_TARGET_IMAGE)
		return;
	if (b->a->extra[i].traits & KI_TRAIT_INT3 ||
	    (in->kind == KI_INSN_JMP && !ki_target_range_at(t, in->target) &&
	     !behind_text(t, in->target)))
		ki_analysis_unparsed(b->a, KI_R_FOREIGN_BREAKPOINT);
}

static inline void extend(struct ki_analysis *a, const struct ki_insn *in)
{
	struct ki_block *last = &a->blocks.v[a->blocks.n - 1];

	last->end = in->addr + in->len;
	last->count++;
}

/* Most are: nothing but the block's next one. Number of the first from i on that is more. */
static uint32_t pass_plain(struct builder *b, uint32_t i)
{
	const struct ki_insn *in = b->a->fn->insns;
	const struct ki_extra *x = b->a->extra;
	const uint32_t first = i, n = b->a->fn->ninsns;
	struct ki_block *last;

	while (i < n && in[i].kind == KI_INSN_PLAIN && !x[i].leader &&
	       !(x[i].traits & KI_TRAIT_INT3))
		i++;
	if (i > first) {
		last = &b->a->blocks.v[b->a->blocks.n - 1];
		last->end = in[i - 1].addr + in[i - 1].len;
		last->count += i - first;
	}
	return i;
}

static int walk(struct builder *b)
{
	struct ki_function *fn = b->a->fn;
	enum flow flow = FLOW_SPLIT;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		struct ki_insn *in;
		const struct ki_extra *x;
		bool reached;

		if (b->open)
			i = pass_plain(b, i);
		if (i == fn->ninsns)
			break;
		in = &fn->insns[i];
		x = &b->a->extra[i];
		reached = flow == FLOW_SPLIT || flow == FLOW_ON ||
			  (flow == FLOW_TRAP && !(x->traits & KI_TRAIT_INT3));

		if (!reached && filler(b->a, i)) {
			set_padding(in);
			continue;
		}
		if (x->leader || !b->open) {
			int ret = begin(b, i, reached || x->leader);

			if (ret)
				return ret;
		}
		judge(b, in, i);
		extend(b->a, in);
		flow = flow_of(b, i);
		b->open = flow == FLOW_ON;
	}
	return 0;
}

/* Only filler, or a prefix that the compiler puts in front of a function: no code. */
static bool is_empty(const struct ki_analysis *a)
{
	const struct ki_function *fn = a->fn;
	const char *name = fn->symbol->name;

	if (strncmp(name, "__pfx_", 6) == 0 || strncmp(name, "__cfi_", 6) == 0)
		return true;
	for (uint32_t i = 0; i < fn->ninsns; i++)
		if (!(a->extra[i].traits & KI_TRAIT_FILLER))
			return false;
	return true;
}

int ki_blocks_build(struct ki_analysis *a)
{
	struct builder b = {.a = a};
	struct ki_function *fn = a->fn;
	int ret;

	if (is_empty(a)) {
		for (uint32_t i = 0; i < fn->ninsns; i++)
			set_padding(&fn->insns[i]);
		ki_refuse(&fn->reason, KI_R_NO_CODE);
		return 0;
	}
	ret = walk(&b);
	fn->blocks = a->blocks.v;
	fn->nblocks = (uint32_t)a->blocks.n;
	return ret;
}
