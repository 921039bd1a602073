/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Options of a command line, as rows: one description, of which all is parsed.
 */
#ifndef KI_UTIL_OPTIONS_H
#define KI_UTIL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Takes a value. 0, or what the parser is to return. ctx: the parser's. */
typedef int ki_option_take(const void *ctx, const char *value, void *to);

/* Letters of options that have none. */
#define KI_OPTION_OPTIONAL (-1) /* its value may be left out: NULL */
#define KI_OPTION_NO_VALUE (-2) /* it has no value, but is taken all the same */

/*
 * Its name, its letter (0: none, or one of the above), what takes its value, and where that goes.
 * take NULL: it has no value, and `to` is a bool, which becomes true. Without a name, the first
 * row: an argument that is no option, in its place among them.
 */
struct ki_option {
	const char *name;
	int letter;
	ki_option_take *take;
	void *to;
};

/* It has no value, and `to` becomes false: the opposite of another option. */
int ki_option_no(const void *ctx, const char *value, void *to);

/* A text as it is; to: a const char *. */
int ki_option_text(const void *ctx, const char *value, void *to);

struct ki_options {
	const struct ki_option *rows;
	size_t n; /* 40 at most */
	/* What is none of them: '?', ':' for a missing value, or 'h' for --help and -h, which are
	   always there; as getopt_long says it. */
	int (*other)(const void *ctx, int option, char **argv);
	const void *ctx;
};

/* All are taken, as getopt_long does it. False: one was wrong, or it was --help; *ret says what its
   taker, or `other`, has returned. */
bool ki_options_parse(int argc, char **argv, const struct ki_options *o, int *ret);

#endif
