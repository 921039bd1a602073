/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a verb looks at: the running kernel, a file, a process. Verbs have OPEN_ROWS among their
 * options, and OPEN_USAGE in their usage.
 */
#ifndef KERNINST_OPEN_H
#define KERNINST_OPEN_H

#include "cli.h"
#include "kerninst/program.h"

struct open_options {
	const char *image;	/* an ELF file; NULL: the running kernel */
	const char *system_map; /* its symbols; NULL: those that it has */
	pid_t pid;		/* a process; 0: none; OPEN_COMMAND: the command */
};

#define OPEN_COMMAND ((pid_t)-1)

/* Rows of cli_parse; o: a struct open_options. */
#define OPEN_ROWS(o)                                                                               \
	{"image", 0, cli_text, &(o).image},                                                        \
	{                                                                                          \
		"system-map", 0, cli_text, &(o).system_map                                         \
	}

/* clang-format off */
#define OPEN_USAGE \
	"      --image FILE       an ELF file (vmlinux, a module, a program), not this kernel\n" \
	"      --system-map FILE  the symbols of a System.map, not the kernel's or the file's own\n"
/* clang-format on */

/*
 * What stands before points of a process, "PID/" or "command/": taken off all of them, and put into
 * o. All of them have the same, or none has one. An exit status.
 */
int open_process_prefix(struct open_options *o, const struct verb *self, char **args, int n);

/* The number before the slash, or OPEN_COMMAND; 0: none. *rest: what stands after it. */
pid_t open_prefix(char *arg, char **rest);

/* 0, or -errno. Not of the command: who starts it opens it. */
int open_target(const struct open_options *o, struct ki_target **t, struct ki_err *err);

/* The same of a target that has symbols; -ENOMSG: it has none. */
int open_checked(const struct open_options *o, struct ki_target **t, struct ki_err *err);

/* The same, reported: an exit status. */
int open_or_fail(const struct open_options *o, struct ki_target **t);

/*
 * ki_program_new, reported: an exit status. On a terminal, stderr says that it is at work when
 * it takes more than a second, unless quiet.
 */
int open_program(struct ki_target *t, const struct ki_program_options *o, bool quiet,
		 struct ki_program **out);

#endif
