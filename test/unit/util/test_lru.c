// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the model of a processor's caches is made of (test/plugin/lru.h): held against a reference
 * that remembers when each key was used last and nothing else, and against streams whose misses are
 * known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../plugin/lru.h"
#include "common_exec.h"

#define KEYS   4096
#define STREAM 200000

/* ---- the reference ---- */

/* When each key was used last (0: never), and with which datum. A key is there if fewer than `ways`
   others of its set were used since. */
struct naive {
	uint64_t when[KEYS], datum[KEYS], now;
	size_t sets, ways;
};

static bool naive_use(struct naive *m, uint64_t key, uint64_t datum)
{
	size_t newer = 0;
	bool hit;

	for (uint64_t k = key % m->sets; k < KEYS; k += m->sets)
		newer += m->when[k] > m->when[key];
	hit = m->when[key] && newer < m->ways && m->datum[key] == datum;
	m->when[key] = ++m->now;
	m->datum[key] = datum;
	return hit;
}

/* ---- streams ---- */

/* Runs of keys, as code is, here and there; and those of loops again and again. */
static void make_stream(uint64_t *keys, size_t n)
{
	uint64_t at = 0, from = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t what = exec_random() % 64;

		if (what == 0)
			from = at = exec_random() % KEYS;
		else if (what < 4)
			at = from + exec_random() % 300;
		else
			at++;
		keys[i] = at % KEYS;
	}
}

static size_t misses(const uint64_t *keys, size_t n, size_t entries, size_t ways)
{
	struct lru m;
	size_t missed = 0;

	assert_true(lru_new(&m, entries, ways));
	for (size_t i = 0; i < n; i++)
		missed += !lru_use(&m, keys[i], 0);
	free(m.keys);
	free(m.data);
	return missed;
}

static void as_the_reference(size_t entries, size_t ways, uint64_t ndata)
{
	static uint64_t keys[STREAM];
	static struct naive naive;
	struct lru m;
	size_t missed = 0;

	memset(&naive, 0, sizeof(naive));
	naive.sets = entries / ways;
	naive.ways = ways;
	assert_true(lru_new(&m, entries, ways));
	make_stream(keys, STREAM);
	for (size_t i = 0; i < STREAM; i++) {
		uint64_t datum = exec_random() % 16 ? 0 : exec_random() % ndata;
		bool hit = lru_use(&m, keys[i], datum);

		assert_int_equal(hit, naive_use(&naive, keys[i], datum));
		missed += !hit;
	}
	assert_in_range(missed, STREAM / 1000, STREAM - STREAM / 1000);
	free(m.keys);
	free(m.data);
}

/* ---- tests ---- */

/* The sizes of fetch.c, and small ones. */
static void reference(void **state)
{
	(void)state;
	exec_seed(1);
	as_the_reference(512, 8, 1); /* 32 KiB of 64 bytes */
	as_the_reference(2048, 8, 1);
	as_the_reference(64, 64, 1);
	as_the_reference(1024, 4, 1000); /* targets of branches */
	as_the_reference(512, 1, 1);
	as_the_reference(6, 2, 3);
}

/* Round and round: what fits misses once, and one line more than a set has ways misses always. */
static void known(void **state)
{
	static uint64_t keys[512 * 10];

	(void)state;
	for (size_t i = 0; i < 512 * 10; i++)
		keys[i] = 0x123456 + i % 512;
	assert_int_equal(misses(keys, 512 * 10, 512, 8), 512);
	for (size_t i = 0; i < 900; i++)
		keys[i] = 5 + i % 9 * 64;
	assert_int_equal(misses(keys, 900, 512, 8), 900);
	assert_int_equal(misses(keys, 900, 576, 9), 9);
	for (size_t i = 0; i < 512 * 10; i++) /* 520 lines: 8 sets have one too many */
		keys[i] = i % 520;
	assert_int_equal(misses(keys, 520 * 9, 512, 8), 520 + 8 * 8 * 9);
}

/* What fetch_test.sh says of lines more: each saves one miss, at most, and costs ways + 1. */
static void lines_more(void **state)
{
	static uint64_t keys[8192], with[2 * 8192];
	size_t dearer = 0, cheaper = 0;

	(void)state;
	exec_seed(2);
	for (int round = 0; round < 300; round++) {
		size_t ways = 1 + exec_random() % 8, entries = ways << (1 + exec_random() % 5);
		uint64_t one_of = 1 + exec_random() % 2000;
		size_t n = 0, more, without;

		make_stream(keys, 8192);
		for (size_t i = 0; i < 8192; i++) {
			if (!(exec_random() % one_of))
				with[n++] = round % 2 ? exec_random() % KEYS
						      : keys[(i + exec_random() % 100) % 8192];
			with[n++] = keys[i];
		}
		more = n - 8192;
		without = misses(keys, 8192, entries, ways);
		n = misses(with, n, entries, ways);
		assert_true(n + more >= without);
		assert_true(n <= without + (ways + 1) * more);
		dearer += n > without;
		cheaper += n < without;
	}
	assert_true(dearer && cheaper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference),
		cmocka_unit_test(known),
		cmocka_unit_test(lines_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
