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
 * linked once to learn their length, their rows (rows.c) and where the taken sides stand, and again
 * at their place.
 */
#include <linux/bits.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "rows.h"

struct ki_link {
	const struct ki_win *w;
	struct ki_piece **pieces; /* in the order in which they stand */
	u32 npieces;
	struct ki_rows *rows; /* NULL: they are known already */
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

/* A jump where the stack is as it is at addr, and `pushed` bytes deeper. */
static void put_jump(struct ki_link *l, u64 target, unsigned long addr, u32 pushed)
{
	static const u8 jmp[KI_JMP_LEN] = {KI_JMP};
	struct ki_fixup to = {.kind = KI_FIX_REL32, .off = 1, .target = target};

	if (l->rows)
		ki_rows_stack(l->rows, l->len, addr, pushed);
	put(l, jmp, KI_JMP_LEN, &to, 1);
}

/*
 * The chunks of one side of one instruction, which are next. The stack is there as it is at addr,
 * and `pushed` bytes deeper. Returns the replacement among them: of several the last, NULL if there
 * is none.
 */
static const struct ki_piece *put_chunks(struct ki_link *l, u32 *next, u8 insn, u8 where,
					 unsigned long addr, u32 pushed)
{
	const struct ki_piece *replacement = NULL;

	for (; *next < l->npieces; (*next)++) {
		const struct ki_piece *p = l->pieces[*next];

		if (p->insn != insn || p->where != where)
			break;
		if (p->kind == KI_CHUNK_REPLACE) {
			replacement = p;
			continue;
		}
		if (l->rows)
			ki_rows_code(l->rows, l->len, addr, pushed, p->pushed, p->len);
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

/* The copy of a call pushes its return address first: 8 more in the rest of it. */
static u64 pushed_in(const struct ki_copy *c)
{
	const struct ki_fixup *f = &c->fix[0];

	return c->nfix && f->kind == KI_FIX_ABS32 ? GENMASK_ULL(c->len - 1, f->off + 4) : 0;
}

static void put_copy(struct ki_link *l, u8 i, unsigned long addr, bool taken_side)
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
	if (l->rows) {
		ki_rows_code(l->rows, l->len, addr, 0, pushed_in(c), c->len);
		ki_rows_copy(l->rows, l->len, addr, c->code);
	}
	put(l, c->code, c->len, fix, c->nfix);
}

static unsigned long addr_of(const struct ki_win *w, u8 insn)
{
	unsigned long addr = w->addr;

	while (insn--)
		addr += w->copies[insn].orig_len;
	return addr;
}

/* Of the instructions before `end`. */
static void put_taken_sides(struct ki_link *l, u8 end)
{
	u32 next = 0;

	while (next < l->npieces && l->pieces[next]->insn < end) {
		u8 i = l->pieces[next]->insn;
		unsigned long addr = addr_of(l->w, i);
		const struct ki_piece *other;
		u32 pushed;
		u64 target;

		if (l->pieces[next]->where != KI_TAKEN) {
			next++;
			continue;
		}
		l->taken[i] = l->len;
		pushed = pushed_in(&l->w->copies[i]) ? 8 : 0;
		other = put_chunks(l, &next, i, KI_TAKEN, addr, pushed);
		target = l->w->copies[i].fix[l->w->copies[i].nfix - 1].target;
		put_jump(l, other ? other->target : target, addr, pushed);
	}
}

static void link_all(struct ki_link *l)
{
	const struct ki_piece *other = NULL;
	unsigned long addr = l->w->addr;
	u32 next = 0;
	u8 i;

	l->len = 0;
	l->reason = KI_R_OK;
	for (i = 0; i < l->w->ncopy; i++) {
		other = put_chunks(l, &next, i, KI_BEFORE, addr, 0);
		if (other)
			break;
		put_copy(l, i, addr, any_chunk(l, next, i, KI_TAKEN));
		addr += l->w->copies[i].orig_len;
		put_chunks(l, &next, i, KI_AFTER, addr, 0);
		while (next < l->npieces && l->pieces[next]->insn == i)
			next++; /* the taken side's */
	}
	if (other)
		put_jump(l, other->target, addr, 0);
	else if (!(l->w->flow[i - 1] & (KI_FLOW_ENDS | KI_FLOW_CALL)))
		put_jump(l, l->w->addr + l->w->len, addr, 0);
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
	static u8 buf[KI_PATCH_MAX]; /* under ki_lock, as the next ones */
	static struct ki_piece *pieces[KI_PATCH_MAX];
	static struct ki_rows rows;
	struct ki_link l = {.w = w, .buf = buf, .base = w->addr, .pieces = pieces, .rows = &rows};
	struct ki_patch p;

	*reason = KI_R_TOO_MANY;
	if (gather(&l, more, ARRAY_SIZE(pieces)))
		return -E2BIG;
	rows = (struct ki_rows){.owner = w->owner};
	/* Neither length nor order depend on the place. */
	link_all(&l);
	if (l.reason == KI_R_TOO_MANY || rows.full)
		return -E2BIG;
	*reason = KI_R_HEAP_FULL;
	p.block = take_place(&l, reserve);
	if (!p.block)
		return -ENOSPC;
	l.rows = NULL;
	l.base = p.addr = ki_heap_addr(p.block);
	link_all(&l);
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
