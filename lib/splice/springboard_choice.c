// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Springboards of a function's windows.
 *
 * A window of 5 bytes takes a jmp rel32. A shorter one of 2 takes a jmp rel8, if 5 bytes for its
 * bounce, a jmp rel32, can be had within reach; else it takes an int3. Bytes that may be had are
 *
 *   filler	int3 and nop after code that never falls through
 *   tails	what lies after the springboard of a window of 10 bytes or more: its host
 *   joints	the same, of neighbouring windows of a block that are joined to one
 *
 * and, where the stack is as it is at the window, they are wanted in this order: filler needs
 * nobody; a host must be installed too; and a joined one is, whenever any of its parts is wanted, a
 * larger patch.
 *
 * Of a tail only what lies before the first instruction that may fault counts: a task may sleep in
 * the fault while a bounce comes, and goes on from there. And only what lies before a call, which
 * patches execute where it stands.
 *
 * How many can be served. Each short window wants 5 bytes in a row that start in [lo, hi], and all
 * these ranges are equally long, so of two windows the one at the higher address has the higher lo
 * and the higher hi. Take all free bytes there may be: all filler, and everything joined that can
 * be (joining only adds free bytes: it gives back the 5 bytes of each springboard but the first).
 * Go through the short windows in order of address and give each the lowest place that is free
 * after the place given last; if that lies above its hi, leave the window out. This serves as
 * many as any assignment can:
 *
 *   In any assignment the places can be made to ascend as the windows do: if i stands before j and
 *   p(i) > p(j), they can swap, because lo(i) <= lo(j) <= p(j) < p(i) <= hi(i) <= hi(j).
 *
 *   Let such an assignment serve m of the first k windows at places p1 < .. < pm. Then ours serves
 *   at least m of them, and its first m places g1 < .. < gm have gi <= pi. By induction on k: if it
 *   does not serve window k, nothing is to be shown. If it does, at pm, then g(m-1) <= p(m-1), so
 *   pm is free after g(m-1). If ours has served m windows before k, the one at gm, j < k, took the
 *   lowest place from lo(j) <= lo(k) on; so gm <= pm. Else window k finds pm or something lower,
 *   and is served.
 *
 * Runs of instructions that are longer than a window may be are cut into groups as long as
 * possible; of other cuts of such runs nothing is claimed.
 *
 * Then places are improved, without taking any from a window that has one. First, for each window
 * in order of address, by a place where the stack is as it is at the window's beginning (frames.c):
 * the unwinder's row there is then the right one for the bounce. Then each group, in order of
 * address, is taken apart, and each tail is taken away, and the windows after are placed again
 * as above; if one of them goes without, it is undone. In the end windows are joined only across
 * boundaries where a bounce stands.
 */
#include "splice/springboard_boards.h"

#include <errno.h>
#include <stdlib.h>

#include "splice/frames.h"

#define ABOVE (127 + KI_SHORT_LEN) /* how far after a window's start its bounce may start */

/* ---- places ---- */

static uint64_t lowest_of(const struct ki_seeker *s)
{
	return s->addr > KI_BOUNCE_BELOW ? s->addr - KI_BOUNCE_BELOW : 0;
}

static void find_reach(struct ki_boards *b)
{
	size_t at = 0;

	for (size_t k = 0; k < b->nseekers; k++) {
		struct ki_seeker *s = &b->seekers[k];

		while (at < b->nfree && b->free[at].group_end < lowest_of(s) + KI_JMP_LEN)
			at++;
		s->from = at;
	}
}

/*
 * The lowest place from `start` to `last` where the stack is as it is at the window's beginning; 0:
 * there is none.
 */
static uint64_t level_place(const struct ki_boards *b, const struct ki_seeker *s, uint64_t start,
			    uint64_t last)
{
	const struct ki_function *fn = b->fn;
	int64_t frame = b->frame[b->v[s->window].first];

	for (uint32_t i = ki_function_covering(fn, start);
	     i < fn->ninsns && fn->insns[i].addr <= last; i++)
		if (b->frame[i] == frame)
			return fn->insns[i].addr > start ? fn->insns[i].addr : start;
	return 0;
}

/* The lowest place for a window after `pos`, which is where the one before has ended. */
static void seek(const struct ki_boards *b, struct ki_seeker *s, uint64_t pos)
{
	uint64_t lo = lowest_of(s) > pos ? lowest_of(s) : pos, hi = s->addr + ABOVE;

	s->place = 0;
	for (size_t i = s->from; i < b->nfree && b->free[i].start <= hi; i++) {
		const struct ki_free *f = &b->free[i];
		uint64_t start = f->start > lo ? f->start : lo;

		if (f->off || start > hi || f->end < start + KI_JMP_LEN)
			continue;
		if (s->level) {
			uint64_t last = f->end - KI_JMP_LEN;

			start = level_place(b, s, start, last < hi ? last : hi);
		}
		if (!start)
			continue;
		s->place = start;
		return;
	}
}

/*
 * Place windows from number k on, until window `last` is after and the rest would find the same
 * as before. Returns the number after the last one placed; *lost: a window goes without that
 * had a place, and it is the last one tried.
 */
static size_t place_from(struct ki_boards *b, size_t k, size_t last, bool *lost)
{
	uint64_t pos = 0, old_pos = 0;

	for (size_t i = k; i-- > 0 && !pos;)
		pos = old_pos = b->seekers[i].place ? b->seekers[i].place + KI_JMP_LEN : 0;
	for (*lost = false; k < b->nseekers && !*lost; k++) {
		struct ki_seeker *s = &b->seekers[k];

		if (k > last && pos == old_pos)
			break;
		s->old = s->place;
		seek(b, s, pos);
		pos = s->place ? s->place + KI_JMP_LEN : pos;
		old_pos = s->old ? s->old + KI_JMP_LEN : old_pos;
		*lost = s->old && !s->place;
	}
	return k;
}

/* ---- improving ---- */

/* The windows whose bounces stand in free[i]: [*first, *end), from number `from` on. */
static bool users_of(const struct ki_boards *b, size_t i, size_t from, size_t *first, size_t *end)
{
	while (from < b->nseekers && b->seekers[from].place < b->free[i].start)
		from++;
	*first = *end = from;
	for (; from < b->nseekers && b->seekers[from].place < b->free[i].end; from++)
		if (b->seekers[from].place)
			*end = from + 1;
	return *end > *first;
}

/* Do the windows keep their places, or find others, with the free bytes as they are now? */
static bool manage(struct ki_boards *b, size_t first, size_t end)
{
	bool lost;
	size_t k = place_from(b, first, end - 1, &lost);

	while (lost && k-- > first)
		b->seekers[k].place = b->seekers[k].old;
	return !lost;
}

/* Windows go where the stack is as it is with them, if that costs nobody his place. */
static void level_windows(struct ki_boards *b)
{
	for (size_t k = 0; k < b->nseekers; k++) {
		struct ki_seeker *s = &b->seekers[k];

		if (!s->place)
			continue;
		s->level = true;
		s->level = level_place(b, s, s->place, s->place) || manage(b, k, k + 1);
	}
}

/* Take the group that begins at i apart, or together again; returns what is after it. */
static size_t part_group(struct ki_boards *b, size_t i, bool part)
{
	uint64_t end = b->free[i].group_end;

	b->free[i].end = part ? b->free[i].own_end : end;
	for (i++; i < b->nfree && b->free[i].own_end <= end; i++)
		b->free[i].off = !part;
	return i;
}

static void part_groups(struct ki_boards *b)
{
	size_t first = 0, end, next;

	for (size_t i = 0; i < b->nfree; i = next) {
		bool used;

		next = i + 1;
		if (b->free[i].group_end == b->free[i].own_end)
			continue;
		used = users_of(b, i, first, &first, &end);
		next = part_group(b, i, true);
		if (used && !manage(b, first, end))
			part_group(b, i, false);
	}
}

static void spare_tails(struct ki_boards *b)
{
	size_t first = 0, end;

	for (size_t i = 0; i < b->nfree; i++) {
		struct ki_free *f = &b->free[i];

		if (f->window == KI_NONE || f->off)
			continue;
		f->off = true;
		if (users_of(b, i, first, &first, &end) && !manage(b, first, end))
			f->off = false;
	}
}

/* ---- the result ---- */

/*
 * A bounce stands where the window's springboard would be: it joins the one before it. *seeker: the
 * first whose bounce may.
 */
static bool bounced_across(const struct ki_boards *b, size_t w, size_t *seeker)
{
	uint64_t at = b->v[w].addr;

	while (*seeker < b->nseekers && b->seekers[*seeker].place + KI_JMP_LEN <= at)
		++*seeker;
	return *seeker < b->nseekers && b->seekers[*seeker].place < at + KI_JMP_LEN && w &&
	       ki_spans_adjoin(b->fn, &b->v[w]);
}

/* Windows are taken together in place; seekers learn the new numbers of theirs. */
static void join_windows(struct ki_boards *b)
{
	size_t n = 0, seeker = 0, owner = 0;

	for (size_t w = 0; w < b->n; w++) {
		struct ki_span s = b->v[w];

		if (owner < b->nseekers && b->seekers[owner].window == w)
			b->seekers[owner++].window = n;
		if (bounced_across(b, w, &seeker)) {
			b->v[n - 1].len += s.len;
			b->v[n - 1].count += s.count;
		} else {
			b->v[n++] = s;
		}
	}
	b->n = n;
}

static void note_bounces(struct ki_boards *b)
{
	size_t host = 0;

	for (size_t k = 0; k < b->nseekers; k++) {
		const struct ki_seeker *s = &b->seekers[k];
		struct ki_span *v = &b->v[s->window];

		if (!s->place)
			continue;
		while (host < b->n && b->v[host].addr + b->v[host].len <= s->place)
			host++;
		v->board = KI_BOARD_BOUNCE;
		v->bounce = s->place;
		if (host < b->n && b->v[host].addr <= s->place)
			v->host = (uint32_t)host;
	}
}

static size_t find_seekers(struct ki_boards *b, struct ki_seeker *out)
{
	size_t n = 0;

	for (size_t w = 0; w < b->n; w++) {
		if (b->v[w].len >= KI_JMP_LEN || b->v[w].len < KI_SHORT_LEN)
			continue;
		if (out)
			out[n] = (struct ki_seeker){.addr = b->v[w].addr, .window = w};
		n++;
	}
	return n;
}

/* Every window gets a place that can, and those that can a level one. */
static void place(struct ki_boards *b)
{
	bool lost;

	ki_boards_find_free(b);
	find_reach(b);
	place_from(b, 0, b->nseekers, &lost);
	level_windows(b);
}

static void boards_end(struct ki_boards *b)
{
	free(b->free);
	free(b->seekers);
	free(b->frame);
}

/* Room for what is found, and the windows that need a bounce; without any there is nothing else. */
static int boards_begin(struct ki_boards *b)
{
	const uint32_t n = b->fn->ninsns;

	b->nseekers = find_seekers(b, NULL);
	if (!b->nseekers)
		return 0;
	b->free = malloc(n * sizeof(*b->free));
	b->seekers = malloc(b->nseekers * sizeof(*b->seekers));
	b->frame = malloc(n * sizeof(*b->frame));
	if (!b->free || !b->seekers || !b->frame || ki_frames_find(b->fn, b->frame)) {
		boards_end(b);
		return -ENOMEM;
	}
	find_seekers(b, b->seekers);
	return 0;
}

int ki_boards_assign(const struct ki_function *fn, struct ki_spans *s)
{
	struct ki_boards b = {.fn = fn, .v = s->v, .n = s->n};
	int ret;

	for (size_t w = 0; w < s->n; w++) {
		s->v[w].board = s->v[w].len < KI_JMP_LEN ? KI_BOARD_TRAP : KI_BOARD_JMP;
		s->v[w].host = KI_NONE;
	}
	ret = boards_begin(&b);
	if (ret || !b.nseekers)
		return ret;
	place(&b);
	part_groups(&b);
	spare_tails(&b);
	join_windows(&b);
	note_bounces(&b);
	s->n = b.n;
	boards_end(&b);
	return 0;
}

/*
 * As part_groups does it: the first window's group comes before the others, and is not put together
 * again when it has been taken apart. Then no bounce stands across the window's end.
 */
static bool keeps_first(struct ki_boards *b)
{
	size_t first, end;

	if (!b->nfree || b->free[0].window != 0)
		return true;
	if (b->free[0].group_end == b->free[0].own_end || !users_of(b, 0, 0, &first, &end))
		return false;
	part_group(b, 0, true);
	return !manage(b, first, end);
}

int ki_boards_first(const struct ki_function *fn, const struct ki_spans *s, bool *joined)
{
	struct ki_boards b = {.fn = fn, .v = s->v, .n = s->n};
	int ret = boards_begin(&b);

	*joined = false;
	if (ret || !b.nseekers)
		return ret;
	place(&b);
	*joined = keeps_first(&b);
	boards_end(&b);
	return 0;
}
