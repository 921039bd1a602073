// SPDX-License-Identifier: GPL-2.0-only
#include "engine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "d_program.h"

double engine_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void engine_info(struct engine *e, struct ki_json *j, const char *key)
{
	ki_json_open(j, key, '{');
	ki_json_str(j, "version", KI_VERSION);
	e->source->info(e->source, j);
	ki_json_u64(j, "interval_ms", e->options.interval_ms);
	ki_json_u64(j, "pid", (uint64_t)getpid());
	ki_json_bool(j, "read_only", e->options.read_only);
	ki_json_str(j, "replay", e->options.replay);
	ki_json_close(j);
}

/* Who has been away for too long goes, with all that it has. */
static void reap(struct engine *e, double now)
{
	struct client *next;

	for (struct client *c = e->clients.first; c; c = next) {
		next = c->next;
		if (!client_is_gone(&e->clients, c, now))
			continue;
		d_leave(e, c);
		if (c->own)
			e->source->end(e->source, c);
		c->own = NULL;
		client_end(&e->clients, c);
		if (client_is_unused(&e->clients, c))
			client_free(&e->clients, c);
	}
}

static double look_after(struct engine *e)
{
	double now = engine_now(), next = now + CLIENT_HEARTBEAT;

	reap(e, now);
	d_look_after(e);
	for (struct client *c = e->clients.first; c; c = c->next) {
		if (!c->own)
			continue;
		if (c->due <= now)
			e->source->sample(e->source, c, now);
		next = fmin(next, c->due);
		client_beat(&e->clients, c, now);
	}
	if (e->source->look_around)
		next = fmin(next, e->source->look_around(e->source, now));
	return next;
}

static struct command *take_command(struct engine *e)
{
	struct command *c = e->first;

	if (c) {
		e->first = c->next;
		if (!e->first)
			e->last = &e->first;
	}
	return c;
}

static struct timespec until(double t)
{
	struct timespec ts = {.tv_sec = (time_t)t};

	ts.tv_nsec = (long)((t - (double)ts.tv_sec) * 1e9);
	return ts;
}

static void wait_for_work(struct engine *e, double next)
{
	struct timespec ts = until(next);

	pthread_mutex_lock(&e->lock);
	while (!e->first && !e->stopping)
		if (pthread_cond_timedwait(&e->wake, &e->lock, &ts))
			break;
	pthread_mutex_unlock(&e->lock);
}

static bool run_one(struct engine *e)
{
	struct command *c;

	pthread_mutex_lock(&e->lock);
	c = take_command(e);
	pthread_mutex_unlock(&e->lock);
	if (!c)
		return false;
	c->run(e, c);
	if (!c->later)
		c->answered(c);
	return true;
}

static void say_goodbye(struct engine *e)
{
	d_end(e);
	for (struct client *c = e->clients.first; c; c = c->next) {
		client_sayf(&e->clients, c, "bye", "{\"why\":\"the daemon has been stopped\"}");
		client_end(&e->clients, c);
		if (c->own)
			e->source->end(e->source, c);
		c->own = NULL;
	}
	pthread_mutex_lock(&e->clients.lock);
	e->clients.ended = true;
	pthread_mutex_unlock(&e->clients.lock);
}

static void *work(void *arg)
{
	struct engine *e = arg;
	bool stopping = false;

	while (!stopping) {
		wait_for_work(e, look_after(e));
		run_one(e);
		pthread_mutex_lock(&e->lock);
		stopping = e->stopping;
		pthread_mutex_unlock(&e->lock);
	}
	while (run_one(e))
		continue;
	say_goodbye(e);
	e->source->close(e->source);
	return NULL;
}

static int make_clock_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int ret = pthread_condattr_init(&attr);

	if (ret)
		return -ret;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	ret = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -ret;
}

/* Its values are those of /metrics. */
static int make_own_client(struct engine *e)
{
	struct client *c = client_new(&e->clients, NULL, 0, true);

	if (!c)
		return -ENOMEM;
	c->due = INFINITY;
	return e->source->begin(e->source, c);
}

int engine_start(struct engine *e, struct source *s, const struct engine_options *o)
{
	int ret = make_clock_cond(&e->wake);

	e->options = *o;
	e->source = s;
	e->last = &e->first;
	e->clients.now = engine_now;
	pthread_mutex_init(&e->lock, NULL);
	pthread_mutex_init(&e->clients.lock, NULL);
	if (!ret)
		ret = make_own_client(e);
	if (!ret)
		ret = -pthread_create(&e->thread, NULL, work, e);
	if (ret)
		s->close(s);
	return ret;
}

bool engine_submit(struct engine *e, struct command *c)
{
	bool taken;

	c->next = NULL;
	pthread_mutex_lock(&e->lock);
	taken = !e->stopping;
	if (taken) {
		*e->last = c;
		e->last = &c->next;
		pthread_cond_signal(&e->wake);
	}
	pthread_mutex_unlock(&e->lock);
	return taken;
}

void engine_stop(struct engine *e)
{
	pthread_mutex_lock(&e->lock);
	e->stopping = true;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->thread, NULL);
}

void engine_free(struct engine *e)
{
	while (e->clients.first)
		client_free(&e->clients, e->clients.first);
	pthread_cond_destroy(&e->wake);
	pthread_mutex_destroy(&e->lock);
	pthread_mutex_destroy(&e->clients.lock);
}
