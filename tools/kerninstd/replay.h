/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as the source of measurements: no kernel, no driver.
 */
#ifndef KERNINSTD_REPLAY_H
#define KERNINSTD_REPLAY_H

#include "engine.h"
#include "util/vec.h"

struct replay_line {
	double t;
	char *event, *data; /* data: JSON in one line */
	size_t n;
};

struct replay_curve {
	json_int_t id;
	json_t *row; /* as it was answered */
	const char *metric, *point, *predicate;
	int cpu; /* negative: all */
};

struct replay {
	struct source source;
	struct engine *engine;
	json_t *info, *metrics;
	json_t *functions; /* as of /api/functions; NULL: the recording has none */
	json_t *code;	   /* by name: as of /api/function */
	ki_vec(struct replay_line) lines;
	ki_vec(struct replay_curve) curves;
	double speed;
	struct client *played; /* its totals are those of /metrics */
};

/* What one client has heard and has. */
struct seat {
	size_t at;
	bool *has;   /* one for each curve: it is in samples */
	bool *asked; /* it was added by the client, and is listed as inserted */
	double *since;
	size_t removed;
	double *totals; /* 64 for each curve; NULL: nobody asks */
};

/* Read a file, whose last line may be half there. 0; -EINVAL and *why. */
int replay_read(struct replay *r, FILE *f, char why[256]);
void replay_free(struct replay *r);

/* The source; engine: whose it will be. 0, or -errno and why. */
int replay_open(struct engine *e, const char *path, double speed, struct source **out,
		char why[256]);

/* ---- answers (replay_answers.c) ---- */

struct replay_curve *replay_find(struct replay *r, json_int_t id);
void replay_functions(struct source *s, const char *process, struct reply *reply);
void replay_function(struct source *s, const char *name, struct reply *reply);
void replay_inserted(struct source *s, struct client *mine, struct reply *reply);
void replay_add(struct source *s, struct client *c, json_t *curves, struct reply *reply);
void replay_openmetrics(struct source *s, bool open, struct reply *reply);

#endif
