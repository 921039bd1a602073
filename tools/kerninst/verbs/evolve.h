/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst evolve: its options, and layouts that stay when the command has ended.
 */
#ifndef KERNINST_EVOLVE_VERB_H
#define KERNINST_EVOLVE_VERB_H

#include "cli.h"
#include "run.h"
#include "kerninst/evolve.h"

#define EVOLVE_IDEAS	     3
#define EVOLVE_JUDGE_SECONDS 1 /* callers are sampled so long */

struct evolve_options {
	double seconds, window, budget;
	const char *save, *from, *metric, *judge;
	struct ki_evolve_options choice;
	size_t windows, hot, hottest, again;
	bool dry_run, explain, always, keep, list, undo, watch, json;
	ki_evolve_policy *ideas[EVOLVE_IDEAS]; /* --watch's */
	size_t nideas;
	char **what;
	int n;
};

extern const char evolve_usage[];

/* CLI_OK and not *done: go on; else an exit status. */
int evolve_parse(const struct verb *self, int argc, char **argv, struct evolve_options *o,
		 bool *done);

/*
 * Go on in a process of its own, which is called so that others find it; this one waits for what
 * it has to say, and ends with its status. Returns in the new process only. Before the device is
 * opened: it is opened by who stays. A failure: an exit status.
 */
int evolve_leave(void);

/* In the new process: say how it went, and let the other one end. */
void evolve_tell(int status);

/* Wait until somebody says that it is enough (evolve --undo, or a signal). */
void evolve_stay(const struct run_look *l);

/* The function of a name, *out; without a name nothing is changed. */
int evolve_named_judge(struct ki_target *t, const struct verb *self, const char *name,
		       const struct ki_symbol **out);

/* Wait so long; arg: a struct command. False: a signal. */
bool evolve_wait(void *arg, double seconds);

/* Until a signal: go on by itself. */
int evolve_watch(const struct verb *self, const struct evolve_options *o);

#endif
