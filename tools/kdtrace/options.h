/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_OPTIONS_H
#define KDTRACE_OPTIONS_H

#include "kerninst/dlang.h"
#include "util/vec.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_MISUSED, EXIT_NOT_HERE };

/* A program of the command line: all of them are one, and may share variables. */
#define PIECE_LIBRARY "library" /* which is not spoken of */
struct piece {
	const char *what; /* description, script, provider ... */
	const char *name; /* as it was given: the text, or the file's name */
	size_t begins;	  /* in options.text */
};

struct options {
	struct ki_dlang_options d;
	char *text;
	ki_vec(struct piece) pieces;
	ki_vec(const char *) args, set, cpp; /* operands; options of D; arguments of cpp */
	ki_vec(char *) owned;
	bool list, compile_only, verbose, listing, json, use_cpp;
	bool misused, tags, plain, dof, core;
	char makes; /* 'h', 'G': a header or an object, and runs nothing */
	struct ki_dlang_where where;
	int pid;
	const char *command, *output, *cpp_path; /* NULL: cpp */
};

/* False: *status is how to end. */
bool options_parse(struct options *o, int argc, char **argv, int *status);
void options_free(struct options *o);
/* As -x NAME=VALUE does; value NULL: as -x NAME. False: it cannot be, which has been said. */
bool option_set(struct options *o, const char *name, const char *value);

/* Behind the other ones; what and name stay the caller's. False: out of memory, which is said. */
bool piece_add(struct options *o, const char *what, const char *name, const char *text);

/* "kdtrace: ..." to the standard error, one line. */
extern const char *program_name;
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
