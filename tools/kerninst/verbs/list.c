// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst list: the functions there are, and where something can be put into them.
 *
 * All functions together are analysed as a program, in parallel; the ones that are named, one by
 * one, with their windows, without looking at the others.
 */
#include "cli.h"
#include "out/progress.h"
#include "kerninst/function_list.h"
#include "open.h"
#include "select.h"

static const char usage[] =
	"Usage: kerninst list [OPTION...] [[MODULE:]GLOB...]\n"
	"List functions, their blocks and instructions, and whether they can be instrumented;\n"
	"with GLOB (or an address) also their windows. PID/ or PID/GLOB: of a process.\n\n"
	"  -v, --verbose          each block, its windows and their instructions; aliases\n"
	"      --json             one object per line; with -v with its windows\n" OPEN_USAGE
	"  -q, --quiet            no totals, no progress\n"
	"  -h, --help             this text\n\n"
	"A window is a run of instructions that one springboard displaces: a jump; a short jump to a\n"
	"bounce, a jump in bytes that nothing executes (filler, or the tail of another window, which is\n"
	"then installed too); or a trap, int3. \"wait\": installing it waits until no task can be where\n"
	"bytes change. Everything that cannot be instrumented has a reason;\n"
	"kerninst explain TAG says what to do instead. Totals are on standard error.\n\n"
	"Examples:\n"
	"  kerninst list 'tcp_*'\n"
	"  kerninst list -v vfs_read\n"
	"  kerninst list --json 'ext4:*' | jq -r 'select(.reason != \"OK\") | .function'\n"
	"  kerninst list --image vmlinux -q | wc -l\n";

static int list_named(struct ki_function_list *l, const ki_selection *s, bool quiet)
{
	struct ki_progress progress;
	struct ki_err err = {0};
	struct ki_window_list w;
	int ret = ki_function_list_new(l, s) ? cli_no_memory() : CLI_OK;

	ki_progress_start(&progress, "analysing functions", s->n, quiet);
	for (size_t i = 0; !ret && i < s->n && !ferror(stdout); i++) {
		const bool again = i && s->v[i].sym == s->v[i - 1].sym;

		if (!again && ki_window_list_find(&w, l->t, s->v[i].sym, &err)) {
			ret = cli_fail(&err);
		} else if (!again) {
			ki_function_list_row(l, &w);
			ki_window_list_free(&w);
		}
		ki_progress_at(&progress, i + 1);
	}
	ki_progress_end(&progress);
	return ret;
}

static int show_named(struct ki_function_list *l, const struct verb *self, char **globs, int n,
		      bool quiet)
{
	ki_selection functions = {0};
	int ret = select_functions(l->t, self, globs, n, false, &functions);

	if (!ret)
		ret = list_named(l, &functions, quiet);
	ki_vec_free(&functions);
	return ret;
}

static int show_whole(struct ki_function_list *l, bool quiet)
{
	const struct ki_program_options no_liveness = {.size = sizeof(no_liveness),
						       .no_liveness = true};
	struct ki_program *p = NULL;
	int ret = open_program(l->t, &no_liveness, quiet, &p);

	if (!ret && ki_function_list_program(l, p))
		ret = cli_no_memory();
	ki_program_free(p);
	return ret;
}

static int list(struct ki_function_list *l, const struct verb *self, char **globs, int n,
		bool quiet)
{
	static char everything[] = "*";
	static char *all[] = {everything};
	int ret;

	if (!n && !l->page.verbose)
		ret = show_whole(l, quiet);
	else
		ret = show_named(l, self, n ? globs : all, n ? n : 1, quiet);
	if (!ret && !quiet) {
		fflush(stdout);
		ki_function_list_totals(l, stderr);
	}
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_function_list l = {.page = cli_page()};
	struct open_options open = {0};
	bool quiet = false;
	const struct ki_option rows[] = {{"verbose", 'v', NULL, &l.page.verbose},
					 {"json", 0, NULL, &l.page.json},
					 {"quiet", 'q', NULL, &quiet},
					 OPEN_ROWS(open)};
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	ret = open_process_prefix(&open, self, argv + optind, argc - optind);
	if (!ret)
		ret = open_or_fail(&open, &l.t);
	if (!ret)
		ret = list(&l, self, argv + optind, argc - optind, quiet);
	ki_function_list_free(&l);
	ki_target_free(l.t);
	return ret;
}

const struct verb verb_list = {
	.name = "list",
	.summary = "functions, their blocks and windows, and what cannot be instrumented",
	.usage = usage,
	.run = run,
};
