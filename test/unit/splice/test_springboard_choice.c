// SPDX-License-Identifier: GPL-2.0-only
/*
 * Springboards: as many windows get a bounce as can, found out by trying everything.
 *
 * Random small functions of real instructions. Which windows are short, and where windows could
 * be joined, is told here once more from the instructions. Then, for every way to join windows,
 * every assignment of places to short windows is gone through, in whatever order they stand: from
 * byte to byte with all sets of windows that can have been served before it.
 *
 * Functions whose windows are written down: test_springboard_choice_by_hand.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_code.h"
#include "common_spans.h"
#include "kerninst/splice.h"

#define FUNCTIONS  30000
#define SHORTS_MAX 6
#define JOINTS_MAX 5
#define CODE_MAX   480
#define BOUNCE_LEN 5

static uint64_t seed = 88172645463325252ull;

static unsigned int rnd(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)((seed >> 20) % n);
}

/* ---- making functions ---- */

struct code {
	uint8_t v[CODE_MAX + 64];
	size_t n;
};

static void put(struct code *c, const char *bytes, size_t n)
{
	memcpy(c->v + c->n, bytes, n);
	c->n += n;
}

static void put_many(struct code *c, uint8_t byte, unsigned int n)
{
	memset(c->v + c->n, byte, n);
	c->n += n;
}

static void put_plain(struct code *c)
{
	static const struct {
		uint8_t n;
		char bytes[10];
	} insns[] = {
		{1, "\x50"},
		{2, "\x31\xc0"},
		{3, "\x48\x89\xc7"},
		{4, "\x48\x83\xc0\x01"},
		{5, "\xb8\x01\x00\x00\x00"},
		{7, "\x48\xc7\xc0\x01\x00\x00\x00"},
		{10, "\x48\xb8\x01\x00\x00\x00\x00\x00\x00\x00"},
	};
	unsigned int i = rnd(sizeof(insns) / sizeof(*insns));

	put(c, insns[i].bytes, insns[i].n);
}

/* Something that ends a run: a short or long call, a branch, a return with filler after it. */
static void put_end(struct code *c)
{
	switch (rnd(6)) {
	case 0:
	case 1:
		put(c, "\xff\xd0", 2);
		break;
	case 2:
		put(c, "\xe8\x10\x20\x00\x00", 5);
		break;
	case 3:
		put(c, "\x75\x00", 2);
		break;
	case 4:
		put(c, "\xc3", 1);
		put_many(c, rnd(2) ? 0xcc : 0x90, rnd(13));
		break;
	default:
		put(c, "\xeb\xfe", 2);
		put_many(c, 0xcc, rnd(13));
	}
}

/* hlt is in no window: what is after some of it is out of reach. */
static void make_function(struct code *c)
{
	unsigned int parts = 2 + rnd(7);

	c->n = 0;
	while (parts-- && c->n < CODE_MAX - 160) {
		for (unsigned int n = rnd(4); n; n--)
			put_plain(c);
		put_end(c);
		if (!rnd(3))
			put_many(c, 0xf4, rnd(2) ? 100 + rnd(45) : 1 + rnd(40));
	}
	put(c, "\xc3", 1);
	put_many(c, 0xcc, rnd(8));
}

/* ---- what there is ---- */

enum { TAKEN, WINDOW, FILLER };

struct problem {
	const struct ki_function *fn;
	uint8_t free[CODE_MAX + 64];  /* bytes of windows and of filler */
	unsigned int heads[CODE_MAX]; /* where windows start that hold a whole jump */
	bool joint[CODE_MAX];	      /* of these: may be joined to the one before */
	unsigned int shorts[CODE_MAX];
	unsigned int nheads, njoints, nshorts;
};

static unsigned int offset(const struct problem *p, uint32_t insn)
{
	return (unsigned int)(p->fn->insns[insn].addr - p->fn->start);
}

static bool movable(const struct ki_function *fn, uint32_t i)
{
	struct ki_copy c;

	return !ki_relocate(&fn->insns[i], fn->bytes + (fn->insns[i].addr - fn->start), &c);
}

static bool is_call(const struct ki_insn *in)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT;
}

static bool stops(const struct ki_insn *in)
{
	return in->kind == KI_INSN_RET || in->kind == KI_INSN_JMP;
}

/* Bytes of int3 from an offset on that are padding. */
static unsigned int int3s(const struct problem *p, unsigned int at)
{
	const struct ki_insn *in;
	unsigned int n = 0;

	while ((in = ki_function_insn_at(p->fn, p->fn->start + at + n)) &&
	       in->kind == KI_INSN_PAD && p->fn->bytes[at + n] == 0xcc)
		n++;
	return n;
}

/*
 * Movable instructions [i, end) up to a call: cut where a jump fits, the rest to the last. No jump
 * covers a call, if that can be had, and no bounce does.
 */
static void note_piece(struct problem *p, uint32_t i, uint32_t end)
{
	unsigned int from = offset(p, i), to = offset(p, end - 1) + p->fn->insns[end - 1].len;
	unsigned int call = is_call(&p->fn->insns[end - 1]) ? offset(p, end - 1) : to;
	unsigned int at = from, tail = 0;

	if (stops(&p->fn->insns[end - 1]))
		tail = int3s(p, to);
	if (to - from + tail < BOUNCE_LEN || (to - from < BOUNCE_LEN && !tail)) {
		if (to - from >= 2 || tail)
			p->shorts[p->nshorts++] = from;
		if (to - from < 2 && tail)
			to = from + 2;
		memset(p->free + from, TAKEN, to - from);
		return;
	}
	if (to - from < BOUNCE_LEN) {
		memset(p->free + from, TAKEN, BOUNCE_LEN);
		return;
	}
	memset(p->free + from, WINDOW, call - from);
	for (; i < end; i++) {
		unsigned int here = offset(p, i);

		if (here != from && (here - at < BOUNCE_LEN || call - here < BOUNCE_LEN))
			continue;
		at = here;
		p->joint[p->nheads] = here != from;
		p->njoints += here != from;
		p->heads[p->nheads++] = here;
	}
}

static void note_filler(struct problem *p)
{
	bool dead = false;

	for (uint32_t i = 0; i < p->fn->ninsns; i++) {
		const struct ki_insn *in = &p->fn->insns[i];

		if (in->kind == KI_INSN_PAD && dead)
			memset(p->free + offset(p, i), FILLER, in->len);
		else
			dead = stops(in);
	}
}

static void note_block(struct problem *p, const struct ki_block *b)
{
	uint32_t end = b->first + b->count;

	for (uint32_t i = b->first, k; i < end; i = k + (k == i)) {
		for (k = i; k < end && movable(p->fn, k); k++)
			if (is_call(&p->fn->insns[k])) {
				k++;
				break;
			}
		if (k > i)
			note_piece(p, i, k);
	}
}

static void analyze(struct problem *p, const struct ki_function *fn)
{
	memset(p, 0, sizeof(*p));
	p->fn = fn;
	note_filler(p);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		note_block(p, &fn->blocks[b]);
}

/* ---- trying everything ---- */

/* Sets of short windows, as bits of a word that has one for each set. */
static uint64_t sets_without(unsigned int window)
{
	static const uint64_t without[SHORTS_MAX] = {
		0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
		0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff,
	};

	return without[window];
}

static bool in_reach(unsigned int window, unsigned int place)
{
	int distance = (int)place - (int)(window + 2);

	return distance >= -128 && distance <= 127;
}

/* All of one kind. */
static bool is_place(const uint8_t *avail)
{
	return *avail != TAKEN && !memcmp(avail, avail + 1, BOUNCE_LEN - 1);
}

/* All sets that can be served with these free bytes. */
static uint64_t servable(const struct problem *p, const uint8_t *avail)
{
	unsigned int len = (unsigned int)(p->fn->end - p->fn->start);
	uint64_t sets[CODE_MAX + 64 + BOUNCE_LEN] = {1};

	for (unsigned int at = 0; at < len; at++) {
		sets[at + 1] |= sets[at];
		if (at + BOUNCE_LEN > len || !is_place(avail + at))
			continue;
		for (unsigned int w = 0; w < p->nshorts; w++)
			if (in_reach(p->shorts[w], at))
				sets[at + BOUNCE_LEN] |= (sets[at] & sets_without(w)) << (1u << w);
	}
	return sets[len];
}

static unsigned int largest(uint64_t sets)
{
	int best = 0;

	for (unsigned int s = 0; s < 64; s++)
		if (sets >> s & 1 && __builtin_popcount(s) > best)
			best = __builtin_popcount(s);
	return (unsigned int)best;
}

/* Of all ways to join windows; *plain: without joining any. */
static unsigned int most(const struct problem *p, unsigned int *plain)
{
	uint8_t avail[CODE_MAX + 64];
	unsigned int best = 0;

	for (unsigned int joined = 0; joined < 1u << p->njoints; joined++) {
		unsigned int joint = 0, n;

		memcpy(avail, p->free, sizeof(avail));
		for (unsigned int h = 0; h < p->nheads; h++)
			if (!p->joint[h] || !(joined >> joint++ & 1))
				memset(avail + p->heads[h], TAKEN, BOUNCE_LEN);
		n = largest(servable(p, avail));
		best = n > best ? n : best;
		if (!joined)
			*plain = n;
	}
	return best;
}

/* ---- the comparison ---- */

struct tally {
	unsigned int functions, shorts, served, scarce, joined;
};

static void check_cut(const struct problem *p, const struct ki_spans *s)
{
	unsigned int shorts = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].len >= 2 && s->v[i].len < 5)
			assert_int_equal(p->shorts[shorts++], s->v[i].addr - p->fn->start);
	assert_int_equal(shorts, p->nshorts);
}

static unsigned int count_bounces(const struct ki_spans *s)
{
	unsigned int n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i].board == KI_BOARD_BOUNCE;
	return n;
}

/* What a failure is about. */
static void print_function(const struct problem *p, const struct ki_spans *s)
{
	for (uint32_t i = 0; i < p->fn->ninsns; i++)
		print_message("%u:%u%s ", offset(p, i), p->fn->insns[i].len,
			      p->free[offset(p, i)] ? "" : "!");
	print_message("\n");
	for (size_t i = 0; i < s->n; i++)
		print_message("window %u:%u bounce %d\n",
			      (unsigned int)(s->v[i].addr - p->fn->start), s->v[i].len,
			      s->v[i].bounce ? (int)(s->v[i].bounce - p->fn->start) : -1);
}

static void compare(const struct ki_function *fn, struct tally *t)
{
	struct ki_spans s;
	struct problem p;
	unsigned int best, plain = 0, got;

	analyze(&p, fn);
	if (!p.nshorts || p.nshorts > SHORTS_MAX || p.njoints > JOINTS_MAX)
		return;
	assert_int_equal(ki_spans_find(fn, &s, NULL), 0);
	spans_check_cut(fn, &s);
	spans_check_boards(fn, &s);
	check_cut(&p, &s);
	best = most(&p, &plain);
	got = count_bounces(&s);
	if (got != best) {
		print_function(&p, &s);
		fail_msg("function %u: %u of %u short windows bounce, not %u", t->functions, got,
			 p.nshorts, best);
	}
	t->functions++;
	t->shorts += p.nshorts;
	t->served += got;
	t->scarce += best < p.nshorts;
	t->joined += plain < best;
	ki_spans_free(&s);
}

static void as_many_as_can_be_served(void **state)
{
	struct tally t = {0};
	struct code c;

	(void)state;
	while (t.functions < FUNCTIONS) {
		struct text x = {.m = {.kind = KI_TARGET_LIVE, .bytes = c.v}};

		make_function(&c);
		x.m.len = c.n;
		open_text(&x);
		look_at(&x, "f");
		assert_int_equal(x.fn->reason, KI_R_OK);
		compare(x.fn, &t);
		close_text(&x);
	}
	print_message("%u functions: %u of %u short windows bounce; in %u not all can, %u only "
		      "with joined windows\n",
		      t.functions, t.served, t.shorts, t.scarce, t.joined);
	/* the comparison is about something */
	assert_true(t.scarce > FUNCTIONS / 50 && t.joined > FUNCTIONS / 50);
	assert_true(t.served > t.shorts / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_can_be_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
