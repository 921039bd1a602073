// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Points: before which instructions code has to stand so that it runs when the block is entered,
 * when the function is left, when an instruction is reached.
 *
 * An entry or block need not be caught at its first byte: any instruction of the block will do
 * that is executed exactly when the block is. So the ftrace nop and endbr64 are stepped over,
 * and inside the window we settle where the flags are dead, which makes a counter one
 * instruction. What may leave the block on the way (an exception-table entry, a static branch, a
 * call) is never stepped over; code may stand before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/splice.h"

struct places {
	struct ki_place *v;
	size_t n;
};

static bool flags_live(const struct ki_insn *in)
{
	return (in->flags & KI_INSN_FLAGS_LIVE) != 0;
}

/* Why code cannot stand before this instruction, seen alone. */
static unsigned int obstacle(const struct ki_function *fn, const struct ki_span *s,
			     const struct ki_insn *in)
{
	struct ki_copy copy;

	if (fn->reason != KI_R_OK)
		return fn->reason;
	if (s)
		return KI_R_OK;
	return ki_relocate(in, fn->bytes + (in->addr - fn->start), &copy);
}

/* Executed once whenever the block is, and what follows it in the block too. */
static bool may_step_over(const struct ki_insn *in)
{
	if (in->reason == KI_R_FTRACE_SITE || in->reason == KI_R_ENDBR)
		return true;
	return in->kind == KI_INSN_PLAIN && !(in->flags & KI_INSN_EXTABLE) &&
	       (in->reason == KI_R_OK || in->reason == KI_R_LOCK_PREFIX);
}

/* From instruction i of a window on, the first before which the flags are dead; else i. */
static const struct ki_insn *settle(const struct ki_function *fn, const struct ki_span *s,
				    uint32_t i)
{
	for (uint32_t k = i; k < s->first + s->count; k++) {
		if (!flags_live(&fn->insns[k]))
			return &fn->insns[k];
		if (!may_step_over(&fn->insns[k]))
			break;
	}
	return &fn->insns[i];
}

static struct ki_place block_place(const struct ki_function *fn, const struct ki_spans *spans,
				   const struct ki_block *b)
{
	struct ki_place place = {.addr = b->start, .reason = fn->reason};

	for (uint32_t i = b->first; !fn->reason && i < b->first + b->count; i++) {
		const struct ki_insn *in = &fn->insns[i];
		const struct ki_span *s = ki_spans_at(spans, fn, in->addr);
		unsigned int why = obstacle(fn, s, in);

		if (why == KI_R_OK) {
			in = settle(fn, s, i);
			return (struct ki_place){.addr = in->addr, .flags_live = flags_live(in)};
		}
		/* What stops us counts for more than what was stepped over before. */
		if (place.reason == KI_R_OK || !may_step_over(in)) {
			place.addr = in->addr;
			place.reason = why;
		}
		if (!may_step_over(in))
			break;
	}
	return place;
}

static struct ki_place insn_place(const struct ki_function *fn, const struct ki_spans *spans,
				  const struct ki_insn *in)
{
	return (struct ki_place){
		.addr = in->addr,
		.reason = obstacle(fn, ki_spans_at(spans, fn, in->addr), in),
		.flags_live = flags_live(in),
	};
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

static bool leaves(const struct ki_function *fn, const struct ki_insn *in)
{
	switch (in->kind) {
	case KI_INSN_RET:
	case KI_INSN_JMP_INDIRECT:
		return true;
	case KI_INSN_JMP:
	case KI_INSN_JCC:
		return (in->target < fn->start || in->target >= fn->end) &&
		       !same_family(fn, in->target);
	default:
		return false;
	}
}

static int exit_places(const struct ki_function *fn, const struct ki_spans *spans,
		       struct places *out)
{
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_block *blk = &fn->blocks[b];
		const struct ki_insn *in = fn->insns + blk->first + blk->count;
		struct ki_place *v;

		if (!blk->count || !leaves(fn, --in))
			continue;
		v = realloc(out->v, (out->n + 1) * sizeof(*v));
		if (!v)
			return -ENOMEM;
		out->v = v;
		v[out->n] = insn_place(fn, spans, in);
		if (in->kind == KI_INSN_JCC && v[out->n].reason == KI_R_OK)
			v[out->n].reason = KI_R_TAIL_JCC;
		out->n++;
	}
	return 0;
}

static int one_place(struct places *out, struct ki_place place)
{
	out->v = malloc(sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	out->v[0] = place;
	out->n = 1;
	return 0;
}

static int insn_places(const struct ki_function *fn, const struct ki_spans *spans, uint64_t addr,
		       struct places *out, struct ki_err *err)
{
	const struct ki_insn *in = ki_function_insn_at(fn, addr);

	if (!in)
		return ki_err_reason(err, KI_R_NOT_BOUNDARY, addr, "%s+0x%llx",
				     fn->symbol ? fn->symbol->name : "function",
				     (unsigned long long)(addr - fn->start));
	return one_place(out, insn_place(fn, spans, in));
}

static int block_places(const struct ki_function *fn, const struct ki_spans *spans, uint32_t block,
			struct places *out, struct ki_err *err)
{
	if (block == 0 && !fn->nblocks)
		return one_place(
			out, (struct ki_place){.addr = fn->start,
					       .reason = fn->reason ? fn->reason : KI_R_NO_CODE});
	if (block >= fn->nblocks)
		return ki_err_set(err, -EINVAL, fn->start, "%s has no block %u: it has %u, from 0",
				  fn->symbol ? fn->symbol->name : "function", block, fn->nblocks);
	return one_place(out, block_place(fn, spans, &fn->blocks[block]));
}

int ki_point_places(const struct ki_function *fn, const struct ki_spans *spans,
		    const struct ki_point *pt, struct ki_place **out, size_t *count,
		    struct ki_err *err)
{
	struct places found = {0};
	int ret = -EINVAL;

	switch (pt->kind) {
	case KI_POINT_ENTRY:
		ret = block_places(fn, spans, 0, &found, err);
		break;
	case KI_POINT_BLOCK:
		ret = block_places(fn, spans, pt->block, &found, err);
		break;
	case KI_POINT_INSN:
		ret = insn_places(fn, spans, pt->addr, &found, err);
		break;
	case KI_POINT_EXIT:
		ret = exit_places(fn, spans, &found);
		break;
	default:
		break;
	}
	*out = found.v;
	*count = found.n;
	if (ret) {
		free(found.v);
		*out = NULL;
		*count = 0;
		ki_err_set(err, ret, fn->start, "point: %s", strerror(-ret));
	}
	return ret;
}
