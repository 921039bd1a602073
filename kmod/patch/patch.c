// SPDX-License-Identifier: GPL-2.0-only
/*
 * The linker: a group's patch from its windows' pieces. Windows stand in it as in the text; of what
 * is laid out (lay.c) that is otherwise.
 *
 *	for each window, for each displaced instruction:
 *	    the chunks before it; where it is replaced: jmp replacement
 *	    its copy; a branch with chunks on its taken side goes to these, and so does what
 *		faults (rows.c); of a call that stands as it was, jmp to the call
 *	    the chunks after it
 *	jmp back after the window, unless control never gets here, or the next window follows
 *	for each taken side with chunks:
 *	    these chunks
 *	    push the return trampoline, if chunks wait for a tail jump's function to return
 *	    jmp to the branch's target, or the fixup
 *	    the latter chunks, ret: the return trampoline leads here (returns.c)
 *
 * A branch to the beginning of a window of the same group goes to where that is in the patch:
 * the springboard would lead there anyhow, if there is one.
 *
 * What stands after a replacement is there though control does not get to it. So each piece has
 * its place, and a replacement can be taken back by another distance of its jump (mute.c). Late
 * tasks of a filled springboard (fill.c) go on there, too.
 *
 * All fixups are relative to where the patch will be, so the place is taken first. Pieces are
 * linked twice. The first time says their length, how many rows they have in the kernel's tables
 * (rows.c), and where windows and taken sides stand. The second time is at their place.
 */
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "array.h"
#include "patch/direct.h"
#include "patch/link.h"
#include "vet/long.h"
#include "yield.h"

#define KI_PUSH	    0x68 /* imm32, sign-extended */
#define KI_CALL_LEN 5

static void put_chunk(struct ki_link *l, const struct ki_piece *p, unsigned long addr, u32 pushed)
{
	const struct ki_long_code *c = p->more;

	ki_link_origin(l, c ? c->len : p->len, addr);
	if (c) {
		ki_rows_depth(&l->rows, l->len, addr, pushed, c->depth, c->len);
		ki_link_put(l, c->code, c->len, c->fix, c->nfix);
	} else {
		ki_rows_code(&l->rows, l->len, addr, pushed, p->pushed, p->len);
		ki_link_put(l, p->code, p->len, p->fix, p->nfix);
	}
}

/* One side of an instruction. The stack is there as at addr, and `pushed` bytes deeper. */
struct side {
	const struct ki_win *w;
	u8 insn, where;
	unsigned long addr;
	u32 pushed;
};

/*
 * The chunks of one side, which are next. Returns the replacement among them: of several the last,
 * NULL if there is none.
 */
static const struct ki_piece *put_chunks(struct ki_link *l, u32 *next, const struct side *s)
{
	const struct ki_piece *replacement = NULL;

	for (; *next < l->npieces; (*next)++) {
		struct ki_piece *p = l->pieces[*next];

		if (p->win != s->w || p->insn != s->insn || p->where != s->where)
			break;
		p->next_at = l->len; /* of replacements, which are the last: their jump's */
		if (p->kind == KI_CHUNK_REPLACE) {
			replacement = p;
			continue;
		}
		put_chunk(l, p, s->addr, s->pushed);
	}
	return replacement;
}

/* The first chunk on the taken side, or after it, of an instruction whose next chunk is `from`. */
static const struct ki_piece *taken_side(const struct ki_link *l, u32 from, const struct ki_win *w,
					 u8 insn)
{
	for (; from < l->npieces; from++) {
		const struct ki_piece *p = l->pieces[from];

		if (p->win != w || p->insn != insn)
			break;
		if (p->where >= KI_TAKEN)
			return p;
	}
	return NULL;
}

/* The copy of a call begins with a call of its own: a word is on the stack in the rest of it. */
static u64 pushed_in(const struct ki_copy *c)
{
	const struct ki_fixup *f = &c->fix[0];

	return c->nfix && f->kind == KI_FIX_ABS32 ? GENMASK_ULL(c->len - 1, KI_CALL_LEN) : 0;
}

/*
 * A call that the springboard does not cover stands in the text as it was: no bounce is put over
 * one (check.c). Executed there it costs as much as its copy would without what that does to keep
 * the processor's idea of returns right.
 */
static bool call_stands(const struct ki_win *w, u8 i, unsigned long addr)
{
	u32 covered = w->boarded ? ki_board_len(w->board) : 0;

	return w->flow[i] & KI_FLOW_CALL && addr - w->addr >= covered && !w->calls;
}

static void put_copy(struct ki_link *l, const struct ki_win *w, u8 i, unsigned long addr,
		     const struct ki_piece *taken)
{
	unsigned long side = taken ? l->base + taken->side : 0;
	struct ki_copy c;

	ki_direct_copy(l, w, i);
	if (l->group->order && w->flow[i] & KI_FLOW_CALL && !w->calls) {
		ki_lay_call(l, w, i, side);
		return;
	}
	if (!taken && call_stands(w, i, addr)) {
		ki_link_jump(l, addr, addr, 0);
		return;
	}
	ki_win_copy(w, i, &c);
	c.code[1] ^= w->off;
	if (w->flow[i] & KI_FLOW_DIRECT) {
		struct ki_fixup *branch = &c.fix[c.nfix - 1];

		branch->target = side ? side : ki_link_landing(l, branch->target);
	}
	ki_rows_code(&l->rows, l->len, addr, 0, pushed_in(&c), c.len);
	ki_rows_copy(&l->rows, l->len, addr, c.code, w->flow[i] & KI_FLOW_DIRECT ? 0 : side);
	ki_link_origin(l, c.len, addr);
	ki_link_put(l, c.code, c.len, c.fix, c.nfix);
}

/* Control goes on after a window's last instruction, which is instruction i. */
static void put_way_on(struct ki_link *l, const struct ki_win *w, u8 i, const struct ki_win *then)
{
	unsigned long behind = w->addr + w->len;

	if (w->flow[i] & KI_FLOW_ENDS || w->calls)
		return;
	if (l->group->order)
		ki_lay_fall(l, w, then);
	else if (!(w->flow[i] & KI_FLOW_CALL) && (!then || then->addr != behind))
		ki_link_jump(l, ki_link_landing(l, behind), behind, 0);
}

/* Does a chunk stand on a side of this instruction, whose next chunk is `from`? */
static bool has_sides(const struct ki_link *l, u32 from, const struct ki_win *w, u8 insn)
{
	return from < l->npieces && l->pieces[from]->win == w && l->pieces[from]->insn == insn;
}

/* then: the window of the group that stands after it in the patch; NULL. */
static void put_window(struct ki_link *l, u32 *next, const struct ki_win *w,
		       const struct ki_win *then)
{
	const struct ki_piece *other;
	unsigned long addr = w->addr;
	u8 i;

	l->rows.owner = w->owner;
	for (i = 0; i < w->ncopy; i++) {
		if (w == l->group->v[0] && i && addr - w->addr <= KI_FILL)
			l->inner[addr - w->addr - 1] = l->len;
		other = put_chunks(l, next, &(struct side){w, i, KI_BEFORE, addr, 0});
		if (other)
			ki_link_jump(l, other->target, addr, 0);
		if (w->branch)
			ki_lay_ask(l, w);
		if (i + 1 == w->ncopy && !has_sides(l, *next, w, i) && ki_lay_end(l, w, then))
			return;
		put_copy(l, w, i, addr, taken_side(l, *next, w, i));
		addr += w->insn_len[i];
		put_chunks(l, next, &(struct side){w, i, KI_AFTER, addr, 0});
		while (has_sides(l, *next, w, i))
			(*next)++; /* the taken side's: put later */
	}
	put_way_on(l, w, i - 1, then);
}

/* The chunks that are next run when what the jump at addr leads to has returned. */
static void put_returned_side(struct ki_link *l, u32 *next, u64 target, unsigned long addr)
{
	static const u8 push[] = {KI_PUSH, 0, 0, 0, 0};
	const struct ki_piece *first = l->pieces[*next];
	const struct ki_copy *ret = ki_return_form();
	struct ki_fixup way = {.kind = KI_FIX_ABS32, .off = 1, .target = first->back->addr};

	ki_rows_stack(&l->rows, l->len, addr, 0);
	ki_link_origin(l, sizeof(push), addr);
	ki_link_put(l, push, sizeof(push), &way, 1);
	ki_link_jump(l, target, addr, 8);
	first->back->next_at = l->len;
	l->ways = true;
	put_chunks(l, next, &(struct side){first->win, first->insn, KI_RETURNED, addr, 0});
	ki_rows_stack(&l->rows, l->len, addr, 0);
	ki_link_origin(l, ret->len, addr);
	ki_link_put(l, ret->code, ret->len, ret->fix, ret->nfix);
}

/* Is the next chunk one of this side? */
static bool is_next(const struct ki_link *l, u32 next, const struct ki_win *w, u8 insn, u8 where)
{
	const struct ki_piece *p = next < l->npieces ? l->pieces[next] : NULL;

	return p && p->win == w && p->insn == insn && p->where == where;
}

/* Where an instruction that faults goes on. The stack there is the fixup's own. */
static void put_fixup_side(struct ki_link *l, u32 *next, unsigned long addr)
{
	const struct ki_piece *first = l->pieces[*next];
	unsigned long fixup = ki_extable_fixup(ki_extable_find(first->win->owner, addr));

	put_chunks(l, next, &(struct side){first->win, first->insn, KI_TAKEN, fixup, 0});
	ki_link_jump(l, ki_link_landing(l, fixup), fixup, 0);
}

/* Whatever is on one has left the instruction: a call has pushed its return address. */
static void put_taken_side(struct ki_link *l, u32 *next)
{
	const struct ki_piece *first = l->pieces[*next], *other;
	const struct ki_win *w = first->win;
	unsigned long addr = ki_win_insn(w, first->insn);
	struct ki_copy c;
	u32 pushed;
	u64 target;

	l->rows.owner = w->owner;
	if (!(w->flow[first->insn] & KI_FLOW_DIRECT)) {
		put_fixup_side(l, next, addr);
		return;
	}
	ki_win_copy(w, first->insn, &c);
	pushed = pushed_in(&c) ? 8 : 0;
	other = put_chunks(l, next, &(struct side){w, first->insn, KI_TAKEN, addr, pushed});
	target = other ? other->target : ki_link_landing(l, c.fix[c.nfix - 1].target);
	if (!is_next(l, *next, w, first->insn, KI_RETURNED))
		ki_link_jump(l, target, addr, pushed);
	else
		put_returned_side(l, next, target, addr);
	if (other && is_next(l, *next - 1, w, first->insn, KI_RETURNED))
		l->reason = KI_R_TAIL_REPLACED; /* no code has looked where it leads */
}

static void put_taken_sides(struct ki_link *l)
{
	u32 next = 0;

	while (next < l->npieces) {
		if (l->pieces[next]->where < KI_TAKEN) {
			next++;
			continue;
		}
		l->pieces[next]->side = l->len;
		put_taken_side(l, &next);
	}
}

static void forget_ways(const struct ki_win *w)
{
	struct ki_return *r;

	list_for_each_entry (r, &w->returns, list)
		r->next_at = 0;
}

/* The window that control can fall into from the one at a place; NULL. */
static const struct ki_win *standing_behind(const struct ki_link *l, u32 place)
{
	u32 at;

	if (place + 1 == l->group->n)
		return NULL;
	at = ki_lay_at(l->group, place + 1);
	return ki_join_asks(l, at) ? NULL : l->group->v[at];
}

static void link_all(struct ki_link *l)
{
	struct ki_group *g = l->group;
	u32 i, next = 0;

	l->len = l->pad;
	l->npads = 0;
	l->reason = KI_R_OK;
	ki_rows_start(&l->rows);
	for (i = 0; i < g->n; i++) {
		u32 at = ki_lay_at(g, i);
		const struct ki_win *w = g->v[at];

		ki_lay_begin(l, w);
		if (ki_join_asks(l, at))
			ki_join_enter(l, at);
		g->next_at[at] = l->len;
		forget_ways(w);
		put_window(l, &next, w, standing_behind(l, i));
	}
	put_taken_sides(l);
}

/* As they stand in the patch; of equal ones the first installed first. */
static int by_place(const void *a, const void *b)
{
	const struct ki_piece *x = *(const struct ki_piece **)a, *y = *(const struct ki_piece **)b;

	ki_yield(); /* sort() lets no other task run */
	if (x->win != y->win)
		return x->win->place < y->win->place ? -1 : 1;
	if (x->insn != y->insn)
		return x->insn < y->insn ? -1 : 1;
	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	if ((x->kind == KI_CHUNK_REPLACE) != (y->kind == KI_CHUNK_REPLACE))
		return y->kind == KI_CHUNK_REPLACE ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Count the group's pieces, or note them. */
static u32 each_piece(const struct ki_group *g, struct ki_piece **out)
{
	struct ki_piece *p;
	u32 i, n = 0;

	for (i = 0; i < g->n; i++) {
		list_for_each_entry (p, &g->v[i]->chunks, in_window) {
			if (p->dying)
				continue;
			if (out)
				out[n] = p;
			n++;
		}
		list_for_each_entry (p, &g->v[i]->more, in_window) {
			if (out)
				out[n] = p;
			n++;
		}
	}
	return n;
}

static int gather(struct ki_link *l)
{
	l->npieces = each_piece(l->group, NULL);
	l->pieces = ki_array(l->npieces ? l->npieces : 1, sizeof(*l->pieces), GFP_KERNEL);
	if (!l->pieces)
		return -ENOMEM;
	each_piece(l->group, l->pieces);
	sort(l->pieces, l->npieces, sizeof(*l->pieces), by_place, NULL);
	return 0;
}

/* The patch is written, and the kernel's tables say what it is. */
static int write_patch(struct ki_link *l, struct ki_block *b, bool reserve, u16 *reason)
{
	l->base = ki_heap_addr(b);
	if (l->pad)
		link_all(l); /* taken sides and windows now stand elsewhere */
	link_all(l);
	ki_direct_decide(l);
	*reason = l->reason;
	if (l->reason)
		return -ERANGE;
	*reason = KI_R_HEAP_FULL;
	if (!ki_rows_publish(&l->rows, b, reserve))
		return -ENOSPC;
	ki_text_write_heap(l->base, l->buf, l->len);
	return 0;
}

/* A place in the heap; *filled: one that the springboard can be filled for. */
static int take_place(struct ki_link *l, bool reserve, bool *filled, struct ki_block **b)
{
	const struct ki_win *w = l->group->v[0];
	struct ki_filled as = {l->len, w->addr + KI_JMP_LEN, w->inner};
	int err = -ENOSPC;

	if (l->group->order)
		err = ki_heap_alloc_large(l->len, l->rows.norc, l->rows.nex, l->npads, b);
	*filled = false;
	if (!err)
		return 0;
	err = -ENOSPC;
	if (ki_fill_wanted(l->group))
		err = ki_heap_alloc_filled(&as, l->rows.norc, l->rows.nex, &l->pad, b);
	*filled = !err;
	if (err == -ENOSPC)
		err = ki_heap_alloc(l->len, l->rows.norc, l->rows.nex, reserve, b);
	return err;
}

/* A filled one remembers where late tasks go on. */
static void note_inner(const struct ki_link *l, struct ki_patch *out)
{
	u32 i;

	out->filled = true;
	for (i = 0; i < KI_FILL; i++)
		out->inner[i] = l->group->v[0]->inner >> i & 1 ? l->inner[i] : 0;
}

/* Neither length, rows nor order depend on the place. */
static int link_at_place(struct ki_link *l, bool reserve, struct ki_patch *out, u16 *reason)
{
	struct ki_block *b;
	bool filled;
	int err;

	ki_lay_fit(l, link_all);
	l->buf = ki_array(1, l->len + KI_HEAP_UNIT, GFP_KERNEL);
	if (!l->buf || ki_rows_room(&l->rows))
		return -ENOMEM;
	memset(l->buf, KI_INT3, KI_HEAP_UNIT);
	err = take_place(l, reserve, &filled, &b);
	if (err == -ENOSPC)
		*reason = KI_R_HEAP_FULL;
	if (err)
		return err;
	err = write_patch(l, b, reserve, reason);
	if (err)
		ki_heap_free(b);
	else
		*out = (struct ki_patch){.addr = l->base,
					 .len = l->len,
					 .faults = l->rows.nex || l->calls,
					 .calls = l->calls,
					 .ways = l->ways,
					 .bugs = l->rows.nbug,
					 .born = ki_moment(),
					 .block = b};
	if (!err && filled)
		note_inner(l, out);
	if (!err)
		ki_name_patch(out, l->group);
	return err;
}

int ki_patch_build(struct ki_group *g, bool reserve, struct ki_patch *out, u16 *reason)
{
	struct ki_link l = {.group = g, .base = g->v[0]->addr};
	int err;

	lockdep_assert_held(&ki_lock);
	*reason = KI_R_NO_MEMORY;
	err = gather(&l);
	if (!err)
		err = ki_lay_room(&l);
	if (!err)
		err = link_at_place(&l, reserve, out, reason);
	ki_rows_free(&l.rows);
	ki_array_free(l.buf);
	ki_array_free(l.pieces);
	ki_array_free(l.wide);
	return err;
}
