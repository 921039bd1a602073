// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies of functions, written one after the other as a module's code.
 *
 * Blocks stand in the order of the original. Instructions are copied as they are, with the
 * displacement of a RIP-relative operand, or of a call, made anew. What is known becomes
 *
 *	movl $value, %reg	b8+r imm32	of 32 bits
 *	movq $value, %reg	c7 /0 imm32	sign-extended
 *	movabs $value, %reg	b8+r imm64
 *
 * Branches inside are short where that reaches: all begin short, and those that do not reach become
 * long, until all do (Szymanski, "Assembling code for machines with span-dependent instructions",
 * CACM 1978). Where a block is not copied, the branch leads to the original's.
 *
 * Of a static branch or call there is what it is at first, in its long form: the module that it
 * becomes part of says which, and the kernel makes it what its key wants. A lock prefix is there,
 * also when this kernel has one CPU now.
 */
#include "evolve/special/emit.h"

#include <string.h>

#define ALIGN	  16
#define INT3	  0xcc
#define ALWAYS	  0x10 /* a condition of no jcc: jmp */
#define CALL	  0x11
#define CALL_OP	  0xe8
#define JUMP_OP	  0xe9
#define LOCK	  0xf0
#define NO_LABEL  UINT32_MAX
#define SHORT_LEN 2

/* An instruction of the result. */
struct piece {
	uint64_t addr, target; /* made of; outside, of a displacement */
	uint64_t way;	       /* of a site: where it leads to, if not inside */
	uint32_t off, label; /* where; of a branch inside: the piece that it leads to, once known */
	uint32_t copy, block; /* where a branch or a site's way inside leads to */
	uint8_t bytes[16];
	uint8_t len, field, tail; /* field: of a displacement of 4 bytes; 0: none */
	uint8_t branch;		  /* 1 + condition, ALWAYS or CALL; 0: none */
	uint8_t site;		  /* enum ki_site */
	bool inside, wide;
};

/* A block's first piece. */
struct label {
	uint32_t copy, block, piece;
};

struct emitter {
	struct ki_emit_copy *copies;
	size_t ncopies;
	uint32_t now; /* the copy */
	ki_vec(struct piece) pieces;
	ki_vec(struct label) labels;
	uint32_t len;
	bool failed; /* out of memory */
};

static void push(struct emitter *e, const struct piece *p)
{
	e->failed |= ki_vec_push(&e->pieces, *p);
}

static bool is_copied(const struct ki_folded *f, uint32_t block)
{
	return block < f->fn->nblocks && f->blocks[block].reached && !f->blocks[block].left;
}

static uint32_t block_that_starts(const struct ki_function *fn, uint64_t addr)
{
	const struct ki_block *b = ki_function_block_at(fn, addr);

	return b && b->start == addr ? (uint32_t)(b - fn->blocks) : KI_NONE;
}

/* Which copy an instruction's call or jump leads to; KI_NONE. */
static uint32_t linked(const struct ki_emit_copy *c, uint32_t insn)
{
	for (size_t i = 0; i < c->links.n; i++)
		if (c->links.v[i].insn == insn)
			return c->links.v[i].copy;
	return KI_NONE;
}

/* To an address: a block that is copied, or the original's. */
static void put_branch(struct emitter *e, uint8_t condition, uint64_t addr, uint64_t target)
{
	const struct ki_folded *f = &e->copies[e->now].folded;
	const uint32_t block = block_that_starts(f->fn, target);
	struct piece p = {.addr = addr,
			  .target = target,
			  .copy = e->now,
			  .block = block,
			  .branch = condition + 1,
			  .inside = is_copied(f, block)};

	p.wide = !p.inside;
	push(e, &p);
}

static void put_linked(struct emitter *e, uint8_t condition, uint64_t addr, uint32_t copy)
{
	push(e, &(struct piece){.addr = addr,
				.copy = copy,
				.branch = condition + 1,
				.inside = true,
				.wide = true});
}

static void put_value(struct emitter *e, uint64_t addr, uint8_t reg, uint64_t value)
{
	struct piece p = {.addr = addr};
	const uint8_t high = reg >= 8, low = reg & 7;
	const bool small = value <= UINT32_MAX;
	const bool sign = !small && value == (uint64_t)(int64_t)(int32_t)value;

	if (high || !small)
		p.bytes[p.len++] = (uint8_t)(0x40 | (small ? 0 : 8) | high);
	if (sign) {
		p.bytes[p.len++] = 0xc7;
		p.bytes[p.len++] = 0xc0 | low;
	} else {
		p.bytes[p.len++] = 0xb8 | low;
	}
	memcpy(p.bytes + p.len, &value, small || sign ? 4 : 8);
	p.len += small || sign ? 4 : 8;
	push(e, &p);
}

/* Where it leads to: a block that is copied, or the original's. */
static void set_way(const struct emitter *e, struct piece *p, uint64_t to)
{
	const struct ki_folded *f = &e->copies[e->now].folded;

	p->copy = e->now;
	p->way = to;
	p->block = block_that_starts(f->fn, to);
	p->inside = is_copied(f, p->block);
}

/* A static branch or call. */
static void put_switched(struct emitter *e, const struct ki_insn *in, uint8_t site)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct piece p = {.addr = in->addr, .len = sizeof(nop), .site = site};

	if (site == KI_SITE_BRANCH) {
		memcpy(p.bytes, nop, sizeof(nop));
		set_way(e, &p, in->target);
	} else {
		p.bytes[0] = in->kind == KI_INSN_JMP || in->kind == KI_INSN_RET ? JUMP_OP : CALL_OP;
	}
	push(e, &p);
}

static uint64_t fixup_of(const struct ki_folded *f, uint32_t insn)
{
	for (uint32_t i = 0; i < f->fn->nedges; i++)
		if (f->fn->edges[i].insn == insn && f->fn->edges[i].kind == KI_EDGE_FIXUP)
			return f->fn->edges[i].to;
	return 0;
}

static void put_bytes(struct emitter *e, uint32_t i)
{
	const struct ki_folded *f = &e->copies[e->now].folded;
	const struct ki_function *fn = f->fn;
	const struct ki_insn *in = &fn->insns[i];
	struct piece p = {.addr = in->addr, .len = in->len, .site = f->insns[i].site};
	const bool branches = in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT ||
			      in->kind == KI_INSN_JMP_INDIRECT || in->kind == KI_INSN_RET;

	memcpy(p.bytes, fn->bytes + (in->addr - fn->start), in->len);
	if (p.site == KI_SITE_LOCK)
		p.bytes[0] = LOCK;
	else if (p.site == KI_SITE_FAULT)
		set_way(e, &p, fixup_of(f, i));
	if (in->target && in->field && (branches || in->flags & KI_INSN_RIP)) {
		p.field = in->field;
		p.tail = in->flags & KI_INSN_RIP ? in->tail : 0;
		p.target = in->target;
	}
	push(e, &p);
}

static void put_insn(struct emitter *e, uint32_t i)
{
	const struct ki_emit_copy *c = &e->copies[e->now];
	const struct ki_insn *in = &c->folded.fn->insns[i];
	const struct ki_fold_insn *x = &c->folded.insns[i];
	const uint32_t other = linked(c, i);

	if (x->action == KI_FOLD_DROP || ki_fold_is_entry_mark(in))
		return;
	if (x->site == KI_SITE_CALL || (x->site == KI_SITE_BRANCH && x->action == KI_FOLD_KEEP))
		put_switched(e, in, x->site);
	else if (other != KI_NONE)
		put_linked(e, in->kind == KI_INSN_CALL ? CALL : ALWAYS, in->addr, other);
	else if (x->action == KI_FOLD_VALUE)
		put_value(e, in->addr, x->op.v[0].reg, x->value);
	else if (x->action == KI_FOLD_JUMP || in->kind == KI_INSN_JMP)
		put_branch(e, ALWAYS, in->addr, in->target);
	else if (in->kind == KI_INSN_JCC)
		put_branch(e, x->op.condition, in->addr, in->target);
	else
		put_bytes(e, i);
}

/* The edge by which control falls out of the block; NULL. */
static const struct ki_edge *falls(const struct ki_folded *f, uint32_t block)
{
	const struct ki_block *b = &f->fn->blocks[block];
	const struct ki_fold_insn *last = &f->insns[b->first + b->count - 1];

	if (last->action == KI_FOLD_JUMP)
		return NULL;
	for (uint32_t n = b->first_edge; n < b->first_edge + b->nedges; n++)
		if (f->fn->edges[n].kind == KI_EDGE_FALL)
			return &f->fn->edges[n];
	return NULL;
}

static void put_block(struct emitter *e, uint32_t block, uint32_t next)
{
	const struct ki_folded *f = &e->copies[e->now].folded;
	const struct ki_block *b = &f->fn->blocks[block];
	const struct ki_insn *last = &f->fn->insns[b->first + b->count - 1];
	const struct ki_edge *then = falls(f, block);

	e->failed |=
		ki_vec_push(&e->labels, ((struct label){e->now, block, (uint32_t)e->pieces.n}));
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		put_insn(e, i);
	if (then && (then->to_block != next || next == KI_NONE))
		put_branch(e, ALWAYS, then->to, then->to); /* the stack is as it is there */
	else if (last->flags & KI_INSN_NORETURN)
		push(e, &(struct piece){.addr = last->addr, .bytes = {INT3}, .len = 1});
}

static void put_copy(struct emitter *e)
{
	const struct ki_folded *f = &e->copies[e->now].folded;
	uint32_t block = 0, next;

	while (block < f->fn->nblocks) {
		for (next = block + 1; next < f->fn->nblocks && !is_copied(f, next); next++)
			;
		put_block(e, block, next < f->fn->nblocks ? next : KI_NONE);
		block = next;
	}
}

static uint32_t find_label(const struct emitter *e, uint32_t copy, uint32_t block)
{
	for (size_t i = 0; i < e->labels.n; i++)
		if (e->labels.v[i].copy == copy && e->labels.v[i].block == block)
			return e->labels.v[i].piece;
	return NO_LABEL;
}

static uint8_t branch_len(const struct piece *p)
{
	if (!p->wide)
		return SHORT_LEN;
	return p->branch - 1 < ALWAYS ? 6 : 5;
}

static uint32_t start_of(const struct emitter *e, uint32_t piece)
{
	return piece < e->pieces.n ? e->pieces.v[piece].off : e->len;
}

/* Where everything stands. */
static void place_all(struct emitter *e)
{
	uint32_t at = 0;
	size_t label = 0;

	for (size_t i = 0; i < e->pieces.n; i++) {
		struct piece *p = &e->pieces.v[i];

		for (; label < e->labels.n && e->labels.v[label].piece == i; label++)
			if (!e->labels.v[label].block)
				at = (at + ALIGN - 1) / ALIGN * ALIGN;
		p->off = at;
		at += p->branch ? branch_len(p) : p->len;
	}
	e->len = at;
}

static bool widen(struct emitter *e)
{
	bool again = false;

	for (size_t i = 0; i < e->pieces.n; i++) {
		struct piece *p = &e->pieces.v[i];
		int64_t far;

		if (!p->branch || p->wide)
			continue;
		far = (int64_t)start_of(e, p->label) - (p->off + SHORT_LEN);
		p->wide = far != (int8_t)far;
		again |= p->wide;
	}
	return again;
}

static void write_branch(struct emitter *e, struct piece *p)
{
	const uint8_t condition = p->branch - 1;
	int32_t far;

	p->len = branch_len(p);
	far = p->inside ? (int32_t)(start_of(e, p->label) - (p->off + p->len)) : 0;
	if (!p->wide) {
		p->bytes[0] = condition == ALWAYS ? 0xeb : 0x70 | condition;
		p->bytes[1] = (uint8_t)far;
		return;
	}
	if (condition < ALWAYS) {
		p->bytes[0] = 0x0f;
		p->bytes[1] = 0x80 | condition;
	} else {
		p->bytes[0] = condition == CALL ? CALL_OP : JUMP_OP;
	}
	memcpy(p->bytes + p->len - 4, &far, sizeof(far));
	p->field = p->inside ? 0 : p->len - 4;
}

static void note_site(const struct emitter *e, const struct piece *p, struct ki_emitted *out)
{
	struct ki_emit_site s = {.off = p->off, .site = p->site, .addr = p->addr};

	if (p->site < KI_SITE_BRANCH)
		return;
	s.way.inside = p->inside;
	s.way.at = p->inside ? start_of(e, p->label) : p->way;
	out->sites.v[out->sites.n++] = s;
}

static int write_all(struct emitter *e, struct ki_emitted *out)
{
	const uint32_t len = e->len;

	out->code = malloc(len ? len : 1);
	if (!out->code || ki_vec_reserve(&out->fixes, e->pieces.n) ||
	    ki_vec_reserve(&out->origins, e->pieces.n) || ki_vec_reserve(&out->sites, e->pieces.n))
		return -ENOMEM;
	memset(out->code, INT3, len);
	out->len = len;
	for (size_t i = 0; i < e->pieces.n; i++) {
		struct piece *p = &e->pieces.v[i];

		if (p->branch)
			write_branch(e, p);
		memcpy(out->code + p->off, p->bytes, p->len);
		out->origins.v[out->origins.n++] = (struct ki_emit_origin){p->off, p->addr};
		note_site(e, p, out);
		if (p->field)
			out->fixes.v[out->fixes.n++] =
				(struct ki_module_fix){.off = p->off + p->field,
						       .kind = KI_MODULE_PC32,
						       .target = p->target,
						       .addend = -4 - (int64_t)p->tail};
	}
	return 0;
}

static void note_places(struct emitter *e)
{
	for (uint32_t c = 0; c < e->ncopies; c++)
		e->copies[c].off = start_of(e, find_label(e, c, 0));
	for (uint32_t c = 0; c < e->ncopies; c++)
		e->copies[c].size =
			(c + 1 < e->ncopies ? e->copies[c + 1].off : e->len) - e->copies[c].off;
}

int ki_emit(struct ki_emit_copy *copies, size_t n, struct ki_emitted *out)
{
	struct emitter e = {.copies = copies, .ncopies = n};
	int ret = -ENOMEM;

	*out = (struct ki_emitted){0};
	for (e.now = 0; e.now < n; e.now++)
		put_copy(&e);
	for (size_t i = 0; i < e.pieces.n && !e.failed; i++)
		if (e.pieces.v[i].inside)
			e.pieces.v[i].label =
				find_label(&e, e.pieces.v[i].copy, e.pieces.v[i].block);
	if (!e.failed) {
		do
			place_all(&e);
		while (widen(&e));
		ret = write_all(&e, out);
		note_places(&e);
	}
	ki_vec_free(&e.pieces);
	ki_vec_free(&e.labels);
	if (ret)
		ki_emit_free(out);
	return ret;
}

void ki_emit_free(struct ki_emitted *e)
{
	free(e->code);
	ki_vec_free(&e->fixes);
	ki_vec_free(&e->origins);
	ki_vec_free(&e->sites);
	*e = (struct ki_emitted){0};
}
