// SPDX-License-Identifier: GPL-2.0-only
/*
 * The own clock goes while its thread runs, and as fast as the kernel says that it ran; and what
 * the driver sees in words of threads that sleep or run.
 */
#include "words.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define BURN	400.0 /* ms */
#define INSIDE	20
#define LEAVING 10
#define DYING	5

static struct session s;

static bool within(double got, double least, double most, double slack)
{
	return got >= least * 0.98 - slack && got <= most * 1.02 + slack;
}

/* ---- one thread's clock ---- */

struct timed {
	void (*what)(double ms);
	atomic_int tid;
	atomic_bool over;
	double clock;	    /* its own, in ms */
	double least, most; /* the kernel's: between our readings of its own, and around them */
	uint64_t ticks, from, to;
};

static void *be_timed(void *arg)
{
	struct timed *t = arg;

	t->tid = thread_id();
	t->most = -now_ms(CLOCK_THREAD_CPUTIME_ID);
	t->ticks = -own_words(&s).clock;
	t->from = __rdtsc();
	t->least = -now_ms(CLOCK_THREAD_CPUTIME_ID);
	t->what(BURN);
	t->least += now_ms(CLOCK_THREAD_CPUTIME_ID);
	t->to = __rdtsc();
	t->ticks += own_words(&s).clock;
	t->most += now_ms(CLOCK_THREAD_CPUTIME_ID);
	t->clock = ticks_ms(&s, t->ticks);
	t->over = true;
	return NULL;
}

static unsigned int time_one(struct timed *t, bool move)
{
	pthread_t thread = begin(be_timed, t);
	unsigned int moves = 0;

	while (move && !t->over) {
		sleep_ms(1);
		if (t->tid)
			move_to_cpu(t->tid, (int)moves++);
	}
	pthread_join(thread, NULL);
	return moves;
}

/*
 * What the kernel says of one that is moved is too much: it begins to count when the thread is put
 * into the other CPU's queue, and that CPU may be asleep. The kernel's own trace says it exactly
 * (test_traced); here a moved one's clock may only be after. So may that of one that sleeps: the
 * CPU that it wakes up on sleeps too.
 *
 * When the host takes a CPU away in the middle of a switch, that time may be one thread's for the
 * kernel and another's for the clock: so clocks are compared where they count instructions.
 */
static void test_clock(const char *name, void (*what)(double ms), bool move, double slack)
{
	struct timed t = {.what = what};
	unsigned int moves = time_one(&t, move);
	double least = move || what == sleep_ms ? 0 : t.least * 0.98 - slack;
	bool good = t.clock >= least && t.clock <= t.most * 1.02 + slack && (!move || moves > 2);

	report(name, good, "%.3f ms, the kernel says %.3f to %.3f; moved %u times", t.clock,
	       t.least, t.most, moves);
}

/* Work on each CPU, so that who is timed also waits for one. */
static atomic_bool enough;

static void *be_in_the_way(void *unused)
{
	(void)unused;
	while (!enough)
		burn_ms(1);
	return NULL;
}

static void test_busy_clock(void)
{
	pthread_t other[2];

	enough = false;
	for (int i = 0; i < 2; i++)
		other[i] = begin(be_in_the_way, NULL);
	test_clock("clock of one that others take the CPU from", burn_ms, false, 1);
	enough = true;
	for (int i = 0; i < 2; i++)
		pthread_join(other[i], NULL);
}

/* ---- who is inside ---- */

struct insider {
	pthread_t thread;
	unsigned int number;
	/* When it has entered, before and after: by CLOCK_MONOTONIC, and by its own CPU time. */
	double wall[2], cpu[2];
	atomic_bool in;
};

static struct insider insiders[INSIDE];
static atomic_bool leave, stay;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

static void wait_until(atomic_bool *what)
{
	pthread_mutex_lock(&door);
	while (!*what)
		pthread_cond_wait(&opened, &door);
	pthread_mutex_unlock(&door);
}

static void open_door(atomic_bool *what)
{
	pthread_mutex_lock(&door);
	*what = true;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&door);
}

static bool dies(unsigned int number)
{
	return number >= LEAVING && number < LEAVING + DYING;
}

/* The first runs, the others sleep. Some leave first, some end inside. */
static void *be_inside(void *arg)
{
	struct insider *i = arg;

	i->wall[0] = now_ms(CLOCK_MONOTONIC);
	i->cpu[0] = now_ms(CLOCK_THREAD_CPUTIME_ID);
	own_enter();
	i->wall[1] = now_ms(CLOCK_MONOTONIC);
	i->cpu[1] = now_ms(CLOCK_THREAD_CPUTIME_ID);
	i->in = true;
	while (!i->number && !leave)
		burn_ms(1);
	wait_until(&leave);
	if (i->number < LEAVING)
		own_leave();
	i->in = false;
	if (dies(i->number))
		return NULL;
	wait_until(&stay);
	own_leave();
	return NULL;
}

static void wait_for_all(bool in)
{
	for (int i = 0; i < INSIDE; i++)
		while (insiders[i].in != in)
			sleep_ms(1);
}

/* What all have been inside until now, by their own watches: since before or after they entered. */
static void sum_times(bool after, double *wall, double *cpu)
{
	double now = now_ms(CLOCK_MONOTONIC);
	clockid_t clock;

	*wall = *cpu = 0;
	for (int i = 0; i < INSIDE; i++) {
		pthread_getcpuclockid(insiders[i].thread, &clock);
		*cpu += now_ms(clock) - insiders[i].cpu[after];
		*wall += now - insiders[i].wall[after];
	}
}

/* The host may take us away between two readings: what is asked for lies between two sums. */
static void test_times(void)
{
	double wall[2], cpu[2], tsc_ms, own_ms;
	struct ki_inside_row tsc, own;

	sum_times(true, &wall[0], &cpu[0]);
	tsc = inside(&s, KI_CLOCK_TSC, 1);
	own = inside(&s, KI_CLOCK_THREAD, 2);
	sum_times(false, &wall[1], &cpu[1]);
	tsc_ms = ticks_ms(&s, tsc.ticks);
	own_ms = ticks_ms(&s, own.ticks);
	report("time inside", tsc.threads == INSIDE && within(tsc_ms, wall[0], wall[1], 20),
	       "%llu threads, %.3f ms, by their own watch %.3f to %.3f",
	       (unsigned long long)tsc.threads, tsc_ms, wall[0], wall[1]);
	report("own time inside", own.threads == INSIDE && within(own_ms, cpu[0], cpu[1], 20),
	       "%llu threads, %.3f ms; the kernel says %.3f to %.3f",
	       (unsigned long long)own.threads, own_ms, cpu[0], cpu[1]);
}

static void test_inside(void)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < INSIDE; i++) {
		insiders[i].number = i;
		insiders[i].thread = begin(be_inside, &insiders[i]);
	}
	wait_for_all(true);
	sleep_ms(500);
	test_times();
	open_door(&leave);
	wait_for_all(false);
	for (int ms = 0; ms < 120000; ms += 10) { /* until the kernel has freed the dead */
		left = (unsigned int)inside(&s, KI_CLOCK_TSC, 1).threads;
		if (left == INSIDE - LEAVING - DYING)
			break;
		sleep_ms(10);
	}
	report("who leaves or dies is not inside", left == INSIDE - LEAVING - DYING, "%u of %u are",
	       left, INSIDE);
	open_door(&stay);
	for (int i = 0; i < INSIDE; i++)
		pthread_join(insiders[i].thread, NULL);
	report("all out", !inside(&s, KI_CLOCK_TSC, 1).threads, "nobody is inside");
}

/*
 * For who traces the scheduler meanwhile, with the time stamp counter as clock: which thread, from
 * when until when, and how far its own clock went.
 */
void test_traced(void)
{
	struct timed t = {.what = burn_ms};

	session_open(&s, WORDS_USED);
	time_one(&t, true);
	printf("%d %llu %llu %llu\n", t.tid, (unsigned long long)t.from, (unsigned long long)t.to,
	       (unsigned long long)t.ticks);
	session_close(&s);
}

void test_clocks(void)
{
	session_open(&s, WORDS_USED);
	test_clock("clock of one that runs", burn_ms, false, 1);
	test_clock("clock of one that is moved", burn_ms, true, 1);
	test_clock("clock of one that sleeps", sleep_ms, false, 5);
	test_clock("clock of one that sleeps and is moved", sleep_ms, true, 10);
	test_busy_clock();
	test_inside();
	session_close(&s);
}
