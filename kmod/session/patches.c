// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the patches of a session take.
 */
#include "ki.h"
#include "reach/reach.h"

/* Each once: those that have been counted are marked. */
static void count(struct ki_group *g, struct ki_patches *p)
{
	u32 bytes = ki_heap_bytes(g->patch.block), i;

	if (g->counted)
		return;
	g->counted = true;
	p->windows += g->n;
	p->bytes += bytes;
	if (g->n > 1) {
		p->groups++;
		p->group_bytes += bytes;
	}
	if (g->order) {
		p->laid_bytes += bytes;
		p->large_bytes += ki_heap_bytes_large(g->patch.block);
	}
	for (i = 0; i < g->n; i++)
		if (g->v[i]->host)
			count(g->v[i]->host->group, p); /* which has none itself */
}

static void unmark(struct ki_group *g)
{
	u32 i;

	if (!g->counted)
		return;
	g->counted = false;
	for (i = 0; i < g->n; i++)
		if (g->v[i]->host)
			unmark(g->v[i]->host->group);
}

int ki_session_patches(struct ki_session *s, struct ki_patches *p)
{
	struct ki_piece *piece;
	enum ki_small why;

	lockdep_assert_held(&ki_lock);
	if (p->zero)
		return -EINVAL;
	*p = (struct ki_patches){.size = sizeof(*p)};
	list_for_each_entry (piece, &s->pieces, in_session)
		count(piece->win->group, p);
	list_for_each_entry (piece, &s->pieces, in_session)
		unmark(piece->win->group);
	ki_reach_larges(&why);
	if (p->large_bytes < p->laid_bytes)
		p->small = why ? why : KI_SMALL_LIMIT;
	return 0;
}
