// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that are laid out: their windows stand in the patch in an order that the request says.
 *
 * The order is all that a request can choose, and all orders do the same: how control goes from
 * one window to the next is made here, of copies that the driver makes itself (copy.c).
 *
 *	what falls into the window that stands after it: nothing
 *	what falls into another: a jump there
 *	a jump to the window that stands after it: nothing
 *	a conditional branch whose taken target stands after it: the opposite branch, to where
 *		the original falls
 *
 * Branches within the patch are as short as they can be. All are taken to be short at first. As
 * long as one is found that does not reach, it is made wide and all is linked once more. (Chunks
 * on a side of a branch stand elsewhere, so such a branch is wide, and stays the right way round.)
 *
 * A static branch asks its key (branch.c), and is a conditional branch as others. A static call is
 * one of its trampoline (static_call.c), as others.
 *
 * Windows of several functions may stand in a group: join.c.
 *
 * Some windows of a layout may stand aside: in the last bytes of pages, where the others do not
 * stand. A first-level cache finds its sets by the bits within a page. Code may be larger than the
 * cache, and be executed again and again from beginning to end. Then each line misses: it was used
 * longest ago when it is wanted. If most of it takes turns in a few sets, what stands in the others
 * stays. (Hashemi, Kaeli and Calder, "Efficient Procedure Mapping Using Cache Line Coloring", PLDI
 * 1997.)
 *
 * Calls are made from the patch: they return into it. (In all other patches none does: patch.c,
 * copy.c.) That is what a layout is for: what is executed one after the other stands so, and a
 * call that stays in the text would take its cache line and two jumps. So a task may be in a
 * function that it called from the patch, and sleep there. Such a patch is one in which tasks may
 * sleep as in faults. It is given back when no stack leads there (faults.c). The unwinder is told
 * of the calls as of all else in a patch.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "patch/link.h"
#include "text/site.h"
#include "user.h"

#define KI_CALL	   0xe8
#define KI_JCC	   0x0f /* and 0x80 + the condition, which its lowest bit turns round */
#define KI_JCC_LEN 6
#define KI_SHORT   2 /* bytes of a short branch */
#define KI_PER_WIN 2 /* branches at the end of a window: its own, and a jump after it */

u32 ki_lay_at(const struct ki_group *g, u32 place)
{
	return g->order ? g->order[place] : place;
}

/* Windows of callers, which are executed in the text, are of none of the functions. */
static void note_callers(struct ki_group *g)
{
	u32 i, callers = 0;

	for (i = 0; i < g->n; i++)
		if (g->v[i]->calls)
			g->v[i]->function = g->functions + ++callers;
	g->joined = g->functions > 1 || callers;
}

/* Each place once: who has it. */
static u16 take_places(struct ki_group *g, const struct ki_window *req)
{
	u32 i, functions = 0;

	memset(g->order, 0xff, g->n * sizeof(*g->order));
	for (i = 0; i < g->n; i++) {
		if (req[i].place >= g->n || g->order[req[i].place] != U32_MAX)
			return KI_R_BAD_LAYOUT;
		g->order[req[i].place] = i;
		g->v[i]->place = req[i].place;
		g->asides |= g->v[i]->aside;
		functions += g->v[i]->entry && !g->v[i]->calls;
		g->v[i]->function = functions;
	}
	g->functions = functions;
	note_callers(g);
	return KI_R_OK;
}

static bool all_laid(const struct ki_window *req, u32 n)
{
	u32 i, laid = 0;

	for (i = 0; i < n; i++)
		laid += req[i].flags & KI_WINDOW_LAID ? 1 : 0;
	return laid == n;
}

static bool any_laid(const struct ki_window *req, u32 n)
{
	while (n)
		if (req[--n].flags & KI_WINDOW_LAID)
			return true;
	return false;
}

u16 ki_lay_out(struct ki_group *g, const struct ki_window *req)
{
	lockdep_assert_held(&ki_lock);
	if (!any_laid(req, g->n))
		return KI_R_OK;
	if (!all_laid(req, g->n))
		return KI_R_BAD_LAYOUT;
	g->order = ki_array(g->n, sizeof(*g->order), KI_GFP | __GFP_ZERO);
	return g->order ? take_places(g, req) : KI_R_NO_MEMORY;
}

u16 ki_lay_same(const struct ki_group *g, struct ki_win *const *wins, const struct ki_window *req,
		u32 n)
{
	u32 i;

	lockdep_assert_held(&ki_lock);
	if (!any_laid(req, n))
		return KI_R_OK;
	if (!g->order || n != g->n || !all_laid(req, n))
		return KI_R_GROUP_MIXED;
	for (i = 0; i < n; i++)
		if (wins[i]->place != req[i].place ||
		    wins[i]->aside != !!(req[i].flags & KI_WINDOW_ASIDE))
			return KI_R_GROUP_MIXED;
	return KI_R_OK;
}

int ki_lay_room(struct ki_link *l)
{
	if (!l->group->order)
		return 0;
	l->wide = ki_array(l->group->n, KI_PER_WIN + 1, GFP_KERNEL | __GFP_ZERO);
	if (!l->wide)
		return -ENOMEM;
	l->enter = l->wide + l->group->n * KI_PER_WIN;
	if (l->group->joined)
		ki_join_look(l);
	return 0;
}

void ki_lay_fit(struct ki_link *l, void (*link_all)(struct ki_link *l))
{
	link_all(l);
	l->fitting = l->wide;
	do {
		l->wider = false;
		if (l->fitting)
			link_all(l);
	} while (l->wider);
	l->fitting = false;
}

/*
 * May a branch to window i of the group be short? One that is found not to reach is wide from now
 * on. While nothing is known yet of where windows stand, and when all is, nothing is found.
 */
static bool is_short(struct ki_link *l, int i, u8 *wide)
{
	s64 far = i < 0 ? 0 : (s64)l->group->next_at[i] - (l->len + KI_SHORT);

	if (i < 0 || *wide)
		return false;
	if (!l->fitting || far == (s8)far)
		return true;
	*wide = true;
	l->wider = true;
	return false;
}

/* A branch is next: a jump, or one under a condition. It leads to where `to` is in the patch. */
static void put_branch(struct ki_link *l, unsigned long addr, const u8 *op, u8 n, u64 to, u8 *wide)
{
	struct ki_fixup f = {.kind = KI_FIX_REL32, .off = n, .target = ki_link_landing(l, to)};
	u8 code[2 + 4] = {op[0], n > 1 ? op[1] : 0};
	u8 len = n + 4;

	ki_rows_stack(&l->rows, l->len, addr, 0);
	if (is_short(l, ki_group_find(l->group, to), wide)) {
		code[0] = n > 1 ? 0x70 | (op[1] & 0xf) : KI_JMP_SHORT;
		code[1] = f.target - (l->base + l->len + KI_SHORT);
		len = KI_SHORT;
	}
	ki_link_origin(l, len, addr);
	ki_link_put(l, code, len, &f, len != KI_SHORT);
}

static u8 *wide_of(const struct ki_link *l, const struct ki_win *w, u32 which)
{
	return &l->wide[w->place * KI_PER_WIN + which];
}

static void put_jump(struct ki_link *l, const struct ki_win *w, unsigned long addr, u64 to,
		     u32 which)
{
	static const u8 jmp = KI_JMP;

	put_branch(l, addr, &jmp, 1, to, wide_of(l, w, which));
}

/* Where in its page a patch with windows aside, which begins with one, has its next byte. */
static u32 in_page(const struct ki_link *l)
{
	return (l->len - l->pad) % PAGE_SIZE;
}

static bool may_begin(const struct ki_win *w, u32 in_page)
{
	return (in_page % PAGE_SIZE >= PAGE_SIZE - KI_ASIDE) == w->aside;
}

void ki_lay_begin(struct ki_link *l, const struct ki_win *w)
{
	u32 at = in_page(l);

	if (!l->group->asides || may_begin(w, at))
		return;
	if (++l->npads > KI_ASIDES)
		l->reason = KI_R_BAD_LAYOUT;
	else
		ki_link_fill(l, PAGE_SIZE - (w->aside ? KI_ASIDE : 0) - at);
}

/* Does the window that is next begin here, and after a branch, too, that is put here? */
static bool follows(const struct ki_link *l, const struct ki_win *then)
{
	return !l->group->asides ||
	       (may_begin(then, in_page(l)) && may_begin(then, in_page(l) + KI_JCC_LEN));
}

/* Control that comes to the end of what has been put gets to this address. */
static bool falls_to(const struct ki_link *l, const struct ki_win *then, u64 addr)
{
	return then && then->addr == addr && follows(l, then);
}

void ki_lay_fall(struct ki_link *l, const struct ki_win *w, const struct ki_win *then)
{
	unsigned long behind = w->addr + w->len;

	if (!falls_to(l, then, behind))
		put_jump(l, w, behind, behind, 1);
}

/* A conditional branch: 0f 8x. */
static void put_condition(struct ki_link *l, const struct ki_win *w, const struct ki_win *then,
			  const struct ki_copy *c)
{
	unsigned long addr = ki_win_insn(w, w->ncopy - 1), behind = w->addr + w->len;
	u64 target = c->fix[0].target;
	u8 op[2] = {c->code[0], c->code[1] ^ w->off};

	if (falls_to(l, then, target) && target != behind) {
		op[1] ^= 1;
		put_branch(l, addr, op, 2, behind, wide_of(l, w, 0));
		return;
	}
	put_branch(l, addr, op, 2, target, wide_of(l, w, 0));
	ki_lay_fall(l, w, then);
}

bool ki_lay_end(struct ki_link *l, const struct ki_win *w, const struct ki_win *then)
{
	u8 last = w->ncopy - 1, flow = w->flow[last];
	struct ki_copy c;

	if (!l->group->order || !(flow & KI_FLOW_DIRECT) || flow & KI_FLOW_CALL || w->calls)
		return false;
	ki_win_copy(w, last, &c);
	if (flow & KI_FLOW_ENDS) {
		if (!falls_to(l, then, c.fix[0].target))
			put_jump(l, w, ki_win_insn(w, last), c.fix[0].target, 0);
		return true;
	}
	if (c.code[0] != KI_JCC) /* loop: it has no opposite */
		return false;
	put_condition(l, w, then, &c);
	return true;
}

void ki_lay_ask(struct ki_link *l, const struct ki_win *w)
{
	static const u8 code[] = {0x83, 0x3d, 0, 0, 0, 0, 0}; /* cmpl $0, key */
	const struct ki_fixup key = {.kind = KI_FIX_REL32, .off = 2, .tail = 1, .target = w->key};

	ki_rows_stack(&l->rows, l->len, w->addr, 0);
	ki_link_origin(l, sizeof(code), w->addr);
	ki_link_put(l, code, sizeof(code), &key, 1);
}

void ki_lay_call(struct ki_link *l, const struct ki_win *w, u8 insn, unsigned long side)
{
	unsigned long addr = ki_win_insn(w, insn);
	u8 code[KI_COPY_MAX] = {KI_CALL}, len = KI_JMP_LEN;
	struct ki_copy c;
	struct ki_fixup *f;

	ki_win_copy(w, insn, &c); /* its first fixup is what it pushes */
	f = &c.fix[1];
	if (w->flow[insn] & KI_FLOW_DIRECT) {
		f->off = 1;
		f->target = side ? side : ki_link_landing(l, f->target);
	} else {
		len = w->insn_len[insn];
		memcpy(code, w->orig + (addr - w->addr), len);
		f->off -= c.len - len;
	}
	ki_rows_code(&l->rows, l->len, addr, 0, 0, len);
	ki_link_origin(l, len, addr);
	ki_link_put(l, code, len, f, c.nfix - 1);
	l->calls = true;
}
