// SPDX-License-Identifier: GPL-2.0-only
/*
 * The linker: a window's patch from its pieces.
 *
 *	for each displaced instruction:	the chunks of its slot, then its copy
 *	jmp back behind the window	unless the last one never falls through
 *
 * All fixups are relative to where the patch will be, so the place is taken first.
 */
#include <linux/slab.h>

#include "ki.h"

struct ki_link {
	unsigned long base;
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

static void put_slot(struct ki_link *l, struct list_head *pieces, u8 slot)
{
	struct ki_piece *p;

	list_for_each_entry (p, pieces, in_window)
		if (p->slot == slot && !p->dying)
			put(l, p->code, p->len, p->fix, p->nfix);
}

static void put_jump_back(struct ki_link *l, const struct ki_win *w)
{
	static const u8 jmp[KI_JMP_LEN] = {KI_JMP};
	struct ki_fixup back = {.kind = KI_FIX_REL32, .off = 1, .target = w->addr + w->len};

	put(l, jmp, KI_JMP_LEN, &back, 1);
}

static void link_all(struct ki_link *l, struct ki_win *w, struct list_head *more)
{
	u8 i;

	l->len = 0;
	l->reason = KI_R_OK;
	for (i = 0; i < w->ncopy; i++) {
		put_slot(l, &w->chunks, i);
		if (more)
			put_slot(l, more, i);
		put(l, w->copies[i].code, w->copies[i].len, w->copies[i].fix, w->copies[i].nfix);
	}
	if (!w->ends)
		put_jump_back(l, w);
}

int ki_patch_build(struct ki_win *w, struct list_head *more, bool reserve, struct ki_patch *out,
		   u16 *reason)
{
	static u8 buf[KI_PATCH_MAX]; /* under ki_lock */
	struct ki_link l = {.buf = buf, .base = (unsigned long)w->addr};

	/* The length does not depend on the place. */
	link_all(&l, w, more);
	*reason = KI_R_TOO_MANY;
	if (l.reason == KI_R_TOO_MANY)
		return -E2BIG;
	*reason = KI_R_HEAP_FULL;
	l.base = ki_heap_alloc(l.len, reserve);
	if (!l.base)
		return -ENOSPC;
	link_all(&l, w, more);
	*reason = l.reason;
	if (l.reason) {
		ki_heap_free(l.base, l.len);
		return -ERANGE;
	}
	ki_text_write_heap(l.base, l.buf, l.len);
	out->addr = l.base;
	out->len = l.len;
	return 0;
}
