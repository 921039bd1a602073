// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hash of a function's graph: the same wherever the function is and whatever the kernel writes
 * there; another if a block or an edge is; and exactly what cfg.h says.
 */
#include "common_code.h"
#include "common_graph.h"

#include <string.h>

#include <xxhash.h>

/* call or nop; 5: test %edi,%edi; je 0xe; 9: dec %eax; jne 5; d: nop; e: ret */
static const uint8_t code[] = {0xe8, 0x00, 0x10, 0x00, 0x00, 0x85, 0xff, 0x74,
			       0x05, 0xff, 0xc8, 0x75, 0xf8, 0x90, 0xc3};

static uint64_t hash_at(const uint8_t *bytes, size_t len, uint64_t base)
{
	const struct ki_symbol f = {.addr = base, .name = "f"};
	struct text x = {.m = {.kind = KI_TARGET_LIVE,
			       .base = base,
			       .bytes = bytes,
			       .len = len,
			       .symbols = &f,
			       .nsymbols = 1}};
	uint64_t hash;

	open_text(&x);
	look_at(&x, "f");
	assert_int_equal(ki_cfg_hash(x.fn, &hash), 0);
	assert_true(hash != 0);
	close_text(&x);
	return hash;
}

static void is_as_defined(void **state)
{
	static const uint32_t words[] = {5, 0, 5, 5, 4, 9, 4, 13, 1, 14,      1, /* blocks */
					 7, 0, 1, 0, 1, 2, 0, 1,  4, 1,	      2,
					 1, 1, 2, 3, 0, 3, 4, 0,  4, KI_NONE, 5};

	(void)state;
	assert_int_equal(hash_at(code, sizeof(code), BASE), XXH3_64bits(words, sizeof(words)));
}

static void is_the_same_elsewhere(void **state)
{
	const uint64_t hash = hash_at(code, sizeof(code), BASE);

	(void)state;
	assert_int_equal(hash_at(code, sizeof(code), BASE + 0x1e400000), hash);
	assert_int_equal(hash_at(code, sizeof(code), 0xffffffffc0a01230), hash);
}

/* The function with other bytes at an offset. */
static uint64_t hash_with(size_t at, const void *bytes, size_t n)
{
	uint8_t other[sizeof(code)];

	memcpy(other, code, sizeof(code));
	memcpy(other + at, bytes, n);
	return hash_at(other, sizeof(other), BASE);
}

static void calls_are_not_in_it(void **state)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	const uint64_t hash = hash_at(code, sizeof(code), BASE);

	(void)state;
	assert_int_equal(hash_with(0, nop, sizeof(nop)), hash);
	assert_int_equal(hash_with(2, "\x20", 1), hash);  /* another callee */
	assert_int_equal(hash_with(10, "\xc9", 1), hash); /* dec %ecx: as long */
}

static void differences_are_seen(void **state)
{
	const uint64_t hash = hash_at(code, sizeof(code), BASE);
	uint8_t longer[sizeof(code) + 1];

	(void)state;
	assert_true(hash_with(8, "\x04", 1) != hash);  /* je d: one edge */
	assert_true(hash_with(11, "\xeb", 1) != hash); /* jmp 5: one edge less */
	assert_true(hash_with(7, "\x90\x90", 2) != hash);
	memcpy(longer, code, 13);
	memcpy(longer + 13, "\x66\x90\xc3", 3); /* a nop of two bytes */
	longer[8] = 6;
	assert_true(hash_at(longer, sizeof(longer), BASE) != hash);
}

static uint64_t hash_of(const struct arc *arcs, uint32_t n)
{
	struct graph g;
	uint64_t hash;

	graph_make(&g, 3, arcs, n);
	assert_int_equal(ki_cfg_hash(&g.fn, &hash), 0);
	graph_free(&g);
	return hash;
}

/* In which order edges are found, how often one of them, and how control leaves: all one. */
static void order_is_not_in_it(void **state)
{
	static const struct arc one[] = {{0, 1, KI_EDGE_TABLE}, {0, 2, KI_EDGE_TABLE}, {1, OUT, 0}};
	static const struct arc same[] = {{0, 2, KI_EDGE_TABLE},
					  {0, 1, KI_EDGE_TABLE},
					  {0, 2, KI_EDGE_TABLE},
					  {1, OUT, KI_EDGE_TAIL}};
	static const struct arc other[] = {
		{0, 1, KI_EDGE_TABLE}, {0, 2, KI_EDGE_TABLE}, {2, OUT, 0}};
	static const struct arc kind[] = {
		{0, 1, KI_EDGE_TABLE}, {0, 2, KI_EDGE_TAKEN}, {1, OUT, 0}};

	(void)state;
	assert_int_equal(hash_of(same, 4), hash_of(one, 3));
	assert_true(hash_of(other, 3) != hash_of(one, 3));
	assert_true(hash_of(kind, 3) != hash_of(one, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_as_defined),       cmocka_unit_test(is_the_same_elsewhere),
		cmocka_unit_test(calls_are_not_in_it), cmocka_unit_test(differences_are_seen),
		cmocka_unit_test(order_is_not_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
