// SPDX-License-Identifier: GPL-2.0-only
#include "client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "stream.h"

/* What is no sample may fill a queue up to this; a client that has that much unread is ended. */
#define QUEUE_HARD (16u * CLIENT_QUEUE)

static bool make_id(char id[CLIENT_ID])
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		return false;
	snprintf(id, CLIENT_ID, "%016" PRIx64, n);
	return true;
}

struct client *client_new(struct clients *cs, const char *spool, uint64_t record_max, bool hidden)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c || !make_id(c->id)) {
		free(c);
		return NULL;
	}
	c->began = c->left = c->spoke = cs->now();
	c->hidden = hidden;
	c->tail = &c->head;
	c->recording.fd = -1;
	if (!hidden)
		recording_open(&c->recording, spool, record_max);
	c->next = cs->first;
	cs->first = c;
	cs->n += !hidden;
	return c;
}

struct client *client_find(struct clients *cs, const char *id)
{
	struct client *c = cs->first;

	while (c && (c->hidden || !c->own || strcmp(c->id, id) != 0))
		c = c->next;
	return c;
}

static void drop_head(struct client *c)
{
	struct event *e = c->head;

	c->head = e->next;
	if (!c->head)
		c->tail = &c->head;
	c->queued -= e->n;
	free(e);
}

void client_free(struct clients *cs, struct client *c)
{
	struct client **at = &cs->first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	cs->n -= !c->hidden;
	while (c->head)
		drop_head(c);
	recording_close(&c->recording);
	free(c);
}

bool client_is_gone(struct clients *cs, const struct client *c, double now)
{
	bool gone;

	pthread_mutex_lock(&cs->lock);
	gone = !c->hidden && !c->stream && now - c->left > CLIENT_GRACE;
	pthread_mutex_unlock(&cs->lock);
	return gone;
}

bool client_is_unused(struct clients *cs, const struct client *c)
{
	bool unused;

	pthread_mutex_lock(&cs->lock);
	unused = !c->streams;
	pthread_mutex_unlock(&cs->lock);
	return unused;
}

/* The text is copied; 0 if there is no memory. */
static bool enqueue(struct client *c, const char *name, const char *data, size_t n)
{
	size_t room = n + strlen(name) + 32;
	struct event *e = malloc(sizeof(*e) + room);
	int head;

	if (!e)
		return false;
	head = *name ? snprintf(e->text, room, "event: %s\ndata: ", name) : 0;
	memcpy(e->text + head, data, n);
	memcpy(e->text + head + n, "\n\n", 2);
	e->n = (size_t)head + n + 2;
	e->sent = 0;
	e->next = NULL;
	*c->tail = e;
	c->tail = &e->next;
	c->queued += e->n;
	return true;
}

/* What is missing is said before anything else. */
static bool enqueue_gap(struct client *c)
{
	char gap[64];
	int n = snprintf(gap, sizeof(gap), "{\"samples\":%" PRIu64 "}", c->missing);

	if (c->missing && !enqueue(c, "gap", gap, (size_t)n))
		return false;
	c->missing = 0;
	return true;
}

static void enqueue_sample(struct client *c, const char *data, size_t n)
{
	if (c->queued + n + 128 > CLIENT_QUEUE || !enqueue_gap(c) || !enqueue(c, "sample", data, n))
		c->missing++;
}

void client_say(struct clients *cs, struct client *c, const char *event, const char *data, size_t n)
{
	if (c->hidden)
		return;
	if (strcmp(event, "bye") != 0)
		recording_add(&c->recording, cs->now() - c->began, event, data, n);
	pthread_mutex_lock(&cs->lock);
	if (!strcmp(event, "sample"))
		enqueue_sample(c, data, n);
	else if (c->queued + n > QUEUE_HARD || !enqueue_gap(c) || !enqueue(c, event, data, n))
		c->ended = true;
	c->spoke = cs->now();
	if (c->stream)
		stream_wake(c->stream);
	pthread_mutex_unlock(&cs->lock);
}

bool client_has_room(struct clients *cs, const struct client *c, size_t n)
{
	bool room;

	pthread_mutex_lock(&cs->lock);
	room = !c->queued || c->queued + n + 128 <= CLIENT_QUEUE;
	pthread_mutex_unlock(&cs->lock);
	return room;
}

void client_sayf(struct clients *cs, struct client *c, const char *event, const char *fmt, ...)
{
	char data[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(data, sizeof(data), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(data))
		client_say(cs, c, event, data, (size_t)n);
}

void client_say_cleared(struct clients *cs, struct client *c, uint32_t curve)
{
	client_sayf(cs, c, "curve",
		    "{\"id\":%u,\"refused\":{\"reason\":\"CLEARED\","
		    "\"message\":\"somebody had everything taken out\"}}",
		    curve);
}

void client_beat(struct clients *cs, struct client *c, double now)
{
	pthread_mutex_lock(&cs->lock);
	if (c->stream && !c->head && now - c->spoke >= CLIENT_HEARTBEAT) {
		enqueue(c, "", ":", 1);
		c->spoke = now;
		stream_wake(c->stream);
	}
	pthread_mutex_unlock(&cs->lock);
}

void client_end(struct clients *cs, struct client *c)
{
	pthread_mutex_lock(&cs->lock);
	c->ended = true;
	if (c->stream)
		stream_wake(c->stream);
	pthread_mutex_unlock(&cs->lock);
}

void client_hold(struct clients *cs, struct client *c)
{
	pthread_mutex_lock(&cs->lock);
	c->streams++;
	c->left = cs->now();
	pthread_mutex_unlock(&cs->lock);
}

void client_release(struct clients *cs, struct client *c)
{
	pthread_mutex_lock(&cs->lock);
	c->streams--;
	pthread_mutex_unlock(&cs->lock);
}

/* Under the lock. Copies what is queued; a head that has been sent goes. */
size_t client_take(struct client *c, char *buf, size_t max)
{
	size_t done = 0;

	while (c->head && done < max) {
		struct event *e = c->head;
		size_t n = e->n - e->sent < max - done ? e->n - e->sent : max - done;

		memcpy(buf + done, e->text + e->sent, n);
		e->sent += n;
		done += n;
		if (e->sent == e->n)
			drop_head(c);
	}
	return done;
}
