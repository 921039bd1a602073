// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What of a process's text is given back while the rest stays: the springboards of windows of which
 * all chunks are paused. Their patches stay mapped, since threads may be in them.
 *
 * A bounce stands in the bytes of another window, its host, or in filler. It goes after the short
 * springboard that leads to it. A host stays as long as a bounce in its bytes does: the function's
 * own instructions there are executed in the host's patch.
 */
#include "process/linked.h"
#include "splice/plan.h"
#include "util/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_LEN 2

static const struct ki_window *window(const struct ki_linked *x, size_t k)
{
	return &x->plan->windows.v[x->order.v[k]];
}

/* Number of the first edit at addr or after it. */
static size_t edit_from(const struct ki_linked *x, uint64_t addr)
{
	return KI_FIRST(i, x->edits.n, x->edits.v[i].addr >= addr);
}

/* The bounce that the springboard leads to, or NULL. */
static const struct ki_edit *bounce_of(const struct ki_linked *x, const struct ki_edit *board)
{
	uint64_t to = board->addr + SHORT_LEN + (uint64_t)(int64_t)(int8_t)board->now[1];
	size_t i;

	if (board->len != SHORT_LEN)
		return NULL;
	i = edit_from(x, to);
	return i < x->edits.n && x->edits.v[i].addr == to ? &x->edits.v[i] : NULL;
}

/* Does a bounce that stays stand in window k? */
static bool hosts(const struct ki_linked *x, size_t k, const uint8_t *stays)
{
	const struct ki_window *w = window(x, k);

	for (size_t i = edit_from(x, w->addr); i < x->edits.n; i++) {
		if (x->edits.v[i].addr >= w->addr + w->len)
			break;
		if (x->edits.v[i].bounce && stays[i])
			return true;
	}
	return false;
}

/* One round: what window k leaves there. Has that become more? */
static bool keep(const struct ki_linked *x, size_t k, uint8_t *stays)
{
	const struct plan_window *more = &x->plan->more.v[x->order.v[k]];
	size_t at = edit_from(x, window(x, k)->addr);
	const struct ki_edit *bounce;

	if (at == x->edits.n || stays[at] || (!more->active && !hosts(x, k, stays)))
		return false;
	stays[at] = 1;
	bounce = bounce_of(x, &x->edits.v[at]);
	if (bounce)
		stays[bounce - x->edits.v] = 1;
	return true;
}

int ki_linked_release(struct ki_linked *x, size_t *n)
{
	uint8_t *stays = calloc(x->edits.n + 1, 1);
	bool more = stays;

	*n = 0;
	if (!stays)
		return -ENOMEM;
	while (more) {
		more = false;
		for (size_t k = 0; k < x->order.n; k++)
			more |= keep(x, k, stays);
	}
	for (size_t i = 0; i < x->edits.n; i++)
		if (!stays[i] && x->released[i] == KI_IN_TEXT) {
			x->released[i] = KI_TO_RELEASE;
			++*n;
		}
	free(stays);
	return 0;
}

bool ki_part_releases(const struct ki_linked *x, const struct ki_part *p)
{
	for (size_t i = p->from; i < p->to; i++)
		if (ki_part_has(x, p, i) && x->released[i] == KI_TO_RELEASE)
			return true;
	return false;
}
