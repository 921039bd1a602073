// SPDX-License-Identifier: GPL-2.0-only
/*
 * What takes long to find out: which registers are free, for which all code of the kernel is
 * analysed. A thread does that, with a session of its own for looking, while the engine goes on:
 * on all CPUs, but after whoever else wants them.
 * Modules come and go: what was found out before is then not asked any more.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "live_inside.h"

struct known {
	pthread_t thread;
	bool running; /* the thread has not been joined */
	bool stale;   /* what it finds out is of no use any more */
	struct ki_target *t;
	struct ki_program *program; /* of t; NULL, and not running: it could not be made */
};

static void *find_out(void *arg)
{
	struct known *k = arg;

	/* This thread's, and that of those that it begins. */
	setpriority(PRIO_PROCESS, 0, 10);
	if (!ki_target_new_live(&k->t, NULL) && ki_program_new(k->t, NULL, &k->program, NULL))
		k->program = NULL;
	return NULL;
}

static void known_free(struct known *k)
{
	ki_program_free(k->program);
	ki_target_free(k->t);
	free(k);
}

static struct known *begin(void)
{
	struct known *k = calloc(1, sizeof(*k));

	if (k && !pthread_create(&k->thread, NULL, find_out, k))
		k->running = true;
	return k;
}

int live_known(struct live *l, const struct ki_function *fn, ki_regset *used)
{
	struct known *k = l->known;

	if (k && k->running && !pthread_tryjoin_np(k->thread, NULL)) {
		k->running = false;
		if (k->stale) {
			known_free(k);
			k = NULL;
		}
	}
	if (!k)
		k = begin();
	l->known = k;
	if (k && k->running)
		return -EAGAIN;
	return k && k->program ? ki_program_live(k->program, fn, used, NULL) : -ENODATA;
}

void live_known_changed(struct live *l)
{
	if (l->known && l->known->running) {
		l->known->stale = true;
	} else if (l->known) {
		known_free(l->known);
		l->known = NULL;
	}
}

/* Nobody waits for a thread that is still at it: what it has is its own, until the process ends. */
void live_known_end(struct live *l)
{
	struct known *k = l->known;

	l->known = NULL;
	if (k && k->running && pthread_tryjoin_np(k->thread, NULL))
		pthread_detach(k->thread);
	else if (k)
		known_free(k);
}
