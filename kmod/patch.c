// SPDX-License-Identifier: GPL-2.0-only
/*
 * The linker: a window's patch from its pieces.
 *
 *	for each displaced instruction:	the chunks of its slot, then its copy
 *	jmp back behind the window	unless the last one never falls through
 *
 * All fixups are relative to where the patch will be, so the place is taken first. How long the
 * patch is, and how many rows it has, does not depend on the place: a first pass tells.
 */
#include <linux/slab.h>

#include "rows.h"

struct ki_link {
	unsigned long base;
	struct ki_rows *rows; /* NULL: they are known already */
	u32 len;
	u16 reason;
	u8 *buf;
};

static s64 fixup_value(const struct ki_fixup *f, unsigned long field)
{
	switch (f->kind) {
	case KI_FIX_REL32:
		return f->target - (field + 4 + f->tail);
	case KI_FIX_PERCPU:
		return ki_counter_disp(f->target);
	default:
		return f->target;
	}
}

static void put(struct ki_link *l, const u8 *code, u8 len, const struct ki_fixup *fix, u8 nfix)
{
	u8 i;

	if (l->len + len > KI_PATCH_MAX) {
		l->reason = KI_R_TOO_MANY;
		return;
	}
	memcpy(l->buf + l->len, code, len);
	for (i = 0; i < nfix; i++) {
		s64 value = fixup_value(&fix[i], l->base + l->len + fix[i].off);
		s32 field = value;

		if (field != value)
			l->reason = KI_R_TOO_FAR;
		memcpy(l->buf + l->len + fix[i].off, &field, 4);
	}
	l->len += len;
}

static void put_slot(struct ki_link *l, struct list_head *pieces, u8 slot, unsigned long addr)
{
	struct ki_piece *p;

	list_for_each_entry (p, pieces, in_window) {
		if (p->slot != slot || p->dying)
			continue;
		if (l->rows)
			ki_rows_chunk(l->rows, l->len, addr, p->pushed, p->len);
		put(l, p->code, p->len, p->fix, p->nfix);
	}
}

/* The copy of a call pushes its return address first. */
static u64 pushed_by(const struct ki_copy *c)
{
	const struct ki_fixup *f = &c->fix[0];

	return c->nfix && f->kind == KI_FIX_ABS32 ? GENMASK_ULL(c->len - 1, f->off + 4) : 0;
}

static void put_copy(struct ki_link *l, const struct ki_copy *c, unsigned long addr)
{
	if (l->rows) {
		ki_rows_chunk(l->rows, l->len, addr, pushed_by(c), c->len);
		ki_rows_copy(l->rows, l->len, addr, c->code);
	}
	put(l, c->code, c->len, c->fix, c->nfix);
}

static void put_jump_back(struct ki_link *l, const struct ki_win *w)
{
	static const u8 jmp[KI_JMP_LEN] = {KI_JMP};
	struct ki_fixup back = {.kind = KI_FIX_REL32, .off = 1, .target = w->addr + w->len};

	if (l->rows)
		ki_rows_stack(l->rows, l->len, w->addr + w->len, 0);
	put(l, jmp, KI_JMP_LEN, &back, 1);
}

static void link_all(struct ki_link *l, struct ki_win *w, struct list_head *more)
{
	unsigned long addr = w->addr;
	u8 i;

	l->len = 0;
	l->reason = KI_R_OK;
	for (i = 0; i < w->ncopy; i++) {
		put_slot(l, &w->chunks, i, addr);
		if (more)
			put_slot(l, more, i, addr);
		put_copy(l, &w->copies[i], addr);
		addr += w->copies[i].orig_len;
	}
	if (!w->ends)
		put_jump_back(l, w);
}

static struct ki_block *take_place(struct ki_link *l, bool reserve)
{
	struct ki_block *b = ki_heap_alloc(l->len, l->rows->norc, l->rows->nex, reserve);

	if (b && !ki_rows_publish(l->rows, b)) {
		ki_heap_free(b);
		b = NULL;
	}
	return b;
}

int ki_patch_build(struct ki_win *w, struct list_head *more, bool reserve, struct ki_patch *out,
		   u16 *reason)
{
	static u8 buf[KI_PATCH_MAX]; /* under ki_lock */
	static struct ki_rows rows;  /* under ki_lock */
	struct ki_link l = {.buf = buf, .base = (unsigned long)w->addr, .rows = &rows};
	struct ki_patch p;

	rows = (struct ki_rows){.owner = w->owner};
	link_all(&l, w, more);
	*reason = KI_R_TOO_MANY;
	if (l.reason == KI_R_TOO_MANY || rows.full)
		return -E2BIG;
	*reason = KI_R_HEAP_FULL;
	p.block = take_place(&l, reserve);
	if (!p.block)
		return -ENOSPC;
	l.rows = NULL;
	l.base = p.addr = ki_heap_addr(p.block);
	link_all(&l, w, more);
	p.len = l.len;
	p.nex = rows.nex;
	p.nbug = rows.nbug;
	*reason = l.reason;
	if (l.reason) {
		ki_patch_free(&p);
		return -ERANGE;
	}
	ki_text_write_heap(l.base, l.buf, l.len);
	*out = p;
	return 0;
}

void ki_patch_free(const struct ki_patch *p)
{
	if (p->nbug)
		ki_bugs_drop(p->addr, p->addr + p->len);
	ki_heap_free(p->block);
}
