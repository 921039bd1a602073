// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst callers: the places where a function is called directly.
 */
#include <inttypes.h>

#include "cli.h"
#include "open.h"
#include "out/json.h"
#include "select.h"

static const char usage[] =
	"Usage: kerninst callers [OPTION...] FUNCTION...\n"
	"Show where a function is called directly: the address of each call, or of a jump in place of\n"
	"a call and a return, and the function that it stands in. Calls through pointers are not\n"
	"known. FUNCTION is [MODULE:]NAME (a glob, too), or an ADDRESS inside it.\n\n"
	"      --json             one object per line\n" OPEN_USAGE
	"  -q, --quiet            no progress\n"
	"  -h, --help             this text\n\n"
	"An address is a point, of stat and the like. Whole functions, as a tree: kerninst calls\n"
	"--callers.\n\n"
	"Examples:\n"
	"  kerninst callers vfs_fsync_range\n"
	"  kerninst stat $(kerninst callers -q vfs_fsync_range | cut -d' ' -f1) -- sync\n";

struct callers {
	struct open_options open;
	struct ki_page page;
	bool quiet;
};

static void show(const struct ki_page *page, const struct ki_program_function *functions,
		 const struct ki_program_call *c)
{
	const struct ki_symbol *in = functions[c->caller].symbol, *to = functions[c->callee].symbol;
	const char *kind = c->kind == KI_EDGE_TAIL ? "tail" : "call";
	struct ki_json j;

	if (!page->json) {
		fprintf(page->out, "0x%" PRIx64 "  %s  %s  %s%s%s+0x%" PRIx64 "\n", c->from, kind,
			to->name, in->module, *in->module ? ":" : "", in->name, c->from - in->addr);
		return;
	}
	ki_json_init(&j, page->out);
	ki_json_open(&j, NULL, '{');
	ki_json_hex(&j, "address", c->from);
	ki_json_str(&j, "kind", kind);
	ki_json_str(&j, "function", to->name);
	ki_json_str(&j, "caller", in->name);
	ki_json_str(&j, "module", ki_symbol_module(in));
	ki_json_u64(&j, "offset", c->from - in->addr);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

/* Returns how many there are. */
static uint32_t show_calls(const struct ki_page *page, const struct ki_program *p,
			   const struct ki_symbol *of)
{
	uint32_t n = 0, count, to = ki_program_function_at(p, of->addr);
	const uint32_t *callers = to == KI_NONE ? NULL : ki_program_callers(p, to, &n);
	struct ki_program_call call;

	for (uint32_t i = 0; i < n; i++)
		if (!ki_program_call(p, callers[i], &call))
			show(page, ki_program_functions(p, &count), &call);
	return n;
}

static int show_all(const struct callers *c, struct ki_target *t, const struct verb *self,
		    char **args, int n)
{
	const struct ki_program_options how = {.size = sizeof(how), .no_liveness = true};
	struct ki_program *program = NULL;
	ki_selection functions = {0};
	int ret = select_functions(t, self, args, n, false, &functions);

	if (!ret)
		ret = open_program(t, &how, c->quiet, &program);
	for (size_t i = 0; !ret && i < functions.n && !ferror(stdout); i++)
		if (!show_calls(&c->page, program, functions.v[i].sym) && !c->quiet)
			cli_warn("%s: no direct call is known", functions.v[i].sym->name);
	ki_program_free(program);
	ki_vec_free(&functions);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct callers c = {.page = cli_page()};
	const struct ki_option rows[] = {
		{"json", 0, NULL, &c.page.json}, {"quiet", 'q', NULL, &c.quiet}, OPEN_ROWS(c.open)};
	struct ki_target *t = NULL;
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind == argc)
		return cli_misuse(self, "no FUNCTION is given");
	ret = open_or_fail(&c.open, &t);
	if (!ret)
		ret = show_all(&c, t, self, argv + optind, argc - optind);
	ki_target_free(t);
	return ret;
}

const struct verb verb_callers = {
	.name = "callers",
	.summary = "where a function is called",
	.usage = usage,
	.run = run,
};
