/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of a coverage: tables, files, a report. It does not matter whether it was measured
 * or read. Verbs take these options by the rows COVER_OUTPUT_OPTIONS in their table, the text
 * COVER_OUTPUT_USAGE in their usage, and cover_output_option in their loop.
 */
#ifndef KERNINST_COVER_OUTPUT_H
#define KERNINST_COVER_OUTPUT_H

#include <getopt.h>

#include "kerninst/cover_report.h"
#include "util/vec.h"

struct cover_output {
	const char *file, *lcov, *html, *pcs;
	bool json, verbose, quiet;
	ki_vec(const char *) debug; /* files with DWARF; none: look where Debian has them */
	bool no_debug;
};

enum { COVER_LCOV = 0x400, COVER_HTML, COVER_PCS, COVER_JSON, COVER_DEBUG };

/* clang-format off */
#define COVER_OUTPUT_OPTIONS \
	{"output", required_argument, NULL, 'o'}, \
	{"lcov", required_argument, NULL, COVER_LCOV}, \
	{"html", required_argument, NULL, COVER_HTML}, \
	{"pcs", required_argument, NULL, COVER_PCS}, \
	{"json", no_argument, NULL, COVER_JSON}, \
	{"debug", required_argument, NULL, COVER_DEBUG}, \
	{"verbose", no_argument, NULL, 'v'}, \
	{"quiet", no_argument, NULL, 'q'}
#define COVER_OUTPUT_USAGE \
	"  -o, --output FILE      the coverage as JSON, to be read again by --from\n" \
	"      --json             the same to standard output, instead of the table\n" \
	"      --lcov FILE        a trace file for genhtml and its like\n" \
	"      --html DIR         a report: pages to be opened in a browser, without a server\n" \
	"      --pcs FILE         addresses of the blocks that were hit, in hex, one per line\n" \
	"      --debug FILE       source lines from this vmlinux or module with DWARF, for --lcov and\n" \
	"                         --html; again for more; none: no lines  [/usr/lib/debug, if there]\n" \
	"  -v, --verbose          a row for each function that was hit too\n" \
	"  -q, --quiet            no progress, no hints\n"
/* clang-format on */

/* What getopt_long gave: false if it is none of COVER_OUTPUT_OPTIONS. */
bool cover_output_option(struct cover_output *o, int option, const char *arg);
void cover_output_free(struct cover_output *o);

/*
 * Write all that is asked for. t: a target from which instructions can be read for the report's
 * pictures (the live kernel, an image), or NULL. Reported: an exit status.
 */
int cover_output_write(const struct cover_output *o, const struct ki_coverage *c,
		       struct ki_target *t);

/*
 * kerninst cover --from FILE, kerninst cover --diff OLD NEW: what needs no kernel. cover_is_offline
 * says whether the arguments, up to "--", ask for that.
 */
struct verb;
bool cover_is_offline(int argc, char **argv);
int cover_offline(const struct verb *self, int argc, char **argv);

#define COVER_OFFLINE_USAGE                                                                        \
	"       kerninst cover --from FILE [OPTION...]\n"                                          \
	"       kerninst cover --diff OLD NEW [OPTION...]\n"

#define COVER_OFFLINE_OPTIONS_USAGE                                                                    \
	"      --from FILE        show what --json has written; no kernel is needed\n"                 \
	"      --image FILE       with --from and --html: instructions from this ELF file\n"           \
	"      --system-map FILE  and symbols from this System.map\n"                                  \
	"      --diff OLD NEW     compare two such files: what is newly reached, no longer reached,\n" \
	"                         hotter, colder; -v: block by block\n"                                \
	"      --ratio N          hotter and colder: at least N times  [2]\n"                          \
	"      --least N          and at least N hits more or less  [1]\n"

#endif
