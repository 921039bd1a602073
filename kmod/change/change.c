// SPDX-License-Identifier: GPL-2.0-only
/*
 * A change of installed windows, and what the two requests that make changes share.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "ki.h"
#include "change/mute.h"
#include "patch/direct.h"
#include "retire/retire.h"
#include "symbols.h"
#include "watch/who.h"
#include "yield.h"

static void jump(u8 *out, unsigned long at, unsigned long to)
{
	s32 rel = to - (at + KI_JMP_LEN);

	out[0] = KI_JMP;
	memcpy(out + 1, &rel, 4);
}

static void short_jump(u8 *out, unsigned long at, unsigned long to)
{
	out[0] = KI_JMP_SHORT;
	out[1] = to - (at + 2);
}

/* One window of a change: where its springboard led, and where it will; 0: nowhere. */
struct ki_move {
	const struct ki_win *win;
	const struct ki_patch *next; /* of its group */
	bool fresh;
	unsigned long from, to;
};

/* The swap of one site: from the bytes of one patch to those of another; no patch: the original. */
static struct ki_swap *site_swap(struct ki_swap *s, const struct ki_move *m,
				 const struct ki_site *site)
{
	*s = (struct ki_swap){.addr = site->addr, .len = site->len, .fresh = m->fresh};
	s->via = m->to ? m->to : m->from;
	memcpy(s->now, site->orig, site->len);
	memcpy(s->then, site->orig, site->len);
	return s;
}

static u32 fill_jmp(struct ki_swap *s, const struct ki_move *m)
{
	const struct ki_win *w = m->win;

	site_swap(s, m, &w->site)->wait = w->wait && ki_fill_waits(w->group, m->next);
	if (!m->fresh)
		jump(s->now, w->addr, m->from);
	if (m->to)
		jump(s->then, w->addr, m->to);
	return 1 + ki_fill_swaps(w->group, m->next, s, s + 1);
}

static void fill_trap(struct ki_swap *s, const struct ki_move *m)
{
	site_swap(s, m, &m->win->site)->trap = m->to;
	if (!m->fresh)
		s->now[0] = KI_INT3;
	if (m->to)
		s->then[0] = KI_INT3;
}

/*
 * The jmp rel8 changes when the window comes and goes; its bounce then is written where no CPU
 * is: in the instructions of a host, or before it is restored, that takes the wait. Between two
 * patches only the bounce changes, and then it is code that runs.
 */
static void fill_bounce(struct ki_swap *s, const struct ki_move *m)
{
	const struct ki_win *w = m->win;

	site_swap(s, m, &w->bounce)->wait = !w->bounce.filler || !m->to;
	if (!m->fresh)
		jump(s->now, w->bounce.addr, m->from);
	if (m->to)
		jump(s->then, w->bounce.addr, m->to);
	if (!m->fresh && m->to) {
		s->wait = false;
		return;
	}
	s++->via = 0;
	site_swap(s, m, &w->site)->wait = m->fresh && w->wait;
	short_jump(m->fresh ? s->then : s->now, w->addr, w->bounce.addr);
}

/* Returns how many swaps it takes. */
static u32 fill_window(struct ki_swap *s, const struct ki_move *m)
{
	if (!m->win->boarded)
		return 0;
	switch (m->win->board) {
	case KI_BOARD_JMP:
		return fill_jmp(s, m);
	case KI_BOARD_TRAP:
		fill_trap(s, m);
		return 1;
	default:
		fill_bounce(s, m);
		return m->fresh || !m->to ? 2 : 1;
	}
}

/* Is it in the function with which text_poke compares what it has written? */
static bool writes(const struct ki_group *g)
{
	static unsigned long start, size;
	const struct ki_win *last = g->v[g->n - 1];
	unsigned long off;

	if (!start) {
		start = ki_symbol("memcmp");
		ki_call(kallsyms_lookup_size_offset)(start, &size, &off);
	}
	return g->v[0]->addr < start + size && last->addr + last->len > start;
}

/* How many swaps a change has, at most. */
static u32 most_swaps(const struct ki_change *c)
{
	const struct ki_group *g = c->group;
	u32 i, n = ki_return_swaps(c, NULL);

	for (i = 0; i < g->n; i++) {
		const struct ki_win *w = g->v[i];

		ki_yield();
		n += w->calls || w->board == KI_BOARD_BOUNCE ? 2 : 1;
		if (g->patch.filled || c->patch.filled)
			n += KI_FILL;
	}
	return n;
}

/* Fill in the swaps of a change; returns how many. */
static u32 fill_swaps(struct ki_swap *s, const struct ki_change *c)
{
	const struct ki_group *g = c->group;
	bool in_writing = writes(g);
	u32 i, n = 0;

	for (i = 0; i < g->n; i++) {
		struct ki_move m = {.win = g->v[i], .next = &c->patch, .fresh = g->fresh};

		ki_yield();
		if (g->v[i]->calls) {
			n += ki_direct_swaps(c, i, s + n);
			continue;
		}
		if (g->patch.addr)
			m.from = g->patch.addr + g->at[i];
		if (c->patch.addr)
			m.to = c->patch.addr + g->next_at[i];
		n += fill_window(s + n, &m);
	}
	n += ki_return_swaps(c, s + n);
	for (i = 0; i < n; i++)
		s[i].writes = in_writing;
	return n;
}

/* Which change the swap at an address belongs to. */
static u32 change_at(const struct ki_change *changes, u32 n, unsigned long addr)
{
	u32 i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < changes[i].group->n; k++)
			if (addr - changes[i].group->v[k]->site.addr <
				    changes[i].group->v[k]->site.len ||
			    changes[i].group->v[k]->bounce.addr == addr)
				return i;
	return n;
}

int ki_change_swap(struct ki_change *changes, u32 n, u32 *bad)
{
	struct ki_swap *v;
	u32 i, last, swaps = 0;
	int err;

	lockdep_assert_held(&ki_lock);
	*bad = n;
	for (i = 0; i < n; i++)
		swaps += most_swaps(&changes[i]);
	v = ki_array(swaps, sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	for (last = 0, swaps = 0; last < 2; last++)
		for (i = 0; i < n; i++)
			if (writes(changes[i].group) == last)
				swaps += fill_swaps(v + swaps, &changes[i]);
	err = ki_text_swap(v, swaps, bad);
	if (err == -ESTALE)
		*bad = change_at(changes, n, v[*bad].addr);
	ki_array_free(v);
	return err;
}

static void free_dying(struct ki_win *w)
{
	struct ki_piece *p, *next;

	list_for_each_entry_safe (p, next, &w->chunks, in_window) {
		if (!p->dying)
			continue;
		list_del(&p->in_window);
		list_del(&p->in_session);
		ki_step("piece dies");
		ki_mute_forget(p);
		ki_piece_retire(p);
		ki_piece_free(p);
	}
}

static void note_places(struct list_head *pieces)
{
	struct ki_piece *p;

	list_for_each_entry (p, pieces, in_window)
		p->at = p->next_at;
}

/* The patch that has been built is the group's from now on; the one before is retired. */
void ki_change_record(struct ki_change *c)
{
	struct ki_group *g = c->group;
	u32 i;

	lockdep_assert_held(&ki_lock);
	ki_who_changed(c);
	for (i = 0; i < g->n; i++) {
		free_dying(g->v[i]);
		note_places(&g->v[i]->chunks);
		note_places(&g->v[i]->more);
		ki_yield();
	}
	ki_fill_record(&g->patch, &c->patch);
	ki_retire_patch(g->patch);
	g->patch = c->patch;
	swap(g->at, g->next_at);
	swap(g->direct, g->next_direct);
	ki_return_record(g);
}

void ki_change_drop(struct ki_change *changes, u32 n)
{
	u32 i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < n; i++)
		if (changes[i].patch.addr)
			ki_patch_free(&changes[i].patch);
}
