// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacements must not lead in a circle.
 *
 * What a call of a function runs is found by going from each function to what stands for it, until
 * one is not replaced. With f replaced by g, and g by f, there is none: the first caller would
 * jump from one entry to the other for ever. A call or a jump that is replaced leads from the
 * function that it is in to the one that is called instead. A circle through it is a recursion
 * that the kernel's authors never wrote, and its stack is small.
 *
 * Several replacements of one function are all counted, although only the last is effective: any of
 * them is, when the sessions above it have gone, and sessions must be able to go in any order. So
 * the graph of all installed ones has no circle, always; a request that would make one is refused,
 * and no removal can make one. It is made anew for each request with a replacement: the lock that
 * is held until the request is recorded leaves no gap between two sessions.
 *
 * Not looked at are calls that the functions make themselves: a g that calls the f it stands for
 * comes back to itself.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "array.h"
#include "splice/job.h"
#include "symbols.h"
#include "yield.h"

#define KI_OF_NONE U32_MAX

enum { KI_UNSEEN, KI_ON_THE_WAY, KI_HARMLESS };

/* From a function to what stands for it. In order of `from`; the first of each is its node. */
struct ki_arc {
	unsigned long from, to;
	u32 chunk; /* of the request, or OF_NONE */
	/* of a node: */
	u8 state;
	u32 next; /* the arc to be gone next */
	u32 back; /* the node that it was come from */
};

struct ki_arcs {
	struct ki_arc *v;
	u32 n;
};

/* v NULL: it is only counted */
static void add(struct ki_arcs *a, unsigned long addr, unsigned long to, u32 chunk)
{
	unsigned long size, off = 0;

	if (a->v) {
		ki_call(kallsyms_lookup_size_offset)(addr, &size, &off);
		a->v[a->n] = (struct ki_arc){.from = addr - off, .to = to, .chunk = chunk};
	}
	a->n++;
}

static void add_installed(struct ki_arcs *a)
{
	struct ki_win *w;
	struct ki_piece *p;

	for (w = ki_win_touching(0, ULONG_MAX); w; w = ki_win_next(w)) {
		list_for_each_entry (p, &w->chunks, in_window)
			if (ki_piece_replaces(p) && !p->muted)
				add(a, ki_win_insn(w, p->insn), p->target, KI_OF_NONE);
		ki_yield();
	}
}

static void add_wanted(struct ki_arcs *a, const struct ki_job *j)
{
	u32 i;

	for (i = 0; i < j->req->nchunks; i++) {
		const struct ki_chunk *c = &j->chunks[i];

		if (c->kind == KI_CHUNK_REPLACE || c->kind == KI_CHUNK_GUARDED)
			add(a, ki_win_insn(j->wins[c->window], c->insn), c->target, i);
	}
}

static int by_origin(const void *a, const void *b)
{
	const struct ki_arc *x = a, *y = b;

	ki_yield(); /* sort() lets no other task run */
	return x->from < y->from ? -1 : x->from > y->from;
}

/* The node of a function; n: nothing stands for it. */
static u32 node_of(const struct ki_arcs *a, unsigned long addr)
{
	u32 lo = 0, hi = a->n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (a->v[mid].from < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < a->n && a->v[lo].from == addr ? lo : a->n;
}

static u32 enter(struct ki_arcs *a, u32 node, u32 back)
{
	a->v[node].state = KI_ON_THE_WAY;
	a->v[node].next = node;
	a->v[node].back = back;
	return node;
}

/* The way from `first` to `last` and back is a circle: what the request has of it is refused. */
static int refuse_circle(struct ki_job *j, const struct ki_arcs *a, u32 first, u32 last)
{
	for (;; last = a->v[last].back) {
		const struct ki_arc *gone = &a->v[a->v[last].next - 1];

		if (gone->chunk != KI_OF_NONE)
			j->chunks[gone->chunk].reason = KI_R_REPLACE_CIRCLE;
		if (last == first)
			return ki_refuse(&j->req->reason, KI_R_REPLACE_CIRCLE);
	}
}

/* Go every way from a node, each node once. */
static int walk(struct ki_job *j, struct ki_arcs *a, u32 start)
{
	u32 at = enter(a, start, a->n), arc, to;

	while (at != a->n) {
		arc = a->v[at].next;
		if (arc == a->n || a->v[arc].from != a->v[at].from) {
			a->v[at].state = KI_HARMLESS;
			at = a->v[at].back;
			continue;
		}
		a->v[at].next++;
		to = node_of(a, a->v[arc].to);
		if (to == a->n || a->v[to].state == KI_HARMLESS)
			continue;
		if (a->v[to].state == KI_ON_THE_WAY)
			return refuse_circle(j, a, to, at);
		at = enter(a, to, at);
		ki_yield();
	}
	return 0;
}

static int walk_all(struct ki_job *j, struct ki_arcs *a)
{
	u32 i;
	int err = 0;

	for (i = 0; i < a->n && !err; i++)
		if ((!i || a->v[i].from != a->v[i - 1].from) && a->v[i].state == KI_UNSEEN)
			err = walk(j, a, i);
	return err;
}

int ki_job_check_circles(struct ki_job *j)
{
	struct ki_arcs a = {};
	int err;

	lockdep_assert_held(&ki_lock);
	add_wanted(&a, j);
	if (!a.n)
		return 0;
	add_installed(&a);
	a.v = ki_array(a.n, sizeof(*a.v), GFP_KERNEL_ACCOUNT);
	if (!a.v)
		return -ENOMEM;
	a.n = 0;
	add_wanted(&a, j);
	add_installed(&a);
	sort(a.v, a.n, sizeof(*a.v), by_origin, NULL);
	err = walk_all(j, &a);
	ki_array_free(a.v);
	return err;
}
