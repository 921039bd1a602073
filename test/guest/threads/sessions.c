// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words belong to sessions: two at once, one that ends, one that is killed, and what is not one's
 * own.
 */
#include "words.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#define MANY 500

static bool soon_used(const struct session *s, uint32_t words)
{
	for (int ms = 0; ms < 120000; ms += 20) {
		if (hand_info(s->t).words_used == words)
			return true;
		sleep_ms(20);
	}
	return false;
}

/* This thread's words of the first session are what they were; of a later one they are 0. */
static void test_two(struct session *a, struct session *b)
{
	uint64_t first, second, after, anew;
	uint32_t number = a->first.word;

	own_count(4);
	first = own_words(a).count;
	session_open(b, WORDS_USED);
	own_count(3);
	second = own_words(b).count;
	report("two sessions", first == 4 && own_words(a).count == 7 && second == 3,
	       "%llu, then %llu; %llu", (unsigned long long)first,
	       (unsigned long long)own_words(a).count, (unsigned long long)second);
	session_close(a);
	if (!soon_used(b, WORDS_USED))
		hand_die("words of a session that has ended are still used", NULL);
	session_open(a, WORDS_USED);
	own_count(2);
	after = own_words(b).count;
	anew = own_words(a).count;
	report("the same words anew", a->first.word == number && anew == 2 && after == 5,
	       "number %u, once %u: %llu; the other session: %llu", a->first.word, number,
	       (unsigned long long)anew, (unsigned long long)after);
}

static int inside_errno(const struct session *s, struct ki_inside req)
{
	req.size = sizeof(req);
	return ioctl(ki_target_fd(s->t), KI_IOC_INSIDE, &req) ? errno : 0;
}

static void test_refusals(const struct session *a, const struct session *b)
{
	struct ki_inside_row rows[WORDS_USED + 1];
	const struct ki_inside good = {
		.first = a->first.word, .count = WORDS_USED, .rows = (uintptr_t)rows};
	struct ki_inside other = good, more = good, none = good, odd = good, nowhere = good,
			 huge = good;

	other.first = b->first.word;
	more.count = WORDS_USED + 1;
	none.count = 0;
	odd.clock = KI_CLOCKS;
	nowhere.rows = 8;
	huge.count = UINT32_MAX;
	report("what may be looked at",
	       !inside_errno(a, good) && inside_errno(a, other) == EACCES &&
		       inside_errno(a, more) == EACCES && inside_errno(a, none) == EINVAL &&
		       inside_errno(a, odd) == EINVAL && inside_errno(a, nowhere) == EFAULT &&
		       inside_errno(a, huge) == EACCES,
	       "own words, by one of two clocks, into memory that is there");
}

static void *count_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		own_count(1000);
	return NULL;
}

static void be_killed(void)
{
	static struct session s;

	session_open(&s, MANY);
	for (int i = 0; i < 4; i++)
		begin(count_for_ever, NULL);
	sleep_ms(100);
	child_ready();
}

static void test_killed(const struct session *s)
{
	uint32_t used = hand_info(s->t).words_used, with;
	uint64_t before = own_words(s).count;
	pid_t pid = child_begin(be_killed);
	bool killed;

	with = hand_info(s->t).words_used;
	own_count(5);
	killed = child_kill(pid);
	report("a session that is killed",
	       killed && with == used + MANY && soon_used(s, used) &&
		       own_words(s).count == before + 5,
	       "%u words with it, %u without", with, hand_info(s->t).words_used);
}

/* The driver looks at many words at once: each is the one it is asked for. */
static void test_many(const struct session *s)
{
	struct ki_inside_row rows[1000];
	struct ki_err err = {0};
	uint32_t first;
	uint64_t now;
	int wrong = 0;

	if (ki_words_take(s->t, 1000, &first, &err))
		hand_die("1000 words", &err);
	own_enter();
	for (enum ki_clock c = 0; c < KI_CLOCKS; c++) {
		memset(rows, 0xff, sizeof(rows));
		if (ki_words_inside(s->t, &(struct ki_words_run){c, first, 1000}, rows, &now, &err))
			hand_die("1000 words", &err);
		for (int i = 0; i < 1000; i++)
			wrong += rows[i].threads || rows[i].ticks;
		if (ki_words_inside(s->t, &(struct ki_words_run){c, s->first.word, WORDS_USED},
				    rows, &now, &err))
			hand_die("words", &err);
		wrong += rows[1].threads != 1 || rows[2].threads != 1;
	}
	own_leave();
	report("each word by itself", !wrong, "%d rows are wrong", wrong);
}

/* To see what happens where memory runs out. */
void test_take(void)
{
	struct ki_target *t;
	struct ki_err err = {0};
	struct ki_inside_row row;
	uint32_t first;
	uint64_t now;

	if (ki_target_new_live(&t, &err) || ki_words_take(t, 1, &first, &err) ||
	    ki_words_inside(t, &(struct ki_words_run){KI_CLOCK_TSC, first, 1}, &row, &now, &err))
		hand_die("words", &err);
	ki_target_free(t);
}

void test_sessions(void)
{
	struct session a, b;
	struct ki_err err = {0};
	uint32_t first;

	session_open(&a, WORDS_USED);
	test_two(&a, &b);
	test_refusals(&a, &b);
	test_killed(&b);
	test_many(&b);
	report("the function in which threads change",
	       session_install(&b, "__traceiter_sched_switch", "count") == KI_R_THREAD_CHANGES,
	       "is refused");
	report("no more than there are",
	       ki_words_take(a.t, 1000, &first, &err) && err.reason == KI_R_COUNTERS_FULL, "%s",
	       err.msg);
	session_close(&a);
	session_close(&b);
}
