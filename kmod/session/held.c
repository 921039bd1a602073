// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has been taken out and could not be given back yet, with its reason and its holder.
 *
 * One row a request, by number, so nothing is copied to the caller while ki_lock is held. There are
 * few, and each request walks to its own.
 */
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/string.h>

#include "change/mute.h"
#include "symbols.h"
#include "watch/held.h"
#include "yield.h"

/* The kprobe at one of the bytes. The first of several at the same one. Kprobes are held. */
static struct kprobe *kprobe_in(unsigned long addr, u32 len)
{
	struct kprobe *p = NULL;

	preempt_disable();
	for (; len-- && !p; addr++)
		p = ki_call(get_kprobe)((void *)addr);
	preempt_enable();
	return p && !list_empty(&p->list) ? list_first_entry(&p->list, struct kprobe, list) : p;
}

/* Who stands in a springboard of the group, and in which window. */
static struct kprobe *find_kprobe(const struct ki_group *g, struct ki_held *row)
{
	struct kprobe *p = NULL;
	u32 i;

	for (i = 0; i < g->n && !p; i++) {
		const struct ki_win *w = g->v[i];

		if (!w->boarded)
			continue;
		p = kprobe_in(w->site.addr, w->site.len);
		if (!p && w->bounce.len)
			p = kprobe_in(w->bounce.addr, w->bounce.len);
		if (p)
			row->addr = w->addr;
	}
	return p;
}

static void tell_group(const struct ki_group *g, struct ki_held *row)
{
	struct kprobe *p;

	row->addr = g->v[0]->addr;
	row->bytes = ki_heap_bytes(g->patch.block);
	ki_probes_hold();
	p = find_kprobe(g, row);
	row->holder = p ? (unsigned long)p->pre_handler : 0;
	ki_probes_release();
	row->kind = g->stuck ? KI_HELD_WINDOWS : KI_HELD_MUTED;
	row->count = g->stuck ? g->n : ki_mute_in(g);
	row->reason = g->stuck || p ? KI_R_FOREIGN_BREAKPOINT : KI_R_HEAP_FULL;
}

static bool tell_window(struct ki_held_walk *walk)
{
	struct ki_win *w;

	for (w = ki_win_touching(0, ULONG_MAX); w; w = ki_win_next(w)) {
		struct ki_group *g = w->group;

		ki_yield();
		if (w != g->v[0] || !(ki_unsplice_is_stuck(g) || ki_mute_in(g)) ||
		    !ki_held_is_next(walk))
			continue;
		tell_group(g, walk->row);
		return true;
	}
	return false;
}

int ki_held_tell(struct ki_held *row)
{
	struct ki_held_walk w = {.before = row->index, .row = row};

	lockdep_assert_held(&ki_lock);
	if (row->zero)
		return -EINVAL;
	*row = (struct ki_held){.size = sizeof(*row), .index = row->index};
	return tell_window(&w) || ki_held_retired(&w) || ki_held_return(&w) || ki_held_process(&w)
		       ? 0
		       : -ENOENT;
}
