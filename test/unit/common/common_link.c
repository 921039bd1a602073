// SPDX-License-Identifier: GPL-2.0-only
#include "common_link.h"

#include <string.h>

#define CHUNKS	   512
#define JMP_LEN	   5
#define OPCODE_JMP 0xe9

struct linker {
	const struct ki_window *w;
	const struct ki_copy *copies;
	const struct ki_chunk *chunks[CHUNKS]; /* in the order in which they stand */
	size_t nchunks;
	uint8_t *at, *p;
	const uint8_t *taken[KI_WINDOW_INSNS]; /* where the taken side's chunks stand */
	bool failed;
};

static void place(struct linker *l, const uint8_t *code, size_t len, const struct ki_fixup *fix,
		  size_t nfix)
{
	memcpy(l->p, code, len);
	for (size_t i = 0; i < nfix; i++) {
		uint64_t field = (uint64_t)(uintptr_t)l->p + fix[i].off;
		int64_t value = (int64_t)fix[i].target;
		int32_t narrow;

		if (fix[i].kind == KI_FIX_REL32)
			value = (int64_t)(fix[i].target - (field + 4 + fix[i].tail));
		else if (fix[i].kind == KI_FIX_PERCPU)
			value = (int64_t)fix[i].target * 8;
		narrow = (int32_t)value;
		l->failed |= narrow != value;
		memcpy(l->p + fix[i].off, &narrow, 4);
	}
	l->p += len;
}

void link_jump(uint8_t *at, uint64_t to)
{
	int32_t disp = (int32_t)(to - ((uint64_t)(uintptr_t)at + JMP_LEN));

	at[0] = OPCODE_JMP;
	memcpy(at + 1, &disp, 4);
}

static void put_jump(struct linker *l, uint64_t to)
{
	link_jump(l->p, to);
	l->p += JMP_LEN;
}

/* The copy ends in a direct branch, whose target is the last fixup. */
static bool is_direct(const struct ki_copy *c)
{
	const struct ki_fixup *f = c->nfix ? &c->fix[c->nfix - 1] : NULL;

	if (!f || f->kind != KI_FIX_REL32 || f->off + 4 != c->len || f->tail)
		return false;
	return c->code[f->off - 1] == OPCODE_JMP ||
	       (f->off >= 2 && c->code[f->off - 2] == 0x0f && (c->code[f->off - 1] & 0xf0) == 0x80);
}

/* Chunk a stands after chunk b. */
static bool is_behind(const struct ki_chunk *a, const struct ki_chunk *b)
{
	if (a->insn != b->insn)
		return a->insn > b->insn;
	if (a->where != b->where)
		return a->where > b->where;
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->order > b->order;
}

static void sort_chunks(struct linker *l, const struct ki_chunk *const *chunks)
{
	for (size_t i = 0; i < l->nchunks; i++) {
		size_t k = i;

		for (; k && is_behind(l->chunks[k - 1], chunks[i]); k--)
			l->chunks[k] = l->chunks[k - 1];
		l->chunks[k] = chunks[i];
	}
}

/* The chunks of one side. Returns the replacement that stands there last, or NULL. */
static const struct ki_chunk *put_side(struct linker *l, uint8_t insn, uint8_t where)
{
	const struct ki_chunk *replacement = NULL;

	for (size_t i = 0; i < l->nchunks; i++) {
		const struct ki_chunk *c = l->chunks[i];

		if (c->insn != insn || c->where != where)
			continue;
		if (c->kind == KI_CHUNK_REPLACE)
			replacement = c;
		else
			place(l, c->code, c->len, c->fix, c->nfix);
	}
	return replacement;
}

static bool has_side(const struct linker *l, uint8_t insn, uint8_t where)
{
	for (size_t i = 0; i < l->nchunks; i++)
		if (l->chunks[i]->insn == insn && l->chunks[i]->where == where)
			return true;
	return false;
}

static void put_copy(struct linker *l, uint8_t i)
{
	struct ki_copy c = l->copies[i];

	if (is_direct(&c) && has_side(l, i, KI_TAKEN)) {
		/* not known at the first go; about the same place, or a fixup would not reach */
		c.fix[c.nfix - 1].target = (uintptr_t)(l->taken[i] ? l->taken[i] : l->at);
	}
	place(l, c.code, c.len, c.fix, c.nfix);
}

static void put_all(struct linker *l)
{
	const struct ki_chunk *other = NULL;
	uint8_t i = 0;

	l->p = l->at;
	for (; i < l->w->ncopy; i++) {
		other = put_side(l, i, KI_BEFORE);
		if (other)
			break;
		put_copy(l, i);
		put_side(l, i, KI_AFTER);
	}
	put_jump(l, other ? other->target : l->w->addr + l->w->len);
	for (uint8_t k = 0; k < i; k++) {
		const struct ki_copy *c = &l->copies[k];

		if (!has_side(l, k, KI_TAKEN))
			continue;
		l->taken[k] = l->p;
		other = put_side(l, k, KI_TAKEN);
		/* Of what may fault, but does not here. */
		if (!is_direct(c))
			put_jump(l, l->w->addr);
		else
			put_jump(l, other ? other->target : c->fix[c->nfix - 1].target);
	}
}

size_t link_patch(uint8_t *at, const struct ki_window *w, const struct ki_copy *copies,
		  const struct ki_chunk *const *chunks, size_t nchunks)
{
	struct linker l = {.w = w, .copies = copies, .nchunks = nchunks, .at = at};

	if (nchunks > CHUNKS)
		return 0;
	sort_chunks(&l, chunks);
	put_all(&l); /* lengths do not depend on places */
	put_all(&l);
	return l.failed ? 0 : (size_t)(l.p - at);
}
