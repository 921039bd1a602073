// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper MINMAX (kmod/helpers/minmax.c): what it makes of a variable, of each size and sign;
 * interrupted before each of its instructions by others that give values; and threads that give
 * rising ones, each of which must be there at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "uapi/kerninst.h"

#include "common_exec.h"
#include "common_minmax.h"

#define WORDS_SLOT 60
#define COUNTERS   3 /* where the counters begin */

static uint64_t gs[64], globals[8], words[8];

static uint64_t *slot(enum ki_minmax_of of, unsigned int n)
{
	uint64_t *const at[] = {gs + COUNTERS, globals, words};

	return at[of] + n;
}

/* ---- what it is ---- */

static uint64_t expected(uint64_t old, uint64_t x, unsigned int size, unsigned int flags)
{
	unsigned int up = 64 - (8u << size);
	uint64_t mask = UINT64_MAX >> up, a = x << up, b = old << up;
	bool more = flags & KI_MINMAX_SIGNED ? (int64_t)a > (int64_t)b : a > b;
	bool less = flags & KI_MINMAX_SIGNED ? (int64_t)a < (int64_t)b : a < b;

	return (flags & KI_MINMAX_MAX ? more : less) ? (old & ~mask) | (x & mask) : old;
}

static void all_kinds(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int of = i % 3, size = i / 3 % 4, flags = i / 12 % 4, n = i / 48 % 8;
		uint64_t old = exec_random(), x = i % 5 ? exec_random() : old + i % 7 - 3, want;
		bool indexed = of == KI_MINMAX_CPU && i % 2;

		*slot(of, n) = old;
		want = expected(old, x, size, flags);
		ki_do_MINMAX(KI_MINMAX(indexed ? 0 : n, of, size,
				       flags | (indexed ? KI_MINMAX_INDEXED : 0)),
			     x, indexed ? n : exec_random());
		if (*slot(of, n) != want)
			fail_msg("of %u, size %u, flags %u: %lx and %lx make %lx", of, size, flags,
				 old, x, *slot(of, n));
	}
}

static void who_has_no_words_writes_nothing(void **state)
{
	(void)state;
	gs[WORDS_SLOT] = 0;
	ki_do_MINMAX(KI_MINMAX(0, KI_MINMAX_THREAD, 3, KI_MINMAX_MAX), UINT64_MAX, 0);
	gs[WORDS_SLOT] = (uintptr_t)words;
}

/* ---- interrupts ---- */

/* Sanitized code is many times as long: there not each instruction has its turn. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 17
#else
#define STEP 1
#endif

static struct {
	unsigned int at, steps; /* come before this instruction of it */
	uint32_t what;
	const uint64_t *values; /* and give these */
	unsigned int n;
} plan;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	(void)info;
	if (++plan.steps != plan.at)
		return;
	for (unsigned int i = 0; i < plan.n; i++)
		ki_do_MINMAX(plan.what, plan.values[i], 0);
	regs[REG_EFL] &= ~0x100;
}

static __attribute__((noinline)) void stepped(uint32_t what, uint64_t x)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
	ki_do_MINMAX(what, x, 0);
	__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
			 "lea 128(%%rsp), %%rsp" ::
				 : "memory", "cc");
}

/* The steps that there were, of which each was interrupted. */
static unsigned int interrupted(enum ki_minmax_of of, unsigned int flags, uint64_t first,
				const uint64_t *values, unsigned int n)
{
	uint64_t want = expected(100, first, 3, flags);

	for (unsigned int i = 0; i < n; i++)
		want = expected(want, values[i], 3, flags);
	plan.what = KI_MINMAX(1, of, 3, flags);
	plan.values = values;
	plan.n = n;
	for (plan.at = 1;; plan.at += STEP) {
		plan.steps = 0;
		*slot(of, 1) = 100;
		stepped(plan.what, first);
		if (plan.steps < plan.at)
			return plan.steps;
		if (*slot(of, 1) != want)
			fail_msg("of %u, flags %u: interrupted before instruction %u: %lu, not %lu",
				 of, flags, plan.at, *slot(of, 1), want);
	}
}

static void none_is_lost_to_interrupts(void **state)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, was;
	static const uint64_t values[][2] = {{105, 103}, {120, 130}, {95, 97}, {80, 70}, {70, 130}};
	unsigned int steps = UINT32_MAX;

	(void)state;
	assert_int_equal(sigaction(SIGTRAP, &action, &was), 0);
	for (unsigned int i = 0; i < 3 * 4 * 5; i++) {
		unsigned int flags = i / 3 % 4, done;

		done = interrupted(i % 3, flags, flags & KI_MINMAX_MAX ? 110 : 90, values[i / 12],
				   1 + i % 2);
		steps = done < steps ? done : steps;
	}
	sigaction(SIGTRAP, &was, NULL);
	print_message("interrupted before each of at least %u instructions\n", steps);
	assert_true(steps > 15);
}

/* ---- threads ---- */

#define THREADS 2
#define MET	5000 /* values of each other's that they must have met */
#define ROUNDS	(1u << 16)
#define SECONDS 120 /* in which they must have met: one of them may have no CPU for long */

static pthread_barrier_t ready;
static atomic_bool over;
static struct riser {
	pthread_t thread;
	int cpu;
	unsigned int met, fell;
	uint64_t last;
} risers[THREADS];

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/*
 * Always a bit more than what is there, so that each may be between another one's reading and
 * change. What has been there once must not be more than what is there later. Who has met enough
 * is the end of both.
 */
static void *rise(void *arg)
{
	const volatile uint64_t *at = slot(KI_MINMAX_GLOBAL, 2);
	time_t end = seconds() + SECONDS;
	struct riser *r = arg;
	uint64_t now;

	stay_on(r->cpu);
	pthread_barrier_wait(&ready);
	for (unsigned int i = 1; !over && r->met < MET; i++) {
		now = *at;
		r->fell += now < r->last;
		r->met += now > r->last;
		r->last = now + 1 + (i & 7);
		ki_do_MINMAX(KI_MINMAX(2, KI_MINMAX_GLOBAL, 3, KI_MINMAX_MAX), r->last, 0);
		if (!(i % ROUNDS) && seconds() > end)
			break;
	}
	over = true;
	return NULL;
}

/* CPUs that this process may use: at most THREADS, in the risers. */
static unsigned int find_cpus(void)
{
	unsigned int n = 0;
	cpu_set_t may;

	assert_int_equal(sched_getaffinity(0, sizeof(may), &may), 0);
	for (int i = 0; i < CPU_SETSIZE && n < THREADS; i++)
		if (CPU_ISSET(i, &may))
			risers[n++].cpu = i;
	return n;
}

static void none_is_lost_to_threads(void **state)
{
	uint64_t all = 0;

	(void)state;
	if (find_cpus() < THREADS)
		skip();
	*slot(KI_MINMAX_GLOBAL, 2) = 0;
	pthread_barrier_init(&ready, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&risers[i].thread, NULL, rise, &risers[i]), 0);
	for (struct riser *r = risers; r < risers + THREADS; r++) {
		pthread_join(r->thread, NULL);
		assert_int_equal(r->fell, 0);
		all = r->last > all ? r->last : all;
	}
	assert_true(risers[0].met + risers[1].met >= MET);
	assert_int_equal(*slot(KI_MINMAX_GLOBAL, 2), all);
}

static int set_up(void **state)
{
	(void)state;
	exec_set_gs(gs);
	gs[WORDS_SLOT] = (uintptr_t)words;
	minmax_init(globals, COUNTERS * 8, WORDS_SLOT * 8);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds),
		cmocka_unit_test(who_has_no_words_writes_nothing),
		cmocka_unit_test(none_is_lost_to_interrupts),
		cmocka_unit_test(none_is_lost_to_threads),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
