// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers with words of the thread, by the time stamp counter and by the thread's own clock, and
 * what the kernel counts of a thread: compared with what this process sees of itself.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "snippet/timer.h"
#include "snippets.h"

#define SLEEPS 5
#define OUTER  "__x64_sys_clock_nanosleep"
#define INNER  "hrtimer_nanosleep" /* which it calls */

static struct ki_node *clock_of(struct ki_snippet *s, enum ki_fact fact)
{
	struct ki_node *n = ki_expr_fact(s, fact);

	if (fact == KI_FACT_TSC || fact == KI_FACT_CLOCK)
		return n;
	return ki_expr_binary(s, KI_ADD, n, ki_expr_const(s, KI_U64, 1));
}

struct timed {
	enum ki_fact fact;
	uint32_t word, total; /* the number of calls after it */
};

/* Both functions use the same word: what is inside is part of the whole. */
static void put_timer(struct ki_plan *plan, const char *function, const struct timed *t, bool known)
{
	const struct ki_var word = var(KI_VAR_THREAD, t->word, 1);
	const struct ki_var elapsed = var(KI_VAR_LOCAL, 0, 1);
	const struct ki_var total = var(KI_VAR_CPU, t->total, 1);
	const struct ki_var calls = var(KI_VAR_CPU, t->total + 1, 1);
	struct ki_snippet *s = snippet_new();
	struct ki_node *then;

	only_here(s, ki_timer_start(s, &word, clock_of(s, t->fact), NULL, NULL, NULL));
	put(plan, function, KI_POINT_ENTRY, s, known);
	s = snippet_new();
	then = ki_stmt_append(s, NULL, add(s, &total, ki_expr_var(s, &elapsed)));
	then = ki_stmt_append(s, then, add(s, &calls, ki_expr_const(s, KI_I64, 1)));
	only_here(s, ki_timer_stop(s, &(struct ki_timer_end){.word = &word,
							     .clock = clock_of(s, t->fact),
							     .elapsed = &elapsed,
							     .then = then}));
	put(plan, function, KI_POINT_EXIT_AFTER, s, known);
}

static double nanoseconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* In ticks, as this process sees it, and as the scheduler does. */
static uint64_t sleeping(uint64_t *own)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	double cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
	uint64_t start = __rdtsc(), sum = 0, before;

	for (int i = 0; i < SLEEPS; i++) {
		before = __rdtsc();
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
		sum += __rdtsc() - before;
	}
	before = __rdtsc();
	wall = nanoseconds(CLOCK_MONOTONIC) - wall;
	cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	*own = (uint64_t)(cpu * (double)(before - start) / wall);
	return sum;
}

static void inside_is_zero(const struct timed *t)
{
	struct ki_inside_row row;
	struct ki_err err = {0};
	uint64_t now;

	if (ki_words_inside(target, &(struct ki_words_run){KI_CLOCK_TSC, t->word, 1}, &row, &now,
			    &err))
		die("inside", err.msg);
	report("nobody is inside", !row.threads, "%llu threads", (unsigned long long)row.threads);
}

void timers(bool known)
{
	const uint32_t word = take_words(3), total = take_counters(6);
	const struct timed wall = {KI_FACT_TSC, word, total};
	const struct timed own = {KI_FACT_CLOCK, word + 1, total + 2};
	const struct timed switches = {KI_FACT_NVCSW, word + 2, total + 4};
	struct ki_plan *plan = plan_new();
	uint64_t want, most, got[6];
	bool good[3];

	put_timer(plan, OUTER, &wall, known);
	put_timer(plan, INNER, &wall, known);
	put_timer(plan, OUTER, &own, known);
	put_timer(plan, OUTER, &switches, known);
	plan_apply(plan, target);
	want = sleeping(&most);
	take_out(plan);
	for (uint32_t i = 0; i < 6; i++)
		got[i] = ki_counter_read(counters, total + i);
	good[0] = got[0] <= want && want - got[0] < want / 50 && got[1] == SLEEPS;
	/* what a stalled machine takes from a thread that runs is the thread's in both clocks */
	good[1] = got[2] > 0 && got[2] < most + most / 10 && got[2] < want / 2 && got[3] == SLEEPS;
	/* a timer that goes off before its thread sleeps spares a switch */
	good[2] = got[4] == SLEEPS && got[5] == SLEEPS;
	report("timer", good[0], "%llu of %llu ticks, %llu calls", (ull)got[0], (ull)want,
	       (ull)got[1]);
	report("own clock", good[1], "%llu of %llu ticks, the scheduler says %llu", (ull)got[2],
	       (ull)want, (ull)most);
	report("switches", good[2], "%llu in %llu calls", (ull)got[4], (ull)got[5]);
	inside_is_zero(&wall);
}

/* ---- what is counted of a thread ---- */

static const enum ki_fact counted[] = {KI_FACT_MINFLT, KI_FACT_MAJFLT, KI_FACT_NVCSW,
				       KI_FACT_NIVCSW};

#define COUNTED (sizeof(counted) / sizeof(*counted))

static void usage(uint64_t *v)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	v[0] = (uint64_t)u.ru_minflt;
	v[1] = (uint64_t)u.ru_majflt;
	v[2] = (uint64_t)u.ru_nvcsw;
	v[3] = (uint64_t)u.ru_nivcsw;
}

static void hit_as(uid_t uid)
{
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(uid, uid, uid))
			_exit(1);
		syscall(SYS_getppid);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

void facts(bool known)
{
	const uint32_t first = take_counters(COUNTED + 1);
	const struct ki_var uid = var(KI_VAR_CPU, first + COUNTED, 1);
	struct ki_plan *plan = plan_new();
	struct ki_snippet *s = snippet_new();
	uint64_t before[COUNTED], after[COUNTED], got[COUNTED + 1];
	struct ki_node *list = NULL;
	bool between = true;

	for (uint32_t i = 0; i < COUNTED; i++) {
		const struct ki_var v = var(KI_VAR_CPU, first + i, 1);

		list = ki_stmt_append(s, list, add(s, &v, ki_expr_fact(s, counted[i])));
	}
	only_here(s, list);
	put(plan, "__x64_sys_getppid", KI_POINT_ENTRY, s, known);
	s = snippet_new();
	ki_snippet_body(s, ki_stmt_if(s,
				      ki_expr_binary(s, KI_GT, ki_expr_fact(s, KI_FACT_UID),
						     ki_expr_const(s, KI_I64, 4000000000)),
				      add(s, &uid, ki_expr_fact(s, KI_FACT_UID)), NULL));
	put(plan, "__x64_sys_getppid", KI_POINT_ENTRY, s, known);
	plan_apply(plan, target);
	usage(before);
	syscall(SYS_getppid);
	usage(after);
	hit_as(4000000001u);
	take_out(plan);
	for (uint32_t i = 0; i <= COUNTED; i++)
		got[i] = ki_counter_read(counters, first + i);
	for (uint32_t i = 0; i < COUNTED; i++)
		between &= before[i] <= got[i] && got[i] <= after[i];
	report("counts of the thread", between && got[0] > 0 && got[2] > 0, "%llu %llu %llu %llu",
	       (unsigned long long)got[0], (unsigned long long)got[1], (unsigned long long)got[2],
	       (unsigned long long)got[3]);
	report("user", got[COUNTED] == 4000000001u, "%llu", (unsigned long long)got[COUNTED]);
}
