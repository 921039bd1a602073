// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables (kmod/helpers/table.c, compiled in here): when they are full, when rows are deleted and
 * serve again, how digests spread keys, and threads that work on a shared table at once, each on
 * keys of its own, whose values it knows, among the places that others leave, and all on some keys.
 */
#include "table_fixture.h"

#include <pthread.h>

/* ---- when it is full ---- */

static void full_is_exact(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		begin(&(struct start){shared, 64, 0, 0, false});
		for (unsigned int i = 0; i < 1000; i++)
			do_one(KI_TABLE_ADD, V_SUM, i % 100, i);
		if (!end())
			fail_msg("%s", problem);
		assert_int_equal(head.used, 64);
		assert_int_equal(head.lost, 360);
		for (uint32_t b = 0; b < 5; b++) /* beyond the last value */
			assert_int_equal(ask(KI_TABLE_COUNT, VALUES - 3, 0, b), b < 3);
		assert_int_equal(ask(KI_TABLE_COUNT, 1, 0, UINT64_MAX), 0);
		assert_int_equal(head.lost, 363);
	}
}

static void deleted_rows_serve_again(void **state)
{
	(void)state;
	begin(&(struct start){true, 64, 0, 0, false});
	for (unsigned int i = 0; i < 50000; i++) {
		do_one(KI_TABLE_SET, V_SET, i % MODELS, i);
		assert_int_equal(ask(KI_TABLE_GET, V_SET, i % MODELS, 0), i);
		if (i >= 40)
			do_one(KI_TABLE_DELETE, 0, (i - 40) % MODELS, 0);
		assert_int_equal(ask(KI_TABLE_GET, V_SET, (i + 1) % MODELS, 0), 0);
	}
	if (!end())
		fail_msg("%s", problem);
	assert_int_equal(head.used, 40);
	assert_int_equal(head.lost, 0);
}

/* ---- powers of two ---- */

static unsigned int model_log2(uint64_t x)
{
	unsigned int n = 0;

	for (; x; x >>= 1)
		n++;
	return n;
}

static void powers_of_two(void **state)
{
	static struct ki_table_cpu c;
	static u64 row[2 + 2 + KI_TABLE_LOG2_WORDS];
	uint64_t want[KI_TABLE_LOG2_WORDS] = {0};
	const struct ki_key_pushed key = {{1}};

	(void)state;
	memset(&head, 0, sizeof(head));
	c = (struct ki_table_cpu){
		.rows = row, .head = &head, .probes = 1, .words = 68, .keys = 1, .values = 1 + 65};
	ki_table_cpus[1] = &c;
	for (unsigned int i = 0; i < 66; i++)
		for (uint64_t d = 0; d < 3; d++) {
			uint64_t x = (i < 64 ? 1ull << i : i - 64) + d - 1;

			want[model_log2(x)]++;
			assert_int_equal(ki_helper_TABLE(KI_TABLE_OP(1u, KI_TABLE_LOG2, 1), x, key),
					 1);
		}
	assert_int_equal(row[2], 0);
	for (unsigned int i = 0; i < KI_TABLE_LOG2_WORDS; i++)
		assert_int_equal(row[3 + i], want[i]);
}

/* ---- digests ---- */

static void spread(uint64_t (*key)(unsigned int i, unsigned int word), const char *name)
{
	static struct ki_table_cpu c;
	uint64_t probes = 0;
	u64 k[2];

	memset(rows, 0, sizeof(rows));
	c = (struct ki_table_cpu){.rows = rows,
				  .head = &head,
				  .mask = 4095,
				  .probes = KI_TABLE_PROBES,
				  .words = 4,
				  .keys = 2,
				  .values = 1};
	for (unsigned int i = 0; i < 3072; i++) {
		u64 hash, at, n = 0, *row;

		k[1] = key(i, 0);
		k[0] = key(i, 1);
		hash = at = digest(k, 2);
		row = find_here(&c, k, hash);
		assert_non_null(row);
		while (row_at(&c, at) != row)
			at += ++n;
		probes += n + 1;
	}
	/* at three quarters, random places make 1.9 */
	print_message("%s: %.2f places looked at\n", name, (double)probes / 3072);
	assert_true(probes < 3072 * 23 / 10);
}

static uint64_t numbers(unsigned int i, unsigned int word)
{
	return word ? i : 0;
}
static uint64_t pairs(unsigned int i, unsigned int word)
{
	return word ? i % 64 : i / 64;
}
static uint64_t addresses(unsigned int i, unsigned int word)
{
	return word ? 0xffff888000000000 + i * 4096ull : 0;
}
static uint64_t names(unsigned int i, unsigned int word)
{
	uint64_t v = 0;
	char text[32] = "";

	snprintf(text, sizeof(text), "kworker/%u:%u", i / 100, i % 100);
	memcpy(&v, text + (word ? 8 : 0), 8);
	return v;
}

static void digests_spread(void **state)
{
	(void)state;
	spread(numbers, "numbers");
	spread(pairs, "pairs of small numbers");
	spread(addresses, "addresses of pages");
	spread(names, "names");
}

/* ---- threads ---- */

#define THREADS 4
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 40000
#else
#define ROUNDS 400000
#endif

struct worker {
	unsigned int who;
	uint64_t done[OWN], lost, wrong;
};

/* Keys of all, which are only added to; and of this thread alone, whose value it knows. */
static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t own[64] = {0}, r = w->who;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned int k, id;

		r = r * 6364136223846793005 + 1442695040888963407;
		k = r >> 58;
		id = OWN + w->who * 64 + k;
		if (r >> 40 & 1) {
			if (ask(KI_TABLE_ADD, V_SUM, k % OWN, 1))
				w->done[k % OWN]++;
			else
				w->lost++;
		} else if (r >> 41 & 1) {
			w->wrong += !ask(KI_TABLE_ADD, V_SUM, id, i);
			own[k] += i;
		} else {
			w->wrong += !ask(KI_TABLE_DELETE, 0, id, 0);
			own[k] = 0;
		}
		w->wrong += ask(KI_TABLE_GET, V_SUM, id, 0) != own[k];
	}
	return NULL;
}

static void threads_at_once(void **state)
{
	static struct worker w[THREADS];
	unsigned int found[MODELS] = {0};
	uint64_t lost = 0, done[OWN] = {0};
	pthread_t thread[THREADS];

	(void)state;
	begin(&(struct start){true, 512, 0, 0, false});
	for (unsigned int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.who = i};
		assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(w[i].wrong, 0);
		lost += w[i].lost;
		for (unsigned int k = 0; k < OWN; k++)
			done[k] += w[i].done[k];
	}
	for (uint64_t i = 0; i <= cpu.mask; i++)
		if (KI_ROW_KIND(rows[i * WORDS]) == KI_ROW_READY)
			assert_int_equal(found[rows[i * WORDS + 1]]++, 0);
	for (unsigned int k = 0; k < OWN; k++)
		assert_int_equal(ask(KI_TABLE_GET, V_SUM, k, 0), done[k]);
	assert_int_equal(head.lost, lost);
	print_message("%u calls of %u threads, %llu lost\n", ROUNDS * 2 * THREADS, THREADS,
		      (unsigned long long)lost);
	assert_true(lost < ROUNDS * THREADS); /* half: the rest is the scheduler's */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_is_exact),   cmocka_unit_test(deleted_rows_serve_again),
		cmocka_unit_test(powers_of_two),   cmocka_unit_test(digests_spread),
		cmocka_unit_test(threads_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
