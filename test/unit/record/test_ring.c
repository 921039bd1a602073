// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a ring (lib/record/ring_read.c), from one in this process's memory: in the order of times
 * over all CPUs, around the end of the data, while a writer overtakes, and with what is no record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "record/ring.h"

#define CPUS 3
#define SIZE 8192u

static struct fake {
	struct cpu {
		struct ki_ring_head head;
		uint8_t rest[RING_PAGE - sizeof(struct ki_ring_head)];
		uint64_t data[SIZE / 8];
	} cpu[CPUS];
} fake;
static uint64_t tails[CPUS];
static struct ki_ring_map ring;
static uint64_t next_value;

static void start(bool newest, uint64_t pos)
{
	ki_ring_end(&ring);
	memset(&fake, 0, sizeof(fake));
	ring = (struct ki_ring_map){.base = (const uint8_t *)&fake,
				    .tails = tails,
				    .stride = sizeof(struct cpu),
				    .cpus = CPUS,
				    .newest = newest};
	assert_int_equal(ki_ring_begin(&ring), 0);
	for (int i = 0; i < CPUS; i++)
		tails[i] = fake.cpu[i].head.head = fake.cpu[i].head.oldest = pos;
	next_value = 0;
}

static void put(struct cpu *c, uint64_t *pos, uint64_t word)
{
	c->data[*pos % SIZE / 8] = word;
	*pos += 8;
}

static uint64_t length_at(const struct cpu *c, uint64_t pos)
{
	return 16 + 8 * (c->data[pos % SIZE / 8] >> 32 & 0xffff);
}

/* Words of the record: its time, and one more for each. */
static void write_record(unsigned int cpu, uint64_t tsc, unsigned int words)
{
	struct cpu *c = &fake.cpu[cpu];
	uint64_t pos = c->head.head, end = pos + 16 + 8 * words;

	while (ring.newest && end - c->head.oldest > SIZE)
		c->head.oldest += length_at(c, c->head.oldest);
	put(c, &pos, (uint64_t)words << 32 | (1000 + cpu));
	put(c, &pos, tsc);
	for (unsigned int i = 0; i < words; i++)
		put(c, &pos, tsc + i);
	c->head.head = pos;
	c->head.records++;
}

struct got {
	unsigned int n, wrong, stop;
	uint64_t tsc, first;
};

static int take(void *arg, const struct ki_record *rec, const uint64_t *v, unsigned int cpu)
{
	struct got *g = arg;

	g->wrong += rec->id != 1000 + cpu || rec->tsc < g->tsc;
	for (unsigned int i = 0; i < rec->words; i++)
		g->wrong += v[i] != rec->tsc + i;
	if (!g->n++)
		g->first = rec->tsc;
	g->tsc = rec->tsc;
	return g->n == g->stop ? 77 : 0;
}

static struct got read_all(int want)
{
	struct got g = {0};

	assert_int_equal(ki_ring_read(&ring, take, &g), want);
	assert_int_equal(g.wrong, 0);
	return g;
}

/* Whatever the lengths, from wherever they begin: so every word is once the last of the data. */
static void merged_around_the_end(void **state)
{
	unsigned int all = 0, seed = 1;

	(void)state;
	for (uint64_t pos = 0; pos < 3 * SIZE; pos += 8) {
		unsigned int n = 0;

		start(false, (1ull << 40) + pos);
		for (uint64_t tsc = 1; tsc < 60; tsc++, n++) {
			seed = seed * 1103515245 + 12345;
			write_record(seed >> 16 & 1 ? 2 : seed >> 17 & 1, tsc,
				     (seed >> 20) % (KI_RECORD_WORDS + 1));
		}
		assert_int_equal(read_all(0).n, n);
		assert_int_equal(read_all(0).n, 0);
		all += n;
	}
	print_message("%u records\n", all);
}

static void what_was_taken_is_gone(void **state)
{
	struct got g = {.stop = 3};

	(void)state;
	start(false, 0);
	for (uint64_t tsc = 1; tsc <= 10; tsc++)
		write_record(tsc % CPUS, tsc, 2);
	assert_int_equal(ki_ring_read(&ring, take, &g), 77);
	g = read_all(0);
	assert_int_equal(g.n, 7);
	assert_int_equal(g.first, 4);
	for (int i = 0; i < CPUS; i++)
		assert_int_equal(tails[i], fake.cpu[i].head.head);
	assert_int_equal(ki_ring_records(&ring), 10);
}

static void the_newest_stay(void **state)
{
	struct got g;

	(void)state;
	start(true, 0);
	for (uint64_t tsc = 1; tsc <= 1000; tsc++)
		write_record(1, tsc, 2);
	for (int i = 0; i < 2; i++) {
		g = read_all(0);
		assert_int_equal(g.n, SIZE / 32);
		assert_int_equal(g.tsc, 1000);
		assert_int_equal(g.first, 1000 - g.n + 1);
	}
}

/* The writer writes between copying a record and looking whether it still was one. */
static unsigned int at_once;

static void overtake(void *unused)
{
	static unsigned int times;

	(void)unused;
	if (++times % 8)
		return;
	for (unsigned int i = 0; i < at_once; i++, next_value++)
		write_record(0, next_value, next_value % (KI_RECORD_WORDS + 1));
}

static void overtaken(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (at_once = 0; at_once < 200; at_once++) {
		start(true, 0);
		next_value = 1;
		while (next_value < 500)
			write_record(0, next_value, next_value % 7), next_value++;
		ring.between = overtake;
		n += read_all(0).n;
	}
	print_message("%u records\n", n);
	assert_true(n > 1000);
}

/* Whatever is there: it ends, and reads nothing outside. */
static void what_is_no_record(void **state)
{
	uint64_t n = 1;
	int bad = 0;

	(void)state;
	start(false, 0);
	write_record(1, 5, 2);
	fake.cpu[1].data[0] |= (uint64_t)(KI_RECORD_WORDS + 1) << 32;
	read_all(-EIO);
	start(false, 0);
	write_record(1, 5, 2);
	fake.cpu[1].head.head -= 8;
	read_all(-EIO);
	for (int i = 0; i < 20000; i++) {
		struct got g = {0};

		start(i & 1, 0);
		for (unsigned int k = 0; k < CPUS * sizeof(struct cpu) / 8; k += 1 + n % 64) {
			n = n * 6364136223846793005 + 1442695040888963407;
			((uint64_t *)(void *)&fake)[k] = n >> (n >> 58);
		}
		fake.cpu[0].head.head = tails[0] + (n & 8191);
		bad += ki_ring_read(&ring, take, &g) == -EIO;
		assert_true(g.n <= CPUS * SIZE / 16);
	}
	assert_true(bad > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_around_the_end), cmocka_unit_test(what_was_taken_is_gone),
		cmocka_unit_test(the_newest_stay),	 cmocka_unit_test(overtaken),
		cmocka_unit_test(what_is_no_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
