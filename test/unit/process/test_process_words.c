// SPDX-License-Identifier: GPL-2.0-only
/*
 * The routine that code in a process calls for the words of its thread (lib/process/words.c),
 * called by threads of this one: each has its own row, the same each time, whoever else asks; who
 * finds no place has none, and is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "process/linked.h"
#include "target/process.h"

#define WORDS	5
#define THREADS 64
#define ASKED	20000

static uint8_t *code, *rows;
/* Beside the code, as counters are. */
static uint64_t *lost, *gate;

static uint64_t *ask(void)
{
	uint64_t (*routine)(void);
	void *at = code;

	memcpy(&routine, &at, sizeof(at));
	return (uint64_t *)(uintptr_t)routine();
}

static size_t bytes(void)
{
	return (size_t)KI_PROCESS_ROWS << ki_process_row_shift(WORDS);
}

static void *map(size_t len, int prot)
{
	void *p = mmap(NULL, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static int set_up(void **state)
{
	(void)state;
	rows = map(bytes(), PROT_READ | PROT_WRITE);
	code = map(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	lost = (uint64_t *)(code + 2048);
	gate = lost + 1;
	ki_words_routine(code, &(struct ki_words_at){.code = (uintptr_t)code,
						     .lost = (uintptr_t)lost,
						     .gate = (uintptr_t)gate,
						     .rows = (uintptr_t)rows,
						     .words = WORDS});
	*gate = KI_GATE_OPEN;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	munmap(rows, bytes());
	munmap(code, 4096);
	return 0;
}

static pthread_barrier_t begin;
static uint64_t *own[THREADS];

static void *ask_often(void *number)
{
	const size_t n = (size_t)(uintptr_t)number;

	pthread_barrier_wait(&begin);
	own[n] = ask();
	for (unsigned int i = 0; own[n] && i < ASKED; i++) {
		uint64_t *now = ask();

		if (now != own[n]) {
			own[n] = NULL;
			break;
		}
		now[i % WORDS]++;
	}
	return NULL;
}

static void each_thread_has_its_own(void **state)
{
	pthread_t ids[THREADS];

	(void)state;
	pthread_barrier_init(&begin, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, ask_often, (void *)(uintptr_t)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (size_t i = 0; i < THREADS; i++) {
		uint64_t sum = 0;

		assert_non_null(own[i]);
		for (unsigned int w = 0; w < WORDS; w++)
			sum += own[i][w];
		assert_int_equal(sum, ASKED);
	}
	assert_int_equal(*lost, 0);
}

static void nobody_has_any_before_the_gate_opens(void **state)
{
	(void)state;
	*gate = 0;
	assert_null(ask());
	assert_int_equal(*lost, 0);
	for (size_t i = 0; i < bytes(); i++)
		assert_int_equal(rows[i], 0);
	*gate = KI_GATE_OPEN;
	assert_non_null(ask());
}

static void who_finds_no_place_has_none(void **state)
{
	const size_t row = 1u << ki_process_row_shift(WORDS);

	(void)state;
	for (size_t i = 0; i < KI_PROCESS_ROWS; i++)
		memset(rows + i * row, 0x5a, 8);
	assert_null(ask());
	assert_null(ask());
	assert_int_equal(*lost, 2);
	/* One becomes free in reach of everybody: those that he is hashed to take it. */
	for (size_t i = 0; i < KI_PROCESS_ROWS; i += KI_PROCESS_TRIES)
		memset(rows + i * row, 0, 8);
	assert_non_null(ask());
	assert_ptr_equal(ask(), ask());
	assert_int_equal(*lost, 2);
}

static void rows_are_large_enough(void **state)
{
	(void)state;
	for (uint32_t words = 1; words <= KI_PROCESS_WORDS; words++) {
		const size_t row = (size_t)1 << ki_process_row_shift(words);

		assert_true(row >= 64 && row >= 8 * (words + 1));
		assert_true(row == 64 || row / 2 < 8 * (words + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_thread_has_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_finds_no_place_has_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_has_any_before_the_gate_opens, set_up,
						tear_down),
		cmocka_unit_test(rows_are_large_enough),
	};

	if (!(getauxval(AT_HWCAP2) & 2)) /* FSGSBASE */
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
