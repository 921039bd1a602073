// SPDX-License-Identifier: GPL-2.0-only
#include "words.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum op { OP_READ = 1, OP_ENTER, OP_LEAVE };

uint32_t session_install(const struct session *s, const char *function, const char *chunk)
{
	const struct long_sample *c = __start_long_samples;
	struct hand_window w;
	uint32_t id;

	while (strcmp(c->name, chunk) != 0)
		c++;
	hand_window(s->t, function, &w);
	return hand_install(s->t, &w, c, &s->first, &id);
}

void session_open(struct session *s, uint32_t words)
{
	struct ki_err err = {0};

	*s = (struct session){0};
	if (ki_target_new_live(&s->t, &err) || ki_counter_map_new(s->t, &s->counters, &err) ||
	    ki_global_map_new(s->t, &s->globals, &err) ||
	    ki_counters_take(s->t, 1, &s->first.counter, &err) ||
	    ki_globals_take(s->t, 3, &s->first.global, &err) ||
	    ki_words_take(s->t, words, &s->first.word, &err))
		hand_die("open", &err);
	if (session_install(s, "__x64_sys_getppid", "count") ||
	    session_install(s, "__x64_sys_sched_get_priority_max", "op"))
		hand_die("install", NULL);
}

void session_close(struct session *s)
{
	ki_global_map_free(s->globals);
	ki_counter_map_free(s->counters);
	ki_target_free(s->t);
}

static void op(enum op o)
{
	syscall(SYS_sched_get_priority_max, o);
}

/*
 * A clock that is read while the thread is switched away from and back is too small by the time
 * between, so the largest of three counts.
 */
struct own own_words(const struct session *s)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint32_t g = s->first.global;
	struct own o = {0};

	pthread_mutex_lock(&lock);
	for (int i = 0; i < 3; i++) {
		uint64_t clock;

		op(OP_READ);
		clock = ki_global_read(s->globals, g + 2);
		o.where = ki_global_read(s->globals, g);
		o.count = ki_global_read(s->globals, g + 1);
		o.clock = clock > o.clock ? clock : o.clock;
	}
	pthread_mutex_unlock(&lock);
	return o.where ? o : (struct own){0};
}

void own_enter(void)
{
	op(OP_ENTER);
}

void own_leave(void)
{
	op(OP_LEAVE);
}

void own_count(unsigned int n)
{
	while (n--)
		syscall(SYS_getppid);
}

struct ki_inside_row inside(const struct session *s, enum ki_clock clock, uint32_t word)
{
	struct ki_inside_row row;
	struct ki_err err = {0};
	uint64_t now;

	if (ki_words_inside(s->t, &(struct ki_words_run){clock, s->first.word + word, 1}, &row,
			    &now, &err))
		hand_die("inside", &err);
	return row;
}

double now_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

double ticks_ms(const struct session *s, uint64_t ticks)
{
	return (double)ticks / ki_target_info(s->t)->tsc_khz;
}

void burn_ms(double ms)
{
	double end = now_ms(CLOCK_THREAD_CPUTIME_ID) + ms;

	while (now_ms(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

void sleep_ms(double ms)
{
	usleep((useconds_t)(ms * 1000));
}

pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

pthread_t begin(void *(*run)(void *), void *arg)
{
	pthread_attr_t small;
	pthread_t t;
	int err;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	err = pthread_create(&t, &small, run, arg);
	pthread_attr_destroy(&small);
	if (err)
		hand_die("pthread_create", NULL);
	return t;
}
