/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * D programs of clients: each has a thread and a session of its own, at most one a client. The
 * thread keeps what is to be said as lines of JSON, and submits a command; the engine says them
 * to the client, as events "d", as fast as its queue has room for them.
 */
#ifndef KERNINSTD_D_PROGRAM_H
#define KERNINSTD_D_PROGRAM_H

#include "engine.h"

#define D_PROGRAMS_MAX 4
#define D_TEXT_MAX     (256u << 10) /* bytes of a program */
#define D_QUEUE	       (256u << 10) /* of what is to be said; what has no room is missing */
#define D_PIECE	       (32u << 10)  /* of text in one event */

enum d_state { D_COMPILES, D_RUNS, D_REFUSED };

struct d_program {
	struct command news; /* the first member: the thread has something for the engine */
	struct d_program *next;
	struct engine *engine;
	char *text;
	pthread_t thread;

	/* the engine's */
	struct client *client; /* NULL: it has gone */
	struct command *asked; /* who waits for the compiler; NULL: it has been answered */

	pthread_mutex_t lock;
	/* under it */
	enum d_state state;
	struct reply reply; /* D_REFUSED: why */
	struct text said;   /* text that is in no event yet */
	struct text events; /* data of events, a line each */
	uint64_t missing;   /* bytes of text that there was no room for */
	bool submitted, stop, finished;
};

/* ---- by the engine ---- */

void d_begin(struct engine *e, struct client *c, struct command *asked);
void d_stop(struct engine *e, struct client *c);
void d_stop_all(struct engine *e);

/* Say what there is to be said; free those that have ended. */
void d_look_after(struct engine *e);

/* A client is about to go: it hears nothing any more. */
void d_leave(struct engine *e, struct client *c);

/* All end; returns when they have. */
void d_end(struct engine *e);

/* ---- the thread ---- */

void *d_work(void *program);

/* Text becomes events; under the lock. */
void d_flush(struct d_program *p);

#endif
