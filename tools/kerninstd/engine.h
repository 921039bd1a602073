/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine: one thread that owns what is measured. Requests come as commands through a queue
 * and are answered when they are done; between them it sees to samples that are due, and to
 * clients that have gone.
 */
#ifndef KERNINSTD_ENGINE_H
#define KERNINSTD_ENGINE_H

#include <jansson.h>

#include "client.h"
#include "reply.h"

#define INTERVAL_LEAST 100
#define INTERVAL_MOST  60000
#define CURVES_MAX     10000 /* of a client */

struct engine;
struct d_program;

struct command {
	struct command *next;
	void (*run)(struct engine *e, struct command *c);
	json_t *body; /* of a POST; else NULL */
	const char *name, *client, *process;
	bool more;  /* recording: with the functions; metrics: in OpenMetrics */
	bool later; /* it is answered by the engine, but not after run */
	struct reply reply;
	struct client *held; /* events: whom the stream is for */
	int fd;		     /* recording: what stands after the reply, up to size; else -1 */
	uint64_t size;
	void (*answered)(struct command *c); /* by the engine; then it does not touch it any more */
};

/*
 * Where measurements come from: the kernel, or a recording. Functions are called by the engine's
 * thread only; those that answer fill the reply.
 */
struct source {
	void (*info)(struct source *s, struct ki_json *j); /* members of info */
	void (*metrics)(struct source *s, struct ki_json *j, const char *key);
	/* process: its number, as text; "": of the kernel */
	void (*functions)(struct source *s, const char *process, struct reply *r);
	void (*function)(struct source *s, const char *name, struct reply *r);
	void (*inserted)(struct source *s, struct client *mine, struct reply *r);
	void (*add)(struct source *s, struct client *c, json_t *curves, struct reply *r);
	void (*remove)(struct source *s, struct client *c, json_t *ids, struct reply *r);
	void (*clear)(struct source *s);
	void (*openmetrics)(struct source *s, bool open, struct reply *r);
	/* A client has come: 0, or -errno; it is about to be freed. */
	int (*begin)(struct source *s, struct client *c);
	void (*end)(struct source *s, struct client *c);
	/* What is due is sampled; when the next is due is in c->due. */
	void (*sample)(struct source *s, struct client *c, double now);
	void (*close)(struct source *s);
	/* To see what has become of the machine: when again. May be NULL. */
	double (*look_around)(struct source *s, double now);
	/* Processes that can be looked at. May be NULL: there are none. */
	void (*processes)(struct source *s, struct reply *r);
};

struct engine_options {
	const char *spool;
	uint64_t record_max;
	unsigned int interval_ms;
	bool read_only;
	const char *replay; /* name of the file; NULL: live */
};

struct engine {
	struct engine_options options;
	struct clients clients;
	struct source *source;
	struct d_program *programs;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct command *first, **last;
	bool stopping;
};

double engine_now(void); /* seconds of the monotonic clock */

/* The source is the engine's from here on, also if it fails. 0, or -errno. */
int engine_start(struct engine *e, struct source *s, const struct engine_options *o);

/* false: it is stopping, and the command is not taken. */
bool engine_submit(struct engine *e, struct command *c);

/* Take everything out, say goodbye, end the thread. Streams end; HTTP may still run. */
void engine_stop(struct engine *e);
void engine_free(struct engine *e);

/* {"version":..} of the engine and its source. */
void engine_info(struct engine *e, struct ki_json *j, const char *key);

#endif
