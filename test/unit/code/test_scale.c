// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole-program analysis takes time and memory in proportion to its input, whatever is in
 * it: each case is one that a step which is quadratic in something needs minutes or hours for.
 */
#include "scale_world.h"

static void one_byte_insns(void **state)
{
	struct world *w = begin();

	(void)state;
	memset(w->text, 0x50, SIZE - 1);
	w->text[SIZE - 1] = 0xc3;
	symbol(w, 0, "f");
	finish(w);
}

/* Each jump leads to the one before: what is live has to go all the way up. */
static void backward_jumps(void **state)
{
	struct world *w = begin();

	(void)state;
	symbol(w, 0, "f");
	branch(w, JMP, SIZE - 2);
	PUT(w, "\xf3\x48\x0f\xb8\xc1\xc3"); /* popcnt %rcx, %rax; ret */
	while (w->at + 2 <= SIZE)
		PUT(w, "\xeb\xfc");
	/* The first one: to the popcnt. */
	w->text[11] = 0xeb;
	w->text[12] = 0xf8;
	finish(w);
}

/* Loops in loops: je to the next one, je to far before. */
static void nested_loops(void **state)
{
	struct world *w = begin();

	(void)state;
	symbol(w, 0, "f");
	while (w->at < SIZE / 2)
		PUT(w, "\x74\x02\x48\x89\xc8\x90"); /* je +2; mov %rcx, %rax; nop */
	for (size_t back = SIZE / 2; back >= 6 && w->at + 6 < SIZE; back -= 6) {
		uint32_t rel = (uint32_t)(back - 6 - (w->at + 6));
		char je[6] = {0x0f, (char)0x84};

		memcpy(je + 2, &rel, 4);
		put(w, je, 6);
	}
	w->text[w->at] = 0xc3;
	finish(w);
}

static void chain(bool forward, bool ring)
{
	struct world *w = begin();
	size_t n = SIZE / 8;

	for (size_t i = 0; i < n; i++) {
		size_t to = forward ? i + 1 : i - 1;

		symbol(w, w->at, "f");
		if (to < n)
			branch(w, CALL, 8 * to);
		else if (ring)
			branch(w, CALL, forward ? 0 : 8 * (n - 1));
		else
			PUT(w, "\x48\x89\xc8\x90\x90");
		PUT(w, "\xc3\xcc\xcc");
	}
	finish(w);
}

static void chain_forward(void **state)
{
	(void)state;
	chain(true, false);
}

static void chain_backward(void **state)
{
	(void)state;
	chain(false, false);
}

static void ring_forward(void **state)
{
	(void)state;
	chain(true, true);
}

static void ring_backward(void **state)
{
	(void)state;
	chain(false, true);
}

/* Everybody calls everybody, or as many as there is room for. */
static void clique(void **state)
{
	struct world *w = begin();
	size_t n = 1;

	(void)state;
	while ((n + 1) * ((n + 1) * 5 + 3) <= SIZE)
		n++;
	for (size_t i = 0; i < n; i++) {
		symbol(w, w->at, "f");
		for (size_t k = 0; k < n; k++)
			branch(w, CALL, k * (5 * n + 3));
		PUT(w, "\x90\xc3\xcc");
	}
	finish(w);
}

/*
 * One function calls all others, each in a block of its own or all in one; those call it, or
 * the next one.
 */
static void hub(bool blocks, bool back)
{
	struct world *w = begin();
	size_t n = SIZE / 20;

	symbol(w, 0, "hub");
	PUT(w, "\x74\x00");
	for (size_t i = 0; i < n; i++) {
		branch(w, CALL, 8 * n + 16 + 8 * i);
		if (blocks)
			PUT(w, "\x74\x00");
		else
			PUT(w, "\x66\x90");
	}
	PUT(w, "\xc3");
	w->at = 8 * n + 16;
	for (size_t i = 0; i < n; i++) {
		symbol(w, w->at, "f");
		if (back)
			PUT(w, "\x74\x05");
		else
			PUT(w, "\x75\x05");
		w->at -= 2;
		if (back && i % 16 == 0)
			branch(w, CALL, 0);
		else if (i + 1 < n)
			branch(w, CALL, w->at + 8);
		else
			PUT(w, "\x48\x89\xc8\x90\x90");
		PUT(w, "\xc3\xcc\xcc");
	}
	finish(w);
}

static void hub_one_block(void **state)
{
	(void)state;
	hub(false, false);
}

static void hub_blocks(void **state)
{
	(void)state;
	hub(true, false);
}

static void hub_back(void **state)
{
	(void)state;
	hub(true, true);
}

/* Functions that jump into the middle of a large one. */
static void shared_tail(void **state)
{
	struct world *w = begin();

	(void)state;
	symbol(w, 0, "big");
	while (w->at < SIZE / 2)
		PUT(w, "\x74\x00");
	PUT(w, "\xeb\xfe"); /* never returns */
	while (w->at + 6 <= SIZE) {
		symbol(w, w->at, "f");
		branch(w, JMP, 2);
		PUT(w, "\xcc");
	}
	finish(w);
}

static void rows_at_insns(void **state)
{
	static const unsigned int reasons[] = {KI_R_EXTABLE, KI_R_JUMP_LABEL, KI_R_STATIC_CALL,
					       KI_R_BUG_SITE};
	struct world *w = begin();

	(void)state;
	memset(w->text, 0x50, SIZE - 1);
	w->text[SIZE - 1] = 0xc3;
	symbol(w, 0, "f");
	for (size_t i = 0; i + 8 < SIZE; i += 4)
		row(w, i, 1, reasons[i / 4 % 4], BASE + i + 4);
	finish(w);
}

/* All of them over the same place. */
static void rows_at_one(void **state)
{
	struct world *w = begin();

	(void)state;
	memset(w->text, 0x50, SIZE - 1);
	w->text[SIZE - 1] = 0xc3;
	symbol(w, 0, "f");
	for (size_t i = 0; i < SIZE / 8; i++)
		row(w, 16, 1, i & 1 ? KI_R_EXTABLE : KI_R_JUMP_LABEL, BASE + i % (SIZE / 2));
	finish(w);
}

static void long_rows(void **state)
{
	struct world *w = begin();

	(void)state;
	memset(w->text, 0x50, SIZE);
	for (size_t i = 0; i + 16 < SIZE; i += 16) {
		symbol(w, i, "f");
		w->text[i + 15] = 0xc3;
		row(w, i, SIZE, i % 32 ? KI_R_EXTABLE : KI_R_NOINSTR, BASE + 8);
	}
	finish(w);
}

static void entries(struct world *w, size_t n, size_t to, size_t step)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = BASE + to + i * step;

		put(w, (const char *)&addr, 8);
	}
}

/* jmp *table(, %rax, 8) */
static void table_jump(struct world *w, size_t table)
{
	uint32_t addr = (uint32_t)(BASE + table);

	PUT(w, "\xff\x24\xc5");
	put(w, (const char *)&addr, 4);
}

static void many_tables(void **state)
{
	struct world *w = begin();
	size_t n = SIZE / 128;

	(void)state;
	symbol(w, 0, "f");
	while (w->at < SIZE / 2)
		table_jump(w, SIZE - 8 * n);
	memset(w->text + w->at, 0x50, SIZE - w->at);
	symbol(w, SIZE - 8 * n, "table");
	w->at = SIZE - 8 * n;
	entries(w, n, 0, 7);
	finish(w);
}

static void table_each(void **state)
{
	struct world *w = begin();
	size_t n = SIZE / 128;

	(void)state;
	while (w->at < SIZE / 2) {
		symbol(w, w->at, "f");
		table_jump(w, SIZE - 8 * n);
		PUT(w, "\xc3");
	}
	symbol(w, w->at, "f.cold");
	memset(w->text + w->at, 0x50, SIZE - w->at);
	symbol(w, SIZE - 8 * n, "table");
	w->at = SIZE - 8 * n;
	entries(w, n, SIZE / 2, 2);
	finish(w);
}

static void aliases(void **state)
{
	struct world *w = begin();

	(void)state;
	PUT(w, "\x90\xc3");
	for (size_t i = 0; i < SIZE / 8; i++)
		symbol(w, i & 1 ? 0 : 1, "f");
	symbol(w, 16, "f.part.0");
	w->text[16] = 0xc3;
	finish(w);
}

/* As many parts as functions of their parent's name, none of which leads to them. */
static void namesakes(void **state)
{
	struct world *w = begin();

	(void)state;
	for (size_t i = 0; i + 4 <= SIZE; i += 4) {
		w->text[i] = 0xc3;
		symbol(w, i, i < SIZE / 2 ? "f" : "f.part.0");
	}
	finish(w);
}

/* The same, but two large functions of the name. */
static void large_namesakes(void **state)
{
	struct world *w = begin();

	(void)state;
	symbol(w, 0, "f");
	while (w->at < SIZE / 4)
		PUT(w, "\x74\x00");
	PUT(w, "\xc3\xcc");
	symbol(w, w->at, "f");
	while (w->at < SIZE / 2)
		PUT(w, "\x74\x00");
	PUT(w, "\xc3\xcc");
	for (; w->at + 4 <= SIZE; w->at += 4) {
		w->text[w->at] = 0xc3;
		symbol(w, w->at, "f.part.0");
	}
	finish(w);
}

/* Short branches at the end of a large function, to each of the small ones after it. */
static void near_large(void **state)
{
	struct world *w = begin();

	(void)state;
	memset(w->text, 0x50, SIZE);
	symbol(w, 0, "f");
	for (size_t at = SIZE - 256; at < SIZE - 128; at += 2) {
		w->text[at] = 0x74;
		w->text[at + 1] = (uint8_t)(SIZE - 127 - at + at % 64);
	}
	for (size_t at = SIZE - 128; at < SIZE; at += 2) {
		w->text[at] = 0x74;
		w->text[at + 1] = 1;
		symbol(w, at, "g");
	}
	finish(w);
}

/* A function after all others that calls them; of those each calls the one before. */
static void hub_behind(void **state)
{
	struct world *w = begin();
	size_t n = SIZE / 16;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		symbol(w, w->at, "f");
		if (i)
			branch(w, CALL, w->at - 8);
		else
			PUT(w, "\x48\x89\xc8\x90\x90");
		PUT(w, "\xc3\xcc\xcc");
	}
	symbol(w, w->at, "hub");
	for (size_t i = 0; i < n - 1; i++) {
		branch(w, CALL, 8 * i);
		PUT(w, "\x74\x00");
	}
	PUT(w, "\xc3");
	finish(w);
}

/* One instruction, many symbols in it. */
static void tiny_functions(void **state)
{
	struct world *w = begin();

	(void)state;
	for (size_t at = 0; at < SIZE; at++) {
		w->text[at] = (uint8_t)(at % 5 ? 0x02 : 0x74);
		if (at < SIZE / 4)
			symbol(w, at, "g");
	}
	finish(w);
}

/* Breakpoints, with nothing but filler between them. */
static void breakpoints(void **state)
{
	struct world *w = begin();

	(void)state;
	symbol(w, 0, "f");
	while (w->at + 2 < SIZE)
		PUT(w, "\xcc\x90");
	PUT(w, "\xc3");
	finish(w);
}

#define T(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_byte_insns), T(backward_jumps), T(nested_loops),	 T(chain_forward),
		T(chain_backward), T(ring_forward),   T(ring_backward),	 T(clique),
		T(hub_one_block),  T(hub_blocks),     T(hub_back),	 T(shared_tail),
		T(rows_at_insns),  T(rows_at_one),    T(long_rows),	 T(many_tables),
		T(table_each),	   T(aliases),	      T(namesakes),	 T(large_namesakes),
		T(near_large),	   T(hub_behind),     T(tiny_functions), T(breakpoints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
