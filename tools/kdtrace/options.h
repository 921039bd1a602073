/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_OPTIONS_H
#define KDTRACE_OPTIONS_H

#include <stdbool.h>

#include "kerninst/dlang.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_MISUSED, EXIT_NOT_HERE };

struct options {
	char *text;	  /* the program: all -n, -P, -m, -f, or the script */
	const char *name; /* of the script; NULL: there is none */
	const char *command, *output;
	int pid; /* -p */
	bool list, compile_only;
	struct ki_dlang_options d; /* its args are argv's */
};

/*
 * True: go on; false: end with *status (help, the version, or misuse, which has been said).
 */
bool options_parse(struct options *o, int argc, char **argv, int *status);
void options_free(struct options *o);

/* "kdtrace: ..." on stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
