/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clients: somebody who looks, by a stream of events.
 *
 * The engine's thread makes them, writes to them and ends them. Threads of HTTP take what has
 * been written, and come and go with connections; what both touch is under the lock of the table.
 * A client without a stream keeps what it has for CLIENT_GRACE seconds.
 */
#ifndef KERNINSTD_CLIENT_H
#define KERNINSTD_CLIENT_H

#include <pthread.h>
#include <sys/types.h>

#include "recording.h"

#define CLIENTS_MAX	 64
#define CLIENT_GRACE	 5.0
#define CLIENT_ID	 17
#define CLIENT_QUEUE	 (256u << 10)
#define CLIENT_HEARTBEAT 1.0

struct event {
	struct event *next;
	size_t n, sent;
	char text[];
};

struct stream;

struct client {
	struct client *next;
	char id[CLIENT_ID];
	bool hidden;  /* the daemon's own: it has no stream and stays */
	double began; /* of the engine's clock */
	double from;  /* when the last sample ended */
	unsigned int interval_ms;
	double due;   /* when the next sample is */
	double spoke; /* when something was last written to it */
	void *own;    /* the source's */
	struct recording recording;

	/* under the lock */
	struct event *head, **tail;
	size_t queued; /* bytes */
	uint64_t missing;
	struct stream *stream; /* the one that is read now; NULL: none */
	unsigned int streams;  /* with those that are about to end */
	double left;	       /* when the last one ended */
	bool ended;
};

struct clients {
	pthread_mutex_t lock;
	struct client *first;
	unsigned int n; /* without those that are hidden */
	bool ended;	/* no stream waits any more */
	double (*now)(void);
};

/* ---- by the engine ---- */

/* NULL: out of memory. It is in the table. */
struct client *client_new(struct clients *cs, const char *spool, uint64_t record_max, bool hidden);
struct client *client_find(struct clients *cs, const char *id);
void client_free(struct clients *cs, struct client *c);

/* Has it been without a stream for too long? And can it be freed? */
bool client_is_gone(struct clients *cs, const struct client *c, double now);
bool client_is_unused(struct clients *cs, const struct client *c);

/*
 * An event with its data, which is JSON; recorded, unless it is hello or bye. A sample for which
 * there is no room is missing, and an event "gap" says so before the next one.
 */
void client_say(struct clients *cs, struct client *c, const char *event, const char *data,
		size_t n);
void client_sayf(struct clients *cs, struct client *c, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Is there room for so many bytes of what can wait? */
bool client_has_room(struct clients *cs, const struct client *c, size_t n);

/* A curve is no longer there, because somebody had everything taken out. */
void client_say_cleared(struct clients *cs, struct client *c, uint32_t curve);

/* A comment, if nothing has been said for a while: only writing tells that nobody reads. */
void client_beat(struct clients *cs, struct client *c, double now);

/* The client's streams end after what is queued. */
void client_end(struct clients *cs, struct client *c);

/* ---- by HTTP ---- */

struct MHD_Connection;

/* It is not freed until it is released, or the stream is closed that it has been given to. */
void client_hold(struct clients *cs, struct client *c);
void client_release(struct clients *cs, struct client *c);

/* Read a client that is held from now on, in place of the stream that did. hello stands before
   what is queued. NULL: out of memory, and it is still held. */
struct stream *stream_open(struct clients *cs, struct client *c, struct MHD_Connection *conn,
			   struct text *hello);
void stream_close(struct stream *s);

/* Bytes that have been copied; 0: the connection is suspended; -1: the end. */
ssize_t stream_read(struct stream *s, char *buf, size_t max);

#endif
