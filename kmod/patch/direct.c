// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that lead elsewhere where they stand: windows with KI_WINDOW_CALL.
 *
 * Such a window ends in a direct call or jump of five bytes, and what is wanted of it is only that
 * this goes elsewhere: to a replacement, or to where its function stands in a patch. A springboard
 * for that would cost two jumps at each call. So the distance in the call itself is changed, and
 * what returns from there returns into the text, as ever: no patch is on its way.
 *
 *	the window is the call		one place is written: the call, or the springboard
 *	the call lies after the springboard	two places are written, each by itself
 *
 * The springboard is there only while chunks stand in the window. The patch is there always, for
 * them, and for a CPU that meets the breakpoint while the call is written (text.c). It has the
 * call's copy, which pushes the address in the text. A call that the springboard covers only in
 * part cannot be changed so, because no two places may overlap.
 *
 * While a replacement is alone in its window the call leads to it. As soon as there is another
 * chunk, or a second replacement, which may have to be muted (mute.c), control goes through the
 * patch.
 *
 * If a task is in what was called: it comes back to the text, where nothing has changed. If the
 * call's function is traced: join.c asks for that before a layout's first window.
 */
#include <linux/string.h>

#include "patch/direct.h"
#include "patch/link.h"
#include "text/site.h"
#include "text/text.h"

#define KI_CALL 0xe8

static u8 call_offset(const struct ki_win *w)
{
	return w->len - KI_JMP_LEN;
}

u16 ki_direct_check(const struct ki_win *w)
{
	u8 last = w->ncopy - 1, at = call_offset(w);

	lockdep_assert_held(&ki_lock);
	if (!w->calls)
		return KI_R_OK;
	if (!w->boarded || w->board != KI_BOARD_JMP || w->len < KI_JMP_LEN ||
	    w->insn_len[last] != KI_JMP_LEN || ki_win_insn(w, last) != w->addr + at ||
	    (w->orig[at] != KI_CALL && w->orig[at] != KI_JMP) || (at && at < KI_JMP_LEN))
		return KI_R_BAD_BOARD;
	return KI_R_OK;
}

bool ki_direct_claim(struct ki_win *w)
{
	u8 at = call_offset(w);

	lockdep_assert_held(&ki_lock);
	return !w->calls || !at ||
	       ki_site_claim(&w->bounce, w->addr + at, KI_JMP_LEN, w->orig + at);
}

void ki_direct_copy(struct ki_link *l, const struct ki_win *w, u8 insn)
{
	if (w->calls && insn + 1 == w->ncopy)
		l->group->next_direct[ki_group_find(l->group, w->addr)].at = l->len;
}

/* A replacement of the call, and nothing else is in the group. */
static bool replaces_alone(const struct ki_link *l, const struct ki_piece *p)
{
	return p->kind == KI_CHUNK_REPLACE && p->where == KI_TAKEN && l->npieces == 1 &&
	       l->group->n == 1;
}

void ki_direct_decide(struct ki_link *l)
{
	struct ki_direct *d = l->group->next_direct;
	u32 i;

	for (i = 0; d && i < l->group->n; i++) {
		const struct ki_win *w = l->group->v[i];
		struct ki_copy c;

		if (!w->calls)
			continue;
		ki_win_copy(w, w->ncopy - 1, &c);
		d[i].to = ki_link_landing(l, c.fix[c.nfix - 1].target);
		d[i].up = false;
	}
	for (i = 0; d && i < l->npieces; i++) {
		const struct ki_piece *p = l->pieces[i];
		struct ki_direct *of = d + ki_group_find(l->group, p->win->addr);

		if (!p->win->calls || p->kind == KI_CHUNK_KEEP)
			continue;
		if (replaces_alone(l, p))
			of->to = p->target;
		else
			of->up = true;
	}
}

bool ki_direct_leads(const struct ki_piece *p)
{
	const struct ki_group *g = p->win->group;
	const struct ki_direct *d;

	lockdep_assert_held(&ki_lock);
	if (!p->win->calls || p->kind != KI_CHUNK_REPLACE)
		return false;
	d = &g->direct[ki_group_find(g, p->win->addr)];
	return !d->up && d->to == (u32)p->target;
}

/* ---- what is written ---- */

/* A window's places, before or after a change. */
struct state {
	struct ki_direct d;
	unsigned long patch; /* the group's; 0: none */
	unsigned long at;    /* the window's place in it */
};

static struct state state_of(const struct ki_patch *p, const struct ki_direct *d, u32 at)
{
	if (!p->addr)
		return (struct state){};
	return (struct state){*d, p->addr, p->addr + at};
}

static void lead(u8 *bytes, u8 op, unsigned long from, unsigned long to)
{
	s32 rel = to - (from + KI_JMP_LEN);

	bytes[0] = op;
	memcpy(bytes + 1, &rel, sizeof(rel));
}

/* The bytes of the springboard's place; of a call that is all of the window. */
static void put_board(u8 *bytes, const struct ki_win *w, const struct state *s)
{
	memcpy(bytes, w->orig, KI_JMP_LEN);
	if (s->d.up)
		lead(bytes, KI_JMP, w->addr, s->at);
	else if (s->patch && !call_offset(w))
		lead(bytes, w->orig[0], w->addr, (s64)(s32)s->d.to);
}

static void put_call(u8 *bytes, const struct ki_win *w, const struct state *s)
{
	u8 at = call_offset(w);

	memcpy(bytes, w->orig + at, KI_JMP_LEN);
	if (s->patch)
		lead(bytes, w->orig[at], w->addr + at, (s64)(s32)s->d.to);
}

static u32 differs(const struct ki_swap *s)
{
	return memcmp(s->now, s->then, s->len) ? 1 : 0;
}

u32 ki_direct_swaps(const struct ki_change *c, u32 i, struct ki_swap *out)
{
	const struct ki_group *g = c->group;
	const struct ki_win *w = g->v[i];
	struct state was = state_of(&g->patch, &g->direct[i], g->at[i]);
	struct state is = state_of(&c->patch, &g->next_direct[i], g->next_at[i]);
	const struct state *via = is.patch ? &is : &was;
	struct ki_swap *s = out;

	lockdep_assert_held(&ki_lock);
	*s = (struct ki_swap){.addr = w->addr, .len = KI_JMP_LEN, .via = via->at};
	s->fresh = !was.d.up;
	s->wait = is.d.up && !was.d.up && w->wait;
	put_board(s->now, w, &was);
	put_board(s->then, w, &is);
	s += differs(s);
	if (!call_offset(w))
		return s - out;
	*s = (struct ki_swap){.addr = w->addr + call_offset(w), .len = KI_JMP_LEN};
	s->via = via->patch + via->d.at;
	s->fresh = g->fresh;
	put_call(s->now, w, &was);
	put_call(s->then, w, &is);
	return s + differs(s) - out;
}
