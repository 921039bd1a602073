// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

struct stream {
	struct clients *clients;
	struct client *client;
	struct MHD_Connection *conn;
	struct text hello;
	size_t said; /* of hello */
	bool suspended;
};

void stream_wake(struct stream *s)
{
	if (!s->suspended)
		return;
	s->suspended = false;
	MHD_resume_connection(s->conn);
}

struct stream *stream_open(struct clients *cs, struct client *c, struct MHD_Connection *conn,
			   struct text *hello)
{
	struct stream *s = calloc(1, sizeof(*s)), *old;

	if (!s)
		return NULL;
	s->clients = cs;
	s->client = c;
	s->conn = conn;
	s->hello = *hello;
	*hello = (struct text){0};
	pthread_mutex_lock(&cs->lock);
	old = c->stream;
	c->stream = s;
	if (c->head)
		c->head->sent = 0; /* whoever had a part of it has dropped that */
	if (old)
		stream_wake(old);
	pthread_mutex_unlock(&cs->lock);
	return s;
}

void stream_close(struct stream *s)
{
	struct clients *cs = s->clients;

	pthread_mutex_lock(&cs->lock);
	if (s->client->stream == s) {
		s->client->stream = NULL;
		s->client->left = cs->now();
	}
	s->client->streams--;
	pthread_mutex_unlock(&cs->lock);
	text_free(&s->hello);
	free(s);
}

static size_t take_hello(struct stream *s, char *buf, size_t max)
{
	size_t n = s->hello.n - s->said < max ? s->hello.n - s->said : max;

	memcpy(buf, s->hello.v + s->said, n);
	s->said += n;
	return n;
}

ssize_t stream_read(struct stream *s, char *buf, size_t max)
{
	struct clients *cs = s->clients;
	struct client *c = s->client;
	ssize_t n = -1;

	if (s->said < s->hello.n)
		return (ssize_t)take_hello(s, buf, max);
	pthread_mutex_lock(&cs->lock);
	if (c->stream == s) {
		n = (ssize_t)client_take(c, buf, max);
		if (!n && (c->ended || cs->ended))
			n = -1;
	}
	if (!n) {
		s->suspended = true;
		MHD_suspend_connection(s->conn);
	}
	pthread_mutex_unlock(&cs->lock);
	return n;
}
