// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst calls: the call graph below or above a function.
 */
#include "cli.h"
#include "open.h"
#include "select.h"
#include "kerninst/call_tree.h"

static const char usage[] =
	"Usage: kerninst calls [OPTION...] FUNCTION...\n"
	"Show the functions that a function calls, those that they call, and so on.\n"
	"FUNCTION is [MODULE:]NAME (a glob, too), or an ADDRESS inside it.\n\n"
	"      --callees          what it calls (the default)\n"
	"      --callers          who calls it; calls through pointers are not known\n"
	"  -d, --depth N          levels, 1 to 1000 (2)\n"
	"      --json             one object per line: the root, then its tree row by row\n" OPEN_USAGE
	"  -q, --quiet            no totals, no progress\n"
	"  -h, --help             this text\n\n"
	"Each line: the function, the number of places where it is called, how (call, tail: a jump\n"
	"in place of a call and a return, indirect: through a pointer). \"(recursion)\": it stands\n"
	"above itself; \"(see above)\": what is below it has been shown. Totals are on standard\n"
	"error.\n\n"
	"Examples:\n"
	"  kerninst calls vfs_read\n"
	"  kerninst calls --callers --depth 3 mutex_lock\n"
	"  kerninst calls --json ext4:ext4_sync_file | jq -r 'select(.kind == \"tail\") | .function'\n";

#define DEPTH	  2
#define DEPTH_MAX 1000

struct calls {
	struct open_options open;
	struct ki_page page;
	struct ki_call_tree how;
	bool quiet;
	uint32_t depth;
};

static int show_all(struct calls *c, const struct verb *self, char **args, int n)
{
	const struct ki_program_options no_liveness = {.size = sizeof(no_liveness),
						       .no_liveness = true};
	struct ki_call_tree *how = &c->how;
	struct ki_calls_totals totals;
	struct ki_program *program = NULL;
	ki_selection functions = {0};
	struct ki_err err = {0};
	int ret = select_functions(how->t, self, args, n, false, &functions);

	if (!ret)
		ret = open_program(how->t, &no_liveness, c->quiet, &program);
	if (!ret) {
		how->program = program;
		how->tree = ki_calls_new(program, how->callers, c->depth);
		ret = how->tree ? CLI_OK : cli_no_memory();
	}
	for (size_t i = 0; !ret && i < functions.n && !ferror(stdout); i++) {
		if (ki_call_tree_show(how, functions.v[i].sym, i == 0, &c->page, &totals, &err))
			ret = cli_fail(&err);
		fflush(stdout);
		if (!ret && !c->quiet)
			ki_call_tree_totals(&totals, stderr);
	}
	ki_calls_free(how->tree);
	ki_program_free(program);
	ki_vec_free(&functions);
	return ret;
}

static int take_depth(const void *self, const char *text, void *to)
{
	return cli_count(self, "--depth", text, DEPTH_MAX, to);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct calls c = {.depth = DEPTH, .page = cli_page()};
	const struct ki_option rows[] = {
		{"callees", 0, cli_no, &c.how.callers}, {"callers", 0, NULL, &c.how.callers},
		{"depth", 'd', take_depth, &c.depth},	{"json", 0, NULL, &c.page.json},
		{"quiet", 'q', NULL, &c.quiet},		OPEN_ROWS(c.open)};
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind == argc)
		return cli_misuse(self, "no FUNCTION is given");
	ret = open_or_fail(&c.open, &c.how.t);
	if (!ret)
		ret = show_all(&c, self, argv + optind, argc - optind);
	ki_target_free(c.how.t);
	return ret;
}

const struct verb verb_calls = {
	.name = "calls",
	.summary = "what a function calls, and who calls it",
	.usage = usage,
	.run = run,
};
