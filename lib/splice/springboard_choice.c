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
#include "splice/springboard_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "code/function/function.h"
#include "splice/frames.h"

#define ABOVE (127 + KI_SHORT_LEN) /* how far after a window's start its bounce may start */

/* Bytes that a bounce may take. */
struct ki_free {
	uint64_t start, end;
	uint64_t own_end;   /* a window's tail: the window's end */
	uint64_t group_end; /* and the end of the last one that it can be joined with */
	uint32_t window;    /* whose tail; KI_NONE: filler */
	bool off;	    /* must not be used */
};

/* A window that needs a bounce. */
struct ki_seeker {
	uint64_t addr;
	uint64_t place; /* 0: none */
	uint64_t old;	/* the place before the attempt to improve */
	size_t from;	/* in the free bytes: those before are out of reach */
	size_t window;
	bool level; /* only places with the stack as it is here will do */
};

struct ki_boards {
	const struct ki_function *fn;
	int64_t *frame; /* of each instruction */
	struct ki_span *v;
	size_t n;
	struct ki_free *free;
	size_t nfree;
	struct ki_seeker *seekers;
	size_t nseekers;
};

/* ---- free bytes ---- */

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x67 || b == 0x2e || b == 0x3e || b == 0x26 || b == 0x36 ||
	       b == 0x64 || b == 0x65;
}

bool ki_insn_is_filler(const struct ki_function *fn, const struct ki_insn *in)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start);
	uint8_t i = 0;

	if (in->kind != KI_INSN_PAD || in->block_start)
		return false;
	while (i < in->len && is_prefix(p[i]))
		i++;
	if (i + 1 < in->len && (p[i] & 0xf0) == 0x40 && p[i + 1] == 0x0f)
		i++; /* REX */
	if (i + 1 < in->len)
		return p[i] == 0x0f && p[i + 1] == 0x1f;
	return i < in->len && (p[i] == 0xcc || (p[i] == 0x90 && (!i || *p == 0x66)));
}

/* iret is a return too, but the driver does not take it for one. */
static bool opens_filler(const struct ki_function *fn, const struct ki_insn *in)
{
	return ki_insn_ends(in) && fn->bytes[in->addr - fn->start + in->len - 1u] != 0xcf;
}

static void add_free(struct ki_boards *b, uint64_t start, uint64_t end, uint32_t window)
{
	struct ki_free *last = b->nfree ? &b->free[b->nfree - 1] : NULL;

	if (window == KI_NONE && last && last->window == KI_NONE && last->end == start)
		last->end = last->own_end = last->group_end = end;
	else
		b->free[b->nfree++] = (struct ki_free){.start = start,
						       .end = end,
						       .own_end = end,
						       .group_end = end,
						       .window = window};
}

static bool may_fault(const struct ki_insn *in)
{
	return in->flags & KI_INSN_EXTABLE;
}

/* Where the bytes of a window end that a bounce may take: perhaps under its springboard. */
static uint64_t tail_end(const struct ki_function *fn, const struct ki_span *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (ki_insn_is_call(in) || (i > s->first && may_fault(in)))
			return in->addr;
	}
	return s->addr + s->len;
}

static void add_tail(struct ki_boards *b, size_t w)
{
	uint64_t start = b->v[w].addr + KI_JMP_LEN, end = tail_end(b->fn, &b->v[w]);

	add_free(b, start, end > start ? end : start, (uint32_t)w);
}

/*
 * All free bytes, in order of address. What filler a window has taken is not free; nor is what
 * the kernel may write after a short jump or return at the place of a static call.
 */
static void find_free(struct ki_boards *b)
{
	const struct ki_function *fn = b->fn;
	uint64_t from = 0;
	bool dead = false;
	size_t w = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (dead && ki_insn_is_filler(fn, in)) {
			if (in->addr >= from)
				add_free(b, in->addr, in->addr + in->len, KI_NONE);
			continue;
		}
		dead = opens_filler(fn, in);
		if (dead && in->reason == KI_R_STATIC_CALL)
			from = in->addr + KI_JMP_LEN;
		while (w < b->n && b->v[w].first + b->v[w].count <= i)
			w++;
		if (w == b->n || b->v[w].first > i)
			continue;
		from = b->v[w].addr + b->v[w].len;
		if (b->v[w].first == i && b->v[w].len >= KI_JMP_LEN)
			add_tail(b, w);
	}
}

bool ki_spans_adjoin(const struct ki_function *fn, const struct ki_span *s)
{
	const struct ki_span *prev = s - 1;
	const struct ki_insn *first = &fn->insns[s->first];

	return prev->first + prev->count == s->first && prev->len >= KI_JMP_LEN &&
	       s->len >= KI_JMP_LEN && !first->block_start && !may_fault(first) &&
	       tail_end(fn, prev) == s->addr && tail_end(fn, s) >= s->addr + KI_JMP_LEN;
}

/* Join all that can be joined: the first tail of each group reaches to the group's end. */
static void join_all(struct ki_boards *b)
{
	struct ki_free *head = NULL;
	uint32_t insns = 0;

	for (size_t i = 0; i < b->nfree; i++) {
		struct ki_free *f = &b->free[i];
		const struct ki_span *s = f->window == KI_NONE ? NULL : &b->v[f->window];

		if (s && head && ki_spans_adjoin(b->fn, s) &&
		    f->end - (head->start - KI_JMP_LEN) <= KI_WINDOW_MAX &&
		    insns + s->count <= KI_WINDOW_INSNS) {
			head->end = head->group_end = f->end;
			f->off = true;
			insns += s->count;
			continue;
		}
		head = s ? f : NULL;
		insns = s ? s->count : 0;
	}
}

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

static void assign(struct ki_boards *b)
{
	bool lost;

	find_free(b);
	join_all(b);
	find_reach(b);
	place_from(b, 0, b->nseekers, &lost);
	level_windows(b);
	part_groups(b);
	spare_tails(b);
	join_windows(b);
	note_bounces(b);
}

int ki_boards_assign(const struct ki_function *fn, struct ki_spans *s)
{
	struct ki_boards b = {.fn = fn, .v = s->v, .n = s->n};
	int ret = -ENOMEM;

	for (size_t w = 0; w < s->n; w++) {
		s->v[w].board = s->v[w].len < KI_JMP_LEN ? KI_BOARD_TRAP : KI_BOARD_JMP;
		s->v[w].host = KI_NONE;
	}
	b.nseekers = find_seekers(&b, NULL);
	if (!b.nseekers)
		return 0;
	b.free = malloc(fn->ninsns * sizeof(*b.free));
	b.seekers = malloc(b.nseekers * sizeof(*b.seekers));
	b.frame = malloc(fn->ninsns * sizeof(*b.frame));
	if (b.free && b.seekers && b.frame && !ki_frames_find(fn, b.frame)) {
		find_seekers(&b, b.seekers);
		assign(&b);
		s->n = b.n;
		ret = 0;
	}
	free(b.free);
	free(b.seekers);
	free(b.frame);
	return ret;
}
