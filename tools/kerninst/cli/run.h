/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A verb's life around a command: it exists before anything is installed, becomes itself when
 * everything is, and what is measured ends with it, or at a signal. Without a command only a signal
 * ends it.
 */
#ifndef KERNINST_RUN_H
#define KERNINST_RUN_H

#include "command.h"
#include "open.h"

/* Make the process, if there is a command (argv is not NULL): CLI_OK, or reported. */
int run_prepare(struct command *c, char **argv, bool quiet);

/* The same, and it becomes the command, stopped before its first instruction: CLI_OK, or reported.
 */
int run_reach_entry(struct command *c, char **argv, bool quiet);

/* Open the kernel, a process, or the command, which is one when it has been started: CLI_OK, or
   reported. */
int run_open(const struct open_options *o, struct command *c, char **argv, struct ki_target **t);

/* Let the command begin, if there is one. */
void run_start(struct command *c);

/* As wait_event; a command that was sent the signal has a second to end. */
enum event run_wait(struct command *c, double deadline);

/* Start it and wait for the end. */
void run_to_end(struct command *c);

/* What is to be looked at meanwhile, ten times a second: CLI_OK, or reported. */
#define RUN_LOOK 0.1 /* seconds */
struct run_look {
	int (*look)(void *arg); /* NULL: nothing */
	void *arg;
};

/* As run_to_end, or until a look is not CLI_OK, which it returns. */
int run_looking(struct command *c, const struct run_look *l);

/* If it never became the command: said, and CLI_NO_COMMAND; else CLI_OK. */
int run_failed(const struct command *c);

/* The verb's exit status: ret if that is an error, else the command's, if there was one. */
int run_status(const struct command *c, int ret);

#endif
