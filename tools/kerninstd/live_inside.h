/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the live source.
 *
 * The driver gives counters back when a session ends, not before. So measurements live in sessions
 * of their own, some to each, that are closed when their last measurement is gone. One more
 * session, without measurements, is for looking.
 *
 * Where there is a jump of ours in a process, another analysis would take it for another tool's.
 * So what a client has in a process is one batch, which is put in anew when there is more; and its
 * functions are shown as that batch's target knows them.
 */
#ifndef KERNINSTD_LIVE_INSIDE_H
#define KERNINSTD_LIVE_INSIDE_H

#include "kerninst/metric.h"
#include "kerninst/program.h"
#include "live.h"
#include "kerninst/pointspec.h"
#include "kerninst/process.h"

/* A process that is looked at; symbols and code are those of the time when it was opened. */
struct looked {
	pid_t pid;
	struct ki_target *t;
	bool stale; /* to be opened anew before it is looked at again */
};

#define LOOKED_MOST 8

struct live {
	struct source source;
	struct engine *engine;
	struct ki_target *look;
	ki_vec(struct looked) looked; /* the one that was opened last stands last */
	struct known *known;	      /* NULL: nobody has asked yet */
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
	pid_t pid; /* 0: the kernel */
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
	const char *behind;		      /* the point, without the process */
	pid_t pid;			      /* 0: it is the kernel's */
	struct ki_pointspec spec;
	const struct ki_symbol *sym;
	struct ki_predicate *when;
	struct ki_point at;
	int cpu; /* ASKED_EACH: one curve for each */
	uint32_t number;
	uint32_t id; /* of its first curve; not 0 before: it has been there, and is put in anew */
	bool refused;
	char reason[32], message[KI_ERR_MSG];
};

#define ASKED_EACH (-2)

void asked_refuse(struct asked *w, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void asked_refuse_err(struct asked *w, const struct ki_err *err);

/* What is wanted, and of whom; refused if that is not to be understood. */
void asked_begin(struct asked *w, json_t *o);
/* The rest, as far as the target's symbols tell; refused if it cannot be. More than once, of other
   targets, it does no harm. */
void asked_read(struct asked *w, struct ki_target *t, unsigned int cpus, json_t *o);

/* Its point in the function; refused if there is none. */
void asked_find_point(struct asked *w, const struct ki_function *fn);

/* ---- curves (live_add.c, live_curves.c) ---- */

void live_add(struct source *s, struct client *c, json_t *curves, struct reply *r);

/* Put in what the list says, in one batch; w has one for each, all zero, and then says what
   became of it. */
void live_install(struct live *l, struct client *c, struct asked *w, json_t *curves);

/* Curves that are put in together. */
struct adding {
	struct live *live;
	struct session *session;
	struct ki_measure *m;
	struct asked **rows, **sorted; /* in the order asked for; those not refused, by function */
	size_t nrows, n, room;
	const struct ki_symbol **syms; /* of them, each once */
	size_t nsyms, at;	       /* at: of the sorted ones that are done */
};

int adding_begin(struct adding *a, struct live *l, size_t room);
void adding_take(struct adding *a, struct asked *w); /* it has been read */
/* Analyse, and put in. */
int adding_measure(struct adding *a, struct ki_err *err);
/* A batch of them, the client's newest. */
void adding_keep(struct adding *a, struct client *c);
void adding_end(struct adding *a);

/* What the list says of that process (live_process.c). */
void live_install_process(struct live *l, struct client *c, struct asked *w, json_t *curves,
			  pid_t pid);
/* Tells clients of processes that have other modules now, or have ended. */
void live_look_at_processes(struct live *l);
struct ki_target *live_process_open(pid_t pid, struct ki_err *err);
/* The process as it is seen; NULL: err says why not. */
struct ki_target *live_process_look(struct live *l, pid_t pid, struct ki_err *err);
/* The target that knows the function as it was before something was put in. */
struct ki_target *live_process_function(struct live *l, pid_t pid, const struct ki_pointspec *spec,
					struct ki_err *err);
/* Something has been taken out of it (0: forget all): what is looked at is opened anew. */
void live_process_forget(struct live *l, pid_t pid);
void live_processes(struct source *s, struct reply *r);

/* A batch ends, and a session that has no other. */
void batch_free(struct live *l, struct owner *o, struct batch *b);

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
void live_functions(struct source *s, const char *process, struct reply *r);
void live_function(struct source *s, const char *name, struct reply *r);

#endif
