// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words are a thread's own: what each finds is what it did, wherever it ran, whoever had the block
 * before.
 */
#include "words.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAVES	 6
#define PER_WAVE 50
#define CROWD	 3000

static struct session s;

/* ---- many that come and go ---- */

struct worker {
	pthread_t thread;
	unsigned int number, calls;
	struct own at_first, at_last;
};

static struct worker workers[WAVES * PER_WAVE];

/* Each second one stays on its CPU, the others are moved every few calls. */
static void *work(void *arg)
{
	struct worker *w = arg;

	w->at_first = own_words(&s);
	w->calls = 20 + w->number * 7 % 100;
	move_to_cpu(0, (int)w->number / 2);
	for (unsigned int i = 0; i < w->calls; i++) {
		own_count(1);
		if (w->number % 2 && i % 4 == 0)
			move_to_cpu(0, (int)i / 4);
	}
	w->at_last = own_words(&s);
	return NULL;
}

static void run_waves(double pause)
{
	for (unsigned int wave = 0; wave < WAVES; wave++) {
		struct worker *w = &workers[wave * PER_WAVE];

		for (unsigned int i = 0; i < PER_WAVE; i++) {
			w[i].number = wave * PER_WAVE + i;
			w[i].thread = begin(work, &w[i]);
		}
		for (unsigned int i = 0; i < PER_WAVE; i++)
			pthread_join(w[i].thread, NULL);
		sleep_ms(pause); /* what they had is given back when RCU has seen them go */
	}
}

/* false: a longer pause is needed before blocks come again */
static bool try_waves(double pause, bool last)
{
	unsigned int wrong = 0, not_zero = 0, moved = 0, again = 0;

	run_waves(pause);
	for (unsigned int i = 0; i < WAVES * PER_WAVE; i++) {
		const struct worker *w = &workers[i];

		wrong += w->at_last.count != w->calls;
		not_zero += !w->at_first.where || w->at_first.count;
		moved += w->at_first.where != w->at_last.where;
		for (unsigned int k = 0; k < i; k++)
			if (workers[k].at_first.where == w->at_first.where) {
				again++;
				break;
			}
	}
	if (!last && !wrong && !moved && !not_zero && again <= PER_WAVE) {
		printf("# only %u in a block that another had, after %.0f ms\n", again, pause);
		return false;
	}
	report("threads' counts", !wrong && !moved, "%u of %u wrong, %u in another block", wrong,
	       WAVES * PER_WAVE, moved);
	report("new threads begin at 0", !not_zero && again > PER_WAVE,
	       "%u do not, %u in a block that another had", not_zero, again);
	return true;
}

static void test_waves(void)
{
	double pause = 50;

	while (!try_waves(pause, pause > 10000))
		pause *= 2;
}

/* ---- more at once than there were blocks ---- */

static atomic_uint with_words, without, wrong_counts;
static pthread_barrier_t all_there;

static void *one_of_many(void *unused)
{
	struct own o;

	(void)unused;
	own_count(3);
	o = own_words(&s);
	atomic_fetch_add(o.where ? &with_words : &without, 1);
	atomic_fetch_add(&wrong_counts, o.count != (o.where ? 3 : 0));
	pthread_barrier_wait(&all_there);
	return NULL;
}

static void crowd(unsigned int n)
{
	pthread_t *t = calloc(n, sizeof(*t));

	with_words = without = wrong_counts = 0;
	pthread_barrier_init(&all_there, NULL, n + 1);
	for (unsigned int i = 0; t && i < n; i++)
		t[i] = begin(one_of_many, NULL);
	pthread_barrier_wait(&all_there);
	for (unsigned int i = 0; t && i < n; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&all_there);
	free(t);
}

/* The machine counts instructions: what makes blocks runs, however slow the host is. */
static void test_crowds(void)
{
	uint64_t wordless = hand_info(s.t).wordless;

	crowd(1000);
	report("blocks are made in time",
	       with_words == 1000 && !wrong_counts && hand_info(s.t).wordless == wordless,
	       "%u of 1000 threads have words, %u wrong", with_words, wrong_counts);
	if (sysconf(_SC_PHYS_PAGES) / 128 > CROWD - 500) {
		printf("# there is too much memory here to run out of words\n");
		return;
	}
	crowd(CROWD);
	wordless = hand_info(s.t).wordless - wordless;
	report("memory for blocks is limited",
	       with_words > 1000 && without && !wrong_counts && wordless >= without,
	       "%u of %u threads have words, %u wrong, %llu switches without", with_words, CROWD,
	       wrong_counts, (unsigned long long)wordless);
	for (int ms = 200; ms < 60000; ms *= 2) { /* when RCU has seen them go */
		sleep_ms(ms);
		crowd(500);
		if (with_words == 500 || wrong_counts)
			break;
	}
	report("and given back", with_words == 500 && !wrong_counts, "%u of 500 threads have words",
	       with_words);
}

void test_counts(void)
{
	session_open(&s, WORDS_USED);
	test_waves();
	test_crowds();
	session_close(&s);
}
