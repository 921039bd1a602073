// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "out/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/clock.h"

void ki_progress_start(struct ki_progress *p, const char *what, size_t total, bool off)
{
	*p = (struct ki_progress){.what = what, .total = total, .next = 1, .off = off};
	p->start = ki_now();
}

void ki_progress_at(struct ki_progress *p, size_t done)
{
	bool tty;

	if (p->off || (ki_now() - p->start) < p->next)
		return;
	tty = isatty(STDERR_FILENO);
	p->next = (ki_now() - p->start) + (tty ? 0.2 : 10);
	p->shown = tty;
	if (tty)
		fprintf(stderr, "\r%s: %zu of %zu ", p->what, done, p->total);
	else
		fprintf(stderr, "%s: %s: %zu of %zu\n", program_invocation_short_name, p->what,
			done, p->total);
}

void ki_progress_end(struct ki_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

/* Says that it is at work, until it is told to stop. */
struct ticker {
	const char *what;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool stopped;
};

static void *tick(void *arg)
{
	struct ticker *k = arg;
	const double start = ki_now();
	struct timespec until;
	bool shown = false;

	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&k->lock);
	while (!k->stopped) {
		until.tv_sec++;
		pthread_cond_timedwait(&k->stop, &k->lock, &until);
		if (k->stopped)
			break;
		fprintf(stderr, "\r%s: %.0f s ", k->what, ki_now() - start);
		shown = true;
	}
	pthread_mutex_unlock(&k->lock);
	if (shown)
		fputs("\r\033[K", stderr);
	return NULL;
}

struct ki_ticking {
	struct ticker k;
	pthread_t thread;
};

struct ki_ticking *ki_ticking_start(const char *what)
{
	struct ki_ticking *t = isatty(STDERR_FILENO) ? malloc(sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->k = (struct ticker){
		.what = what, .lock = PTHREAD_MUTEX_INITIALIZER, .stop = PTHREAD_COND_INITIALIZER};
	if (!pthread_create(&t->thread, NULL, tick, &t->k))
		return t;
	free(t);
	return NULL;
}

void ki_ticking_end(struct ki_ticking *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->k.lock);
	t->k.stopped = true;
	pthread_cond_signal(&t->k.stop);
	pthread_mutex_unlock(&t->k.lock);
	pthread_join(t->thread, NULL);
	free(t);
}
