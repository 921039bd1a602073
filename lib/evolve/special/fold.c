// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Conditional constant propagation over a function's blocks.
 *
 * A block is entered with what all ways to it know. Ways begin at the entry alone, and a branch
 * whose condition is known has one way on: so blocks that only other values lead to are never
 * reached, and what they would forget is still known. Knowledge only becomes less, so it ends.
 *
 * What the kernel finds by its address or changes while it runs is copied where its tables say all
 * of it: a static branch goes both ways, unless its key is write-protected by now; a static call
 * may be of anything; after a fault nothing is known.
 *
 * Some blocks are not copied: those with what must not be moved, or of which the tables do not say
 * enough. Control goes to the original's there, and stays in the original: nothing is known of it,
 * and all registers hold what they would.
 */
#include "evolve/special/fold.h"

#include <errno.h>
#include <stdlib.h>

#define LOCK 0xf0
#define DS   0x3e /* what stands there instead of a lock */

bool ki_fold_is_entry_mark(const struct ki_insn *in)
{
	return in->reason == KI_R_FTRACE_SITE || in->reason == KI_R_ENDBR;
}

static uint8_t site_of(const struct ki_function *fn, const struct ki_insn *in,
		       const struct ki_fold_sites *sites)
{
	const uint8_t first = fn->bytes[in->addr - fn->start];

	if (in->reason == KI_R_LOCK_PREFIX)
		return (first == LOCK || first == DS) && !(in->flags & KI_INSN_EXTABLE)
			       ? KI_SITE_LOCK
			       : KI_SITE_LEFT;
	if (in->reason == KI_R_JUMP_LABEL || in->reason == KI_R_STATIC_CALL ||
	    in->flags & (KI_INSN_EXTABLE | KI_INSN_BUG | KI_INSN_JUMP_LABEL))
		return sites ? sites->about(sites->arg, fn, in) : KI_SITE_LEFT;
	return in->reason || in->kind == KI_INSN_TRAP ? KI_SITE_LEFT : KI_SITE_NONE;
}

static bool may_copy(const struct ki_function *fn, const struct ki_insn *in, uint8_t site)
{
	if (ki_fold_is_entry_mark(in))
		return in->addr < fn->start + 16;
	return site != KI_SITE_LEFT && in->kind != KI_INSN_LOOP && in->kind != KI_INSN_BAD;
}

static bool may_copy_block(struct ki_folded *f, const struct ki_block *b,
			   const struct ki_fold_sites *sites)
{
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		f->insns[i].site = site_of(f->fn, &f->fn->insns[i], sites);
		if (!may_copy(f->fn, &f->fn->insns[i], f->insns[i].site))
			return false;
	}
	return true;
}

static bool is_call(const struct ki_insn *in, uint8_t site)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT ||
	       site == KI_SITE_CALL;
}

/* After instruction i; what its result is is noted. */
static void step(const struct ki_folded *f, uint32_t i, const struct ki_constant_memory *m,
		 struct ki_constants *c)
{
	struct ki_fold_insn *x = &f->insns[i];
	const struct ki_operand *to = &x->op.v[0];
	uint64_t loaded;

	if (ki_fold_is_entry_mark(&f->fn->insns[i]))
		return;
	if (is_call(&f->fn->insns[i], x->site)) {
		ki_constants_call(c);
		return;
	}
	if (ki_fold_branches(x))
		return;
	x->reads = x->op.reads_memory && (x->op.v[1].kind != KI_OPERAND_MEMORY ||
					  !ki_constants_value(c, &x->op.v[1], m, &loaded));
	ki_constants_step(c, &x->op, m);
	x->known = x->op.pure && !x->reads && x->site == KI_SITE_NONE &&
		   to->kind == KI_OPERAND_REGISTER && x->op.writes == 1u << to->reg &&
		   c->known & 1u << to->reg;
	x->value = c->v[to->reg];
}

void ki_fold_before(const struct ki_folded *f, uint32_t block, uint32_t insn,
		    const struct ki_constant_memory *m, struct ki_constants *out)
{
	*out = f->blocks[block].in;
	for (uint32_t i = f->fn->blocks[block].first; i < insn; i++)
		step(f, i, m, out);
}

/* Is an edge of a block's last instruction, whose condition is this, ever taken? */
static bool is_way(const struct ki_edge *e, int taken)
{
	if (e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT ||
	    e->kind == KI_EDGE_TABLE) /* a table leads to the original */
		return false;
	if (e->kind == KI_EDGE_FIXUP)
		return true;
	return taken < 0 || (e->kind == KI_EDGE_FALL) == !taken;
}

static void arrive(struct ki_folded *f, uint32_t to, const struct ki_constants *c, bool *again)
{
	struct ki_fold_block *b = &f->blocks[to];

	if (!b->reached) {
		b->reached = true;
		b->in = *c;
		*again = true;
	} else if (ki_constants_join(&b->in, c)) {
		*again = true;
	}
}

/* The condition of the branch that ends the block: 1, 0; -1: not known, or there is none. */
static int condition_of(const struct ki_folded *f, uint32_t i, const struct ki_constants *c)
{
	const struct ki_fold_insn *x = &f->insns[i];

	if (x->site == KI_SITE_ALWAYS || x->site == KI_SITE_NEVER)
		return x->site == KI_SITE_ALWAYS;
	return x->op.kind == KI_OP_JUMP ? ki_constants_condition(c, x->op.condition) : -1;
}

static void go_on(struct ki_folded *f, uint32_t block, const struct ki_constant_memory *m,
		  bool *again)
{
	const struct ki_block *b = &f->fn->blocks[block];
	const uint32_t last = b->first + b->count - 1;
	const struct ki_constants nothing = {0};
	struct ki_constants c;
	int taken;

	ki_fold_before(f, block, last, m, &c);
	taken = condition_of(f, last, &c);
	step(f, last, m, &c);
	if (ki_fold_branches(&f->insns[last]))
		f->insns[last].action = taken < 0 ? KI_FOLD_KEEP
					: taken	  ? KI_FOLD_JUMP
						  : KI_FOLD_DROP;
	for (uint32_t i = b->first_edge; i < b->first_edge + b->nedges; i++) {
		const struct ki_edge *e = &f->fn->edges[i];

		if (e->to_block != KI_NONE && is_way(e, taken))
			arrive(f, e->to_block, e->kind == KI_EDGE_FIXUP ? &nothing : &c, again);
	}
}

static bool read_all(struct ki_folded *f)
{
	const struct ki_function *fn = f->fn;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];
		const uint8_t *bytes = fn->bytes + (in->addr - fn->start);
		struct ki_decoded d;

		if (in->kind == KI_INSN_BAD || in->kind == KI_INSN_PAD)
			continue;
		ki_decode(bytes, in->len, in->addr, &d);
		f->insns[i].use = d.use;
		f->insns[i].def = d.def;
		if (!ki_operation_read(in, bytes, &f->insns[i].op))
			return false;
	}
	return true;
}

static void count(struct ki_folded *f)
{
	for (uint32_t b = 0; b < f->fn->nblocks; b++) {
		const struct ki_block *block = &f->fn->blocks[b];

		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			const struct ki_fold_insn *x = &f->insns[i];

			if (!f->blocks[b].reached || f->blocks[b].left ||
			    ki_fold_is_entry_mark(&f->fn->insns[i]))
				continue;
			f->branches += x->op.kind == KI_OP_JUMP && x->action != KI_FOLD_KEEP;
			f->dropped += x->action == KI_FOLD_DROP;
			f->kept += x->action != KI_FOLD_DROP;
		}
	}
}

/*
 * The function itself is also entered in other ways than a copy is, with whatever registers hold:
 * from blocks that are not looked through, by tables, faults and other symbols.
 */
static void enter_all_ways(struct ki_folded *f)
{
	const struct ki_function *fn = f->fn;
	const struct ki_constants nothing = {0};
	bool again;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		if (fn->blocks[b].entered)
			arrive(f, b, &nothing, &again);
	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];

		if (e->to_block != KI_NONE &&
		    (f->blocks[e->block].left || e->kind == KI_EDGE_TABLE ||
		     e->kind == KI_EDGE_FIXUP))
			arrive(f, e->to_block, &nothing, &again);
	}
}

static int propagate(struct ki_folded *f, const struct ki_constants *entry,
		     const struct ki_fold_how *how)
{
	const struct ki_function *fn = f->fn;
	bool again = true;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		f->blocks[b].left =
			!fn->blocks[b].count || !may_copy_block(f, &fn->blocks[b], how->sites);
	if (f->blocks[0].left && !how->whole)
		return -ENOTSUP;
	f->blocks[0].reached = true;
	f->blocks[0].in = *entry;
	if (how->whole)
		enter_all_ways(f);
	while (again) {
		again = false;
		for (uint32_t b = 0; b < fn->nblocks; b++)
			if (f->blocks[b].reached && !f->blocks[b].left)
				go_on(f, b, how->memory, &again);
	}
	return 0;
}

int ki_fold(const struct ki_function *fn, const struct ki_constants *entry,
	    const struct ki_fold_how *how, struct ki_folded *out)
{
	int ret;

	*out = (struct ki_folded){.fn = fn};
	if (fn->reason || !fn->nblocks)
		return -ENOTSUP;
	out->insns = calloc(fn->ninsns, sizeof(*out->insns));
	out->blocks = calloc(fn->nblocks, sizeof(*out->blocks));
	ret = !out->insns || !out->blocks ? -ENOMEM : 0;
	if (!ret && !read_all(out))
		ret = -ENOTSUP;
	if (!ret)
		ret = propagate(out, entry, how);
	if (!ret) {
		ki_fold_dead(out, how->callees);
		count(out);
	} else {
		ki_fold_free(out);
	}
	return ret;
}

void ki_fold_free(struct ki_folded *f)
{
	free(f->insns);
	free(f->blocks);
	*f = (struct ki_folded){0};
}
