/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the live source.
 *
 * The driver gives counters back when a session ends, not before. So measurements live in sessions
 * of their own, some to each, that are closed when their last measurement is gone. One more
 * session, without measurements, is for looking.
 */
#ifndef KERNINSTD_LIVE_INSIDE_H
#define KERNINSTD_LIVE_INSIDE_H

#include "kerninst/metric.h"
#include "kerninst/program.h"
#include "live.h"
#include "kerninst/pointspec.h"

struct live {
	struct source source;
	struct engine *engine;
	struct ki_target *look;
	struct known *known; /* NULL: nobody has asked yet */
	struct text modules; /* as they were when they were looked at last; empty: not yet */
	double look_around;  /* when they are to be looked at again */
	live_exports exports;
	char release[65];
	unsigned int cpus;
	double speed; /* instructions that a CPU executes in a second */
	uint32_t next_id;
};

/* After so many curves a session takes no more, and ends with its last one. */
#define SESSION_CURVES 2000

struct session {
	struct session *next;
	struct ki_target *t;
	size_t curves;	      /* that it has ever had */
	unsigned int batches; /* that it has */
};

struct curve {
	uint32_t id;
	const struct ki_metric *metric;
	char *point, *function, *module, *where, *predicate;
	int cpu;
	uint32_t number; /* in the measurement */
	bool gone;
	bool first;	     /* of those that have its code: what that costs is charged to it */
	double spent, share; /* instructions at the last look; of all CPUs' time between two */
};

/* Curves that were added together: one measurement, one reading. */
struct batch {
	struct batch *next;
	struct session *session;
	struct ki_measure *m;
	struct ki_reading *last; /* NULL: there was none since the start */
	double since, looked;
	ki_vec(struct curve) curves;
	size_t left; /* curves that are not gone */
};

/* What a client has. */
struct owner {
	struct session *sessions; /* the first one takes more */
	struct batch *batches;
	size_t curves;
};

static inline struct live *live_of(struct source *s)
{
	return (struct live *)(void *)s; /* it is the first member */
}

/* The driver's facts now: 0, or -errno. */
int live_info(struct live *l, struct ki_info *info);

/* ---- what was asked for (live_asked.c) ---- */

struct asked {
	const struct ki_metric *metric;
	const char *name, *point, *condition; /* of the request's JSON */
	struct ki_pointspec spec;
	const struct ki_symbol *sym;
	struct ki_predicate *when;
	struct ki_point at;
	int cpu; /* ASKED_EACH: one curve for each */
	uint32_t number;
	uint32_t id; /* of its first curve */
	bool refused;
	char reason[32], message[KI_ERR_MSG];
};

#define ASKED_EACH (-2)

void asked_refuse(struct asked *w, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void asked_refuse_err(struct asked *w, const struct ki_err *err);

/* What is wanted, as far as the target's symbols tell; refused if it cannot be. */
void asked_read(struct asked *w, struct ki_target *t, unsigned int cpus, json_t *o);

/* Its point in the function; refused if there is none. */
void asked_find_point(struct asked *w, const struct ki_function *fn);

/* ---- curves (live_add.c, live_curves.c) ---- */

void live_add(struct source *s, struct client *c, json_t *curves, struct reply *r);

/* Put in what the list says, in one batch; w has one for each, all zero, and then says what
   became of it. */
void live_install(struct live *l, struct client *c, struct asked *w, json_t *curves);

void curve_free(struct curve *c);

void live_sample(struct source *s, struct client *c, double now);
void live_remove(struct source *s, struct client *c, json_t *ids, struct reply *r);
void live_take_out(struct live *l, struct client *c); /* all it has, and its sessions */
void live_openmetrics(struct source *s, bool open, struct reply *r);
void live_inserted(struct source *s, struct client *mine, struct reply *r);

/* The member "others", if there are any (live_others.c). */
void live_put_others(struct live *l, const struct ki_info *info, struct ki_json *j);

/* ---- functions (live_functions.c, live_function.c) ---- */

/* The registers whose value is used after each instruction: used[fn->ninsns]. 0; -EAGAIN: that is
   being found out, ask again; another -errno: that is not known. */
int live_known(struct live *l, const struct ki_function *fn, ki_regset *used);
void live_known_changed(struct live *l); /* there are other modules now */
void live_known_end(struct live *l);

/* Tells clients of modules that have come or gone (live_modules.c). */
double live_look_around(struct source *s, double now);

/* See which modules there are now. */
int live_refresh(struct live *l, struct ki_err *err);
void live_functions(struct source *s, struct reply *r);
void live_function(struct source *s, const char *name, struct reply *r);

#endif
