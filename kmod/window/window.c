// SPDX-License-Identifier: GPL-2.0-only
/*
 * The installed windows, by address. They never overlap. And groups of windows.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "retire/retire.h"
#include "text/site.h"
#include "user.h"
#include "vet/long.h"
#include "watch/who.h"
#include "window/charge.h"
#include "yield.h"

static struct rb_root ki_windows = RB_ROOT;
static u32 ki_windows_count;

/* The first window that ends after start. */
static struct ki_win *first_ending_behind(unsigned long start)
{
	struct rb_node *n = ki_windows.rb_node;
	struct ki_win *best = NULL;

	while (n) {
		struct ki_win *w = rb_entry(n, struct ki_win, node);

		if (w->addr + w->len > start) {
			best = w;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

struct ki_win *ki_win_find(unsigned long start, unsigned long end)
{
	struct ki_win *w = first_ending_behind(start);

	return w && w->addr < end ? w : NULL;
}

struct ki_win *ki_win_touching(unsigned long start, unsigned long end)
{
	lockdep_assert_held(&ki_lock);
	return ki_win_find(start, end);
}

struct ki_win *ki_win_next(struct ki_win *w)
{
	struct rb_node *n = rb_next(&w->node);

	lockdep_assert_held(&ki_lock);
	return n ? rb_entry(n, struct ki_win, node) : NULL;
}

struct ki_win *ki_win_new(const struct ki_window *req, const struct ki_copy *copies)
{
	struct ki_win *w = kzalloc(struct_size(w, orig, req->len + 2 * req->ncopy), KI_GFP);
	u8 i;

	lockdep_assert_held(&ki_lock);
	if (!w)
		return NULL;
	INIT_LIST_HEAD(&w->chunks);
	INIT_LIST_HEAD(&w->more);
	INIT_LIST_HEAD(&w->returns);
	w->addr = req->addr;
	w->bounce_at = req->bounce;
	w->len = req->len;
	w->ncopy = req->ncopy;
	w->board = req->board;
	w->boarded = !(req->flags & KI_WINDOW_UNBOARDED);
	w->calls = req->flags & KI_WINDOW_CALL;
	w->aside = req->flags & KI_WINDOW_ASIDE;
	w->branch = req->flags & KI_WINDOW_BRANCH;
	w->static_call = req->flags & KI_WINDOW_STATIC_CALL;
	memcpy(w->orig, req->orig, req->len);
	w->insn_len = w->orig + req->len;
	w->flow = w->insn_len + req->ncopy;
	for (i = 0; i < req->ncopy; i++)
		w->insn_len[i] = copies[i].orig_len;
	return w;
}

unsigned long ki_win_insn(const struct ki_win *w, u8 insn)
{
	unsigned long addr = w->addr;

	while (insn--)
		addr += w->insn_len[insn];
	return addr;
}

void ki_win_copy(const struct ki_win *w, u8 insn, struct ki_copy *out)
{
	unsigned long addr = ki_win_insn(w, insn), at = addr - w->addr;
	u8 flow;

	if (w->branch || w->static_call)
		ki_copy_written(w, out);
	else /* It has been copied once, when the window was verified. */
		WARN_ON_ONCE(ki_copy_emit(addr, w->orig + at, w->len - at, out, &flow));
}

static void insert(struct ki_win *w)
{
	struct rb_node **at = &ki_windows.rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = w->addr < rb_entry(parent, struct ki_win, node)->addr ? &parent->rb_left
									   : &parent->rb_right;
	}
	rb_link_node(&w->node, parent, at);
	rb_insert_color(&w->node, &ki_windows);
	ki_windows_count++;
	w->site.live = w->bounce.live = true;
}

void ki_win_free(struct ki_win *w)
{
	lockdep_assert_held(&ki_lock);
	if (!w)
		return;
	ki_site_drop(&w->site);
	ki_site_drop(&w->bounce);
	module_put(w->owner);
	kfree(w);
}

/* Where their calls lead, if there are such whose calls lead elsewhere. */
static int direct_new(struct ki_group *g)
{
	bool any = false;
	u32 i;

	for (i = 0; i < g->n; i++)
		any |= g->v[i]->calls;
	if (!any)
		return 0;
	g->direct = ki_array(g->n, 2 * sizeof(*g->direct), KI_GFP | __GFP_ZERO);
	g->next_direct = g->direct ? g->direct + g->n : NULL;
	return g->direct ? 0 : -ENOMEM;
}

int ki_group_new(struct ki_win **v, u32 n)
{
	struct ki_group *g = ki_array(1, struct_size(g, v, n), KI_GFP | __GFP_ZERO);
	u32 i;

	lockdep_assert_held(&ki_lock);
	if (!g)
		return -ENOMEM;
	g->at = ki_array(n, 2 * sizeof(*g->at), KI_GFP | __GFP_ZERO);
	if (!g->at) {
		ki_array_free(g);
		return -ENOMEM;
	}
	g->next_at = g->at + n;
	g->fresh = true;
	g->n = n;
	memcpy(g->v, v, n * sizeof(*v));
	if (direct_new(g)) {
		ki_array_free(g->at);
		ki_array_free(g);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		v[i]->group = g;
		v[i]->place = i;
	}
	return 0;
}

void ki_group_insert(struct ki_group *g)
{
	u32 i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < g->n; i++) {
		insert(g->v[i]);
		ki_holder_window(g->v[i], true);
		ki_yield();
	}
	g->fresh = false;
}

void ki_group_erase(struct ki_group *g)
{
	u32 i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < g->n; i++) {
		if (g->v[i]->host)
			g->v[i]->host->users--;
		rb_erase(&g->v[i]->node, &ki_windows);
		ki_holder_window(g->v[i], false);
		ki_windows_count--;
		ki_yield();
	}
}

void ki_group_free(struct ki_group *g)
{
	u32 i;

	lockdep_assert_held(&ki_lock);
	if (!g)
		return;
	ki_charge_group_end(g);
	for (i = 0; i < g->n; i++) {
		ki_win_free(g->v[i]);
		ki_yield();
	}
	ki_array_free(g->at < g->next_at ? g->at : g->next_at);
	ki_array_free(g->direct < g->next_direct ? g->direct : g->next_direct);
	ki_array_free(g->order);
	ki_array_free(g);
}

int ki_group_find(const struct ki_group *g, unsigned long addr)
{
	u32 lo = 0, hi = g->n;

	lockdep_assert_held(&ki_lock);
	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (g->v[mid]->addr == addr)
			return mid;
		if (g->v[mid]->addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

void ki_piece_retire(struct ki_piece *p)
{
	lockdep_assert_held(&ki_lock);
	ki_holder_piece(p, false);
	ki_retire_module(p->owner);
	p->owner = NULL;
	ki_long_retire(p->more);
}

void ki_piece_free(struct ki_piece *p)
{
	lockdep_assert_held(&ki_lock);
	if (!p)
		return;
	ki_charge_end(p);
	module_put(p->owner);
	ki_long_free(p->more);
	ki_return_put(p->back);
	kfree(p);
}

u32 ki_win_count(void)
{
	lockdep_assert_held(&ki_lock);
	return ki_windows_count;
}
