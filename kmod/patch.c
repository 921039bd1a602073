// SPDX-License-Identifier: GPL-2.0-only
/*
 * The linker: a window's patch from its pieces.
 *
 *	for each displaced instruction:
 *		the chunks before it	or, where it is replaced, jmp replacement: the end
 *		its copy		a branch with chunks on its taken side goes to these
 *		the chunks behind it
 *	jmp back behind the window	unless control never gets here
 *	for each taken side with chunks:
 *		these chunks
 *		jmp to the branch's target
 *
 * A branch to the window's own start, the smallest loop there is, goes to the start of the patch:
 * the springboard would lead there anyhow.
 *
 * All fixups are relative to where the patch will be, so the place is taken first: pieces are
 * linked once to learn their length and where the taken sides stand, and again at their place.
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "ki.h"

struct ki_link {
	const struct ki_win *w;
	struct ki_piece **pieces; /* in the order in which they stand */
	u32 npieces;
	unsigned long base;
	u32 len;
	u16 reason;
	u16 taken[KI_WINDOW_INSNS]; /* where the taken side's chunks stand; 0: there are none */
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

static void put_jump(struct ki_link *l, u64 target)
{
	static const u8 jmp[KI_JMP_LEN] = {KI_JMP};
	struct ki_fixup to = {.kind = KI_FIX_REL32, .off = 1, .target = target};

	put(l, jmp, KI_JMP_LEN, &to, 1);
}

/*
 * The chunks of one side of one instruction, which are next. Returns the replacement among them:
 * of several the last, NULL if there is none.
 */
static const struct ki_piece *put_chunks(struct ki_link *l, u32 *next, u8 insn, u8 where)
{
	const struct ki_piece *replacement = NULL;

	for (; *next < l->npieces; (*next)++) {
		const struct ki_piece *p = l->pieces[*next];

		if (p->insn != insn || p->where != where)
			break;
		if (p->kind == KI_CHUNK_REPLACE)
			replacement = p;
		else
			put(l, p->code, p->len, p->fix, p->nfix);
	}
	return replacement;
}

static bool any_chunk(const struct ki_link *l, u32 from, u8 insn, u8 where)
{
	for (; from < l->npieces && l->pieces[from]->insn == insn; from++)
		if (l->pieces[from]->where == where)
			return true;
	return false;
}

static void put_copy(struct ki_link *l, u8 i, bool taken_side)
{
	const struct ki_copy *c = &l->w->copies[i];
	struct ki_fixup fix[KI_FIXUPS];

	memcpy(fix, c->fix, sizeof(fix));
	if (l->w->flow[i] & KI_FLOW_DIRECT) {
		struct ki_fixup *branch = &fix[c->nfix - 1];

		if (taken_side)
			branch->target = l->base + l->taken[i];
		else if (branch->target == l->w->addr && !(l->w->flow[i] & KI_FLOW_CALL))
			branch->target = l->base;
	}
	put(l, c->code, c->len, fix, c->nfix);
}

/* Of the instructions before `end`. */
static void put_taken_sides(struct ki_link *l, u8 end)
{
	u32 next = 0;

	while (next < l->npieces && l->pieces[next]->insn < end) {
		u8 i = l->pieces[next]->insn;
		const struct ki_piece *other;
		u64 target;

		if (l->pieces[next]->where != KI_TAKEN) {
			next++;
			continue;
		}
		l->taken[i] = l->len;
		other = put_chunks(l, &next, i, KI_TAKEN);
		target = l->w->copies[i].fix[l->w->copies[i].nfix - 1].target;
		put_jump(l, other ? other->target : target);
	}
}

static void link_all(struct ki_link *l)
{
	const struct ki_piece *other = NULL;
	u32 next = 0;
	u8 i;

	l->len = 0;
	l->reason = KI_R_OK;
	for (i = 0; i < l->w->ncopy; i++) {
		other = put_chunks(l, &next, i, KI_BEFORE);
		if (other)
			break;
		put_copy(l, i, any_chunk(l, next, i, KI_TAKEN));
		put_chunks(l, &next, i, KI_AFTER);
		while (next < l->npieces && l->pieces[next]->insn == i)
			next++; /* the taken side's */
	}
	if (other)
		put_jump(l, other->target);
	else if (!(l->w->flow[i - 1] & (KI_FLOW_ENDS | KI_FLOW_CALL)))
		put_jump(l, l->w->addr + l->w->len);
	put_taken_sides(l, i);
}

/* As they stand in the patch; of equal ones the first installed first: ids do not tell, `seq` does.
 */
static int by_place(const void *a, const void *b)
{
	const struct ki_piece *x = *(const struct ki_piece **)a, *y = *(const struct ki_piece **)b;

	if (x->insn != y->insn)
		return x->insn < y->insn ? -1 : 1;
	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int gather(struct ki_link *l, struct list_head *more, u32 room)
{
	struct ki_piece *p;
	u32 n = 0;

	list_for_each_entry (p, &l->w->chunks, in_window)
		n += !p->dying;
	if (more)
		list_for_each_entry (p, more, in_window)
			n++;
	if (n > room)
		return -E2BIG;
	list_for_each_entry (p, &l->w->chunks, in_window)
		if (!p->dying)
			l->pieces[l->npieces++] = p;
	if (more)
		list_for_each_entry (p, more, in_window)
			l->pieces[l->npieces++] = p;
	sort(l->pieces, l->npieces, sizeof(*l->pieces), by_place, NULL);
	return 0;
}

int ki_patch_build(struct ki_win *w, struct list_head *more, bool reserve, struct ki_patch *out,
		   u16 *reason)
{
	static u8 buf[KI_PATCH_MAX]; /* under ki_lock, as the next one */
	static struct ki_piece *pieces[KI_PATCH_MAX];
	struct ki_link l = {.w = w, .buf = buf, .base = w->addr, .pieces = pieces};

	*reason = KI_R_TOO_MANY;
	if (gather(&l, more, ARRAY_SIZE(pieces)))
		return -E2BIG;
	/* Neither length nor order depend on the place. */
	link_all(&l);
	if (l.reason == KI_R_TOO_MANY)
		return -E2BIG;
	*reason = KI_R_HEAP_FULL;
	l.base = ki_heap_alloc(l.len, reserve);
	if (!l.base)
		return -ENOSPC;
	link_all(&l);
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
