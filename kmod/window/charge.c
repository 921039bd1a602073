// SPDX-License-Identifier: GPL-2.0-only
/*
 * To whom chunks, windows and patches are charged.
 *
 * A chunk is its session's. A group of windows, and the patch that it has at the moment, are
 * charged to one of the sessions that have chunks there: the first, and when that has none there
 * any more, another one. So all that is in the heap is charged, and nothing twice. A request is
 * asked for what its changes add, whichever session is charged for it then.
 */
#include "window/charge.h"

int ki_charge_job(struct ki_job *j)
{
	struct ki_account *a = j->session->account;
	u32 i, windows = 0;
	u64 heap = 0;
	int err;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < j->nchanges; i++) {
		const struct ki_group *g = j->changes[i].group;
		u32 bytes = ki_heap_bytes(j->changes[i].patch.block);

		heap += bytes - min(bytes, g->heap);
		windows += g->fresh ? g->n : 0;
	}
	err = ki_account_check(a, KI_LIMIT_HEAP, heap, &j->req->reason);
	if (!err)
		err = ki_account_check(a, KI_LIMIT_WINDOWS, windows, &j->req->reason);
	if (!err)
		err = ki_account_take(a, KI_LIMIT_CHUNKS, j->req->nchunks, &j->req->reason);
	for (i = 0; !err && i < j->req->nchunks; i++)
		j->pieces[i]->account = a;
	return err;
}

void ki_charge_end(struct ki_piece *p)
{
	lockdep_assert_held(&ki_lock);
	if (p->account)
		ki_account_give(p->account, KI_LIMIT_CHUNKS, 1);
}

/* The session that has it, or else one that has a chunk there. */
static struct ki_account *holder(const struct ki_group *g)
{
	struct ki_account *other = NULL;
	const struct ki_piece *p;
	u32 i;

	for (i = 0; i < g->n; i++)
		list_for_each_entry (p, &g->v[i]->chunks, in_window) {
			if (p->dying)
				continue;
			if (p->account == g->account)
				return g->account;
			other = p->account;
		}
	return other ? other : g->account; /* a host has no chunks of its own */
}

static void charge(struct ki_group *g, struct ki_account *to, u32 heap)
{
	struct ki_account *from = g->account;
	u32 before = g->heap;

	if (to == from && heap == before)
		return;
	if (to) {
		ki_account_add(to, KI_LIMIT_WINDOWS, g->n);
		ki_account_add(to, KI_LIMIT_HEAP, heap);
	}
	g->account = to;
	g->heap = heap;
	if (!from)
		return;
	ki_account_give(from, KI_LIMIT_HEAP, before);
	ki_account_give(from, KI_LIMIT_WINDOWS, g->n);
}

void ki_charge_group(struct ki_group *g, struct ki_account *asker)
{
	lockdep_assert_held(&ki_lock);
	if (!g->account)
		charge(g, asker, 0);
	charge(g, holder(g), ki_heap_bytes(g->patch.block));
}

void ki_charge_group_end(struct ki_group *g)
{
	lockdep_assert_held(&ki_lock);
	charge(g, NULL, 0);
}
