/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of a coverage: tables, files, a report. It does not matter whether it was measured
 * or read. Verbs have COVER_OUTPUT_ROWS among their options, and COVER_OUTPUT_USAGE in their usage.
 */
#ifndef KERNINST_COVER_OUTPUT_H
#define KERNINST_COVER_OUTPUT_H

#include "cli.h"
#include "kerninst/cover_report.h"
#include "util/vec.h"

struct cover_output {
	struct ki_cover_files files;
	bool json, verbose, quiet;
};

/* Rows of cli_parse; o: a struct cover_output. */
#define COVER_OUTPUT_ROWS(o)                                                                       \
	{"output", 'o', cli_text, &(o).files.file}, {"lcov", 0, cli_text, &(o).files.lcov},        \
		{"html", 0, cli_text, &(o).files.html}, {"pcs", 0, cli_text, &(o).files.pcs},      \
		{"json", 0, NULL, &(o).json}, {"debug", 0, cover_debug, &(o).files},               \
		{"verbose", 'v', NULL, &(o).verbose},                                              \
	{                                                                                          \
		"quiet", 'q', NULL, &(o).quiet                                                     \
	}
cli_take cover_debug;

/* clang-format off */
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

/* kerninst cover of the running kernel, or of a process. */
int cover_live(const struct verb *self, int argc, char **argv);

/* clang-format off */
#define COVER_LIVE_OPTIONS_USAGE \
	"  -a, --all              all functions of the kernel and its modules\n" \
	"  -m, --mode MODE        hit: has a block been executed? count: how often?  [hit]\n" \
	"      --once             a block's probe takes itself out after its first hit (mode hit)\n" \
	"      --every            a probe in each block, also where others' tell\n" \
	"      --no-move          leave functions where they are, also where probes cost more so\n"
/* clang-format on */

#endif
