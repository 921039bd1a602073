// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing records (kmod/helpers/record.c, compiled in here), interrupted between each two of its
 * instructions: the processor's trap flag brings a signal there, whose handler writes records
 * itself, one or so many that they go round the whole buffer; and these are interrupted in the same
 * way once more. Before each instruction, at all levels, what a reader can see must be whole, right
 * and in the order of its times; in the end each call is counted once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

/* as the kernel is built */
#pragma GCC optimize("no-strict-aliasing")
#pragma GCC diagnostic ignored "-Wstrict-aliasing"
#include "../../../kmod/helpers/record.c"

#define SIZE   4096
#define LEVELS 3
#define CALLS  2000 /* of one run, at most */

struct ki_ring_cpu __percpu *ki_ring_cpus[KI_RINGS];

static struct ki_ring_cpu cpu;
static struct ki_ring_head head;
static u64 tail;
static unsigned int calls, wakes;

static struct {
	unsigned int at;    /* interrupt before this instruction; 0: never */
	unsigned int burst; /* with so many records */
	unsigned int steps; /* instructions so far */
} plan[LEVELS];
static int level = -1;
static uint64_t stops, problems;
static const char *problem;

void ki_ring_wake(struct ki_ring_cpu *c, u64 t)
{
	wakes++;
	c->woken = t;
}

static void is_wrong(const char *what)
{
	problems++;
	problem = what;
}

/* ---- one record, and what all must be ---- */

static unsigned int turn; /* which of the two ways to write a record comes first */

/* A chunk's record, and that of a function which a chunk calls, in turns. */
static void call(void)
{
	struct ki_words_pushed words;
	uint32_t id = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	unsigned int n = id % 5;
	bool put = (id + turn) & 1;

	for (unsigned int i = 0; i < n; i++)
		words.v[put ? i : n - 1 - i] = id * 1000ull + i;
	if (put)
		ki_record_put(1, id, words.v, n);
	else
		ki_helper_RECORD(KI_RECORD(1, n), id, words);
}

static bool is_right(const struct ki_record *r)
{
	const uint64_t *v = (const uint64_t *)(r + 1);

	if (!r->id || r->id > calls || r->words != r->id % 5 || r->zero)
		return false;
	for (unsigned int i = 0; i < r->words; i++)
		if (v[i] != r->id * 1000ull + i)
			return false;
	return true;
}

/* What a reader sees now; returns how many records. */
static unsigned int look(void)
{
	static uint32_t seen[CALLS + 1], round;
	uint64_t pos = cpu.newest ? head.oldest : tail, end = head.head, tsc = 0;
	unsigned int n = 0;

	round++;
	if (end - pos > SIZE)
		is_wrong("head, tail or oldest");
	for (; pos < end && !problems; n++) {
		const struct ki_record *r = record_at(&cpu, pos);

		if (!is_right(r))
			is_wrong("a record is not whole");
		else if (seen[r->id] == round)
			is_wrong("a record twice");
		else if (r->tsc < tsc)
			is_wrong("a time before the one before");
		tsc = r->tsc;
		if (!problems)
			seen[r->id] = round;
		pos += sizeof(*r) + r->words * 8u;
	}
	if (pos != end)
		is_wrong("the head is not behind a record");
	return n;
}

/* ---- interrupts ---- */

static void trap_flag(bool on)
{
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n"
				 "lea 128(%%rsp), %%rsp" ::
					 : "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
				 "lea 128(%%rsp), %%rsp" ::
					 : "memory", "cc");
}

static void go(void)
{
	plan[++level].steps = 0;
	trap_flag(true);
	call();
	trap_flag(false);
	level--;
}

static void on_trap(int sig)
{
	int here = level;

	(void)sig;
	stops++;
	look();
	if (++plan[here].steps != plan[here].at)
		return;
	if (here + 1 < LEVELS && plan[here + 1].at)
		go();
	for (unsigned int i = 0; i < plan[here].burst; i++)
		call();
	look();
}

/* ---- runs ---- */

struct start {
	bool newest;
	unsigned int before; /* records that are there already */
	uint64_t room;	     /* of the others: bytes that are free */
};

static void begin(const struct start *s)
{
	static uint8_t *data;
	int fd;

	if (!data) { /* the same page twice */
		fd = memfd_create("data", 0);
		assert_int_equal(ftruncate(fd, SIZE), 0);
		data = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 2; i++)
			assert_ptr_not_equal(mmap(data + i * SIZE, SIZE, PROT_READ | PROT_WRITE,
						  MAP_SHARED | MAP_FIXED, fd, 0),
					     MAP_FAILED);
		close(fd);
	}
	memset(&head, 0, sizeof(head));
	calls = wakes = 0;
	tail = 0;
	cpu = (struct ki_ring_cpu){.newest = s->newest,
				   .size = SIZE,
				   .mask = SIZE - 1,
				   .tail = &tail,
				   .keep = s->newest ? &head.head : &tail,
				   .head = &head,
				   .data = data,
				   .wake = 16,
				   .woken = UINT64_MAX};
	ki_ring_cpus[1] = &cpu;
	for (unsigned int i = 0; i < s->before; i++)
		call();
	wakes = 0;
	cpu.woken = UINT64_MAX;
	/* What is there has been read, and there is less room than there was. */
	tail = head.head;
	if (s->room < SIZE)
		cpu.size = s->room;
}

static bool end(void)
{
	unsigned int there = look();

	if (cpu.nest || head.head != cpu.reserved)
		is_wrong("something is left unpublished");
	if (cpu.newest ? there + head.lost != calls : head.records + head.lost != calls)
		is_wrong("not each call is counted once");
	if (there && !wakes)
		is_wrong("nobody has been woken");
	return !problems;
}

/* Sanitized code is ten times as long: there not each instruction has its turn. */
#ifdef __SANITIZE_ADDRESS__
#define STEP	    67
#define SECOND_STEP 211
#define TWICE	    40 /* runs, at least */
#else
#define STEP	    1
#define SECOND_STEP 17
#define TWICE	    200
#endif

/* Interrupted before each instruction, one after the other; returns how many there are. */
static unsigned int all_places(const struct start *s, unsigned int burst)
{
	unsigned int at = 1 - STEP, places = 0;

	do {
		begin(s);
		memset(plan, 0, sizeof(plan));
		plan[0].at = at += STEP;
		places++;
		plan[0].burst = burst;
		go();
		if (!end())
			fail_msg("%s: newest %d, interrupted before instruction %u by %u", problem,
				 s->newest, at, burst);
	} while (plan[0].steps >= at);
	return places;
}

static void interrupted_anywhere(void **state)
{
	static const struct start starts[] = {{false, 0, SIZE}, {false, 100, SIZE}, {false, 100, 0},
					      {false, 100, 64}, {false, 100, 40},   {true, 0, SIZE},
					      {true, 300, SIZE}};
	static const unsigned int bursts[] = {1, 30, 400};
	unsigned int places = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		for (size_t k = 0; k < sizeof(bursts) / sizeof(*bursts); k++)
			for (turn = 0; turn < 2; turn++)
				places += all_places(&starts[i], bursts[k]);
	print_message("%u runs, looked at between %llu instructions\n", places,
		      (unsigned long long)stops);
}

/* The interrupt is interrupted, too. */
static void interrupted_twice(void **state)
{
	static const struct start starts[] = {{false, 0, SIZE}, {true, 120, SIZE}};
	unsigned int runs = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		for (unsigned int a = 1, b = 1;; a += STEP, b = 1) {
			for (;; b += SECOND_STEP, runs++) {
				begin(&starts[i]);
				memset(plan, 0, sizeof(plan));
				plan[0].at = a;
				plan[0].burst = 1;
				plan[1].at = b;
				plan[1].burst = 1 + b % 3;
				go();
				if (!end())
					fail_msg("%s: before %u, then %u", problem, a, b);
				if (plan[1].steps < b)
					break;
			}
			if (plan[0].steps < a)
				break;
		}
	print_message("%u runs\n", runs);
	assert_true(runs > TWICE);
}

/* A tail that lies: each call is counted, and nothing is written outside of the buffer. */
static void hostile_tails(void **state)
{
	static const struct start empty = {false, 0, SIZE};
	uint64_t n = 1;

	(void)state;
	begin(&empty);
	for (unsigned int i = 0; i < 100000; i++) {
		n = n * 6364136223846793005 + 1442695040888963407;
		tail = i % 3 ? n >> (n & 63) : head.head + (n >> 40) % (3 * SIZE) - SIZE;
		calls %= CALLS - 1;
		call();
	}
	assert_int_equal(head.records + head.lost, 100000);
	assert_true(head.records > 1000 && head.lost > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupted_anywhere),
		cmocka_unit_test(interrupted_twice),
		cmocka_unit_test(hostile_tails),
	};
	const struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};

	sigaction(SIGTRAP, &action, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
