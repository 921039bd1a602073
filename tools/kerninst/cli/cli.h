/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs of kerninst share: how they are called, how they fail.
 */
#ifndef KERNINST_CLI_H
#define KERNINST_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "kerninst/page.h"
#include "kerninst/target.h"
#include "util/options.h"

/* Exit statuses. */
enum { CLI_OK = 0, CLI_ERROR = 1, CLI_USAGE = 2, CLI_ENVIRONMENT = 3, CLI_NO_COMMAND = 127 };

/* A verb gets its arguments as main does, from argv[1] on; returns the exit status. */
struct verb {
	const char *name;
	const char *summary;
	const char *usage; /* the whole text of --help */
	int (*run)(const struct verb *self, int argc, char **argv);
};

extern const struct verb verb_stat, verb_top, verb_record, verb_report, verb_metrics, verb_replace,
	verb_list, verb_disas, verb_cfg, verb_cover, verb_paths, verb_kcov, verb_calls,
	verb_callers, verb_info, verb_explain, verb_instruments, verb_build, verb_load,
	verb_sessions, verb_evict, verb_evolve, verb_specialize, verb_text, verb_reset,
	verb_crosswalk;

/* "kerninst: what: why; hint" on stderr. They return the exit status that fits. */
int cli_fail(const struct ki_err *err);
int cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cli_misuse(const struct verb *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_no_memory(void);

/* The "output" or "result" could not be written: with errno's text, and once only. */
int cli_unwritten(const char *what);

/* A spec names nothing. */
struct ki_pointspec;
int cli_nothing(struct ki_target *t, const struct ki_pointspec *spec);
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Options (util/options.h); what takes one gets the verb, and returns an exit status;
   CLI_DONE: the verb ends here, and all is well. */
#define CLI_DONE     (-1)
#define CLI_OPTIONAL KI_OPTION_OPTIONAL
#define CLI_NO_VALUE KI_OPTION_NO_VALUE
#define cli_text     ki_option_text
#define cli_no	     ki_option_no
typedef ki_option_take cli_take;

/* All are taken, and --help. False: the verb ends with *status: a wrong one, or --help. */
bool cli_parse(const struct verb *v, int argc, char **argv, const struct ki_option *rows, size_t n,
	       int *status);
#define CLI_ROWS(rows) rows, sizeof(rows) / sizeof(*(rows))

/* Standard output: bold where that is wanted. */
struct ki_page cli_page(void);

/* What the library's functions that take a page have returned, reported: an exit status. */
int cli_shown(int ret);

/* A positive number of seconds. */
bool cli_seconds(const char *text, double *out);
int cli_interval(const void *self, const char *text, void *to); /* of a row of options */

/* A number of a row of options, which is called so. */
struct cli_number {
	const char *name;
	size_t least, most, *to;
};
cli_take cli_number;

/* A number from 1 to `most`: CLI_OK, or reported. */
int cli_count(const struct verb *v, const char *option, const char *text, unsigned int most,
	      unsigned int *out);

/* Bold titles: on a terminal, and never with NO_COLOR. */
bool cli_bold(FILE *out);

#endif
