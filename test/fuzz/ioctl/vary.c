// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows as the planner would not ask for them.
 */
#include <string.h>

#include "fuzz.h"

/* Where nothing is executed, or so it seems: filler, the tail of another window, anywhere near. */
static uint64_t pick_bounce(const struct ki_window *w, const struct ki_window *other, struct rng *r)
{
	const struct text *x = &texts[rng_below(r, ntexts)];
	size_t off = w->addr - x->addr, end;

	if (rng_one_in(r, 3) || off >= x->len)
		return rng_one_in(r, 4) ? w->addr + rng_below(r, 256) - 126
					: other->addr + 5 + rng_below(r, 8);
	end = off + 124 < x->len - 5 ? off + 124 : x->len - 5;
	for (off = off > 124 ? off - 124 : 0; off < end; off++)
		if (!memcmp(x->bytes + off, "\xcc\xcc\xcc\xcc\xcc", 5) && !rng_one_in(r, 3))
			return x->addr + off;
	return w->addr + 2 + rng_below(r, 128);
}

/* As what the kernel writes, most often in the form that such windows have. */
static void be_written(struct ki_window *w, struct rng *r)
{
	w->flags = (rng_one_in(r, 2) ? KI_WINDOW_BRANCH : KI_WINDOW_STATIC_CALL) | KI_WINDOW_LAID |
		   KI_WINDOW_UNBOARDED;
	if (rng_one_in(r, 4))
		return;
	w->board = KI_BOARD_TRAP;
	w->bounce = 0;
	w->ncopy = 1;
	memset(w->orig, 0, sizeof(w->orig));
}

void vary_windows(struct ki_window *w, unsigned int n, bool dry, struct rng *r)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (rng_one_in(r, 3))
			w[i].board = rng_below(r, KI_BOARD_KINDS);
		if (w[i].board == KI_BOARD_BOUNCE && !dry && !rng_one_in(r, 128))
			w[i].board = KI_BOARD_TRAP;
		if (w[i].board == KI_BOARD_BOUNCE)
			w[i].bounce = pick_bounce(&w[i], &w[rng_below(r, n)], r);
		if (rng_one_in(r, 8))
			w[i].group = 1 + rng_below(r, 2);
		if (w[i].group && rng_one_in(r, 4))
			w[i].flags = KI_WINDOW_UNBOARDED;
		if (rng_one_in(r, 8))
			w[i].flags |= KI_WINDOW_CALL | (w[i].group ? KI_WINDOW_LAID : 0);
		if (w[i].group && rng_one_in(r, 8))
			be_written(&w[i], r);
		if (rng_one_in(r, w[i].flags & KI_WINDOW_LAID ? 2 : 32))
			w[i].flags |= KI_WINDOW_ASIDE;
	}
}
