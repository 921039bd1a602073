// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst calls: the call graph below or above a function.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "open.h"
#include "out/json.h"
#include "select.h"
#include "kerninst/calls.h"

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

#define DEPTH	   2
#define DEPTH_MAX  1000
#define NAME_WIDTH 48

struct calls {
	struct open_options open;
	bool callers, json, quiet, bold;
	uint32_t depth;
	struct ki_target *t;
	struct ki_program *program;
	const struct ki_program_function *functions;
	struct ki_calls *tree;
};

static const char *kind_name(uint8_t kind)
{
	switch (kind) {
	case KI_EDGE_CALL:
		return "call";
	case KI_EDGE_TAIL:
		return "tail";
	case KI_EDGE_CALL_INDIRECT:
		return "indirect";
	default:
		return "indirect tail";
	}
}

/* NULL: not known. A function outside the program may have a symbol. */
static const struct ki_symbol *symbol_of(const struct calls *c, const struct ki_calls_row *row)
{
	if (row->function != KI_NONE)
		return c->functions[row->function].symbol;
	return row->to ? ki_target_symbol_at(c->t, row->to) : NULL;
}

/* "vfs_read"; "ext4:ext4_sync_file"; "0xffffffffc0000000" */
static void name_of(const struct calls *c, const struct ki_calls_row *row, char *buf, size_t len)
{
	const struct ki_symbol *sym = symbol_of(c, row);

	if (sym && row->to && row->to != sym->addr)
		snprintf(buf, len, "%s+0x%" PRIx64, sym->name, row->to - sym->addr);
	else if (sym)
		snprintf(buf, len, "%s%s%s", sym->module, *sym->module ? ":" : "", sym->name);
	else if (row->to)
		snprintf(buf, len, "0x%" PRIx64, row->to);
	else
		snprintf(buf, len, "indirect (%u site%s)", row->sites, row->sites == 1 ? "" : "s");
}

static void print_row(void *ctx, const struct ki_calls_row *row)
{
	const struct calls *c = ctx;
	int indent = (int)row->depth * 2;
	char name[300];

	name_of(c, row, name, sizeof(name));
	printf("%*s%-*s  %5u  %s%s\n", indent, "", indent < NAME_WIDTH ? NAME_WIDTH - indent : 0,
	       name, row->sites, kind_name(row->kind),
	       row->recursion  ? "  (recursion)"
	       : row->repeated ? "  (see above)"
			       : "");
}

static void json_row(void *ctx, const struct ki_calls_row *row)
{
	const struct calls *c = ctx;
	const struct ki_symbol *sym = symbol_of(c, row);
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "depth", row->depth);
	ki_json_str(&j, "function", sym ? sym->name : NULL);
	ki_json_str(&j, "module", row->function != KI_NONE ? cli_module(sym) : NULL);
	if (row->function != KI_NONE)
		ki_json_hex(&j, "address", sym->addr);
	else if (row->to)
		ki_json_hex(&j, "address", row->to);
	ki_json_str(&j, c->callers ? "calls" : "caller", c->functions[row->from].symbol->name);
	ki_json_u64(&j, "sites", row->sites);
	ki_json_str(&j, "kind", kind_name(row->kind));
	ki_json_bool(&j, "recursion", row->recursion);
	ki_json_bool(&j, "repeated", row->repeated);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void print_root(const struct calls *c, const struct ki_symbol *sym, uint32_t number,
		       bool first)
{
	struct ki_json j;

	if (!c->json) {
		printf("%s%s%s:%s  0x%" PRIx64 "  %s%s%s\n", first ? "" : "\n",
		       c->bold ? "\033[1m" : "", cli_module(sym), sym->name, sym->addr,
		       c->callers ? "callers" : "callees",
		       c->functions[number].flags & KI_FUNCTION_NORETURN ? "  noreturn" : "",
		       c->bold ? "\033[0m" : "");
		return;
	}
	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "depth", 0);
	ki_json_str(&j, "function", sym->name);
	ki_json_str(&j, "module", cli_module(sym));
	ki_json_hex(&j, "address", sym->addr);
	ki_json_str(&j, "direction", c->callers ? "callers" : "callees");
	ki_json_bool(&j, "noreturn", c->functions[number].flags & KI_FUNCTION_NORETURN);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void print_totals(const struct calls *c, const struct ki_calls_totals *n)
{
	if (c->quiet)
		return;
	fflush(stdout);
	fprintf(stderr,
		"%" PRIu64 " function%s in %" PRIu64 " row%s; %" PRIu64 " call%s, %" PRIu64
		" tail call%s, %" PRIu64 " indirect\n",
		n->functions, n->functions == 1 ? "" : "s", n->rows, n->rows == 1 ? "" : "s",
		n->direct, n->direct == 1 ? "" : "s", n->tail, n->tail == 1 ? "" : "s",
		n->indirect);
}

static int show(struct calls *c, const struct ki_symbol *sym, bool first)
{
	uint32_t number = ki_program_function_at(c->program, sym->addr);
	struct ki_calls_totals totals = {0};

	if (number == KI_NONE)
		return cli_error("%s: not among the functions that were analysed; kerninst list "
				 "shows them",
				 sym->name);
	print_root(c, sym, number, first);
	if (ki_calls_walk(c->tree, number, c->json ? json_row : print_row, c, &totals))
		return cli_no_memory();
	if (!totals.rows && !c->json)
		puts("  none known");
	print_totals(c, &totals);
	return CLI_OK;
}

static int show_all(struct calls *c, const struct verb *self, char **args, int n)
{
	const struct ki_program_options no_liveness = {.no_liveness = true};
	ki_selection functions = {0};
	uint32_t count;
	int ret = select_functions(c->t, self, args, n, false, &functions);

	if (!ret)
		ret = open_program(c->t, &no_liveness, c->quiet, &c->program);
	if (!ret) {
		c->functions = ki_program_functions(c->program, &count);
		c->tree = ki_calls_new(c->program, c->callers, c->depth);
		ret = c->tree ? CLI_OK : cli_no_memory();
	}
	for (size_t i = 0; !ret && i < functions.n && !ferror(stdout); i++)
		ret = show(c, functions.v[i].sym, i == 0);
	ki_calls_free(c->tree);
	ki_program_free(c->program);
	ki_vec_free(&functions);
	return ret;
}

enum { OPT_CALLEES = 1, OPT_CALLERS };

static bool take_option(struct calls *c, int option)
{
	if (open_option(&c->open, option, optarg))
		return true;
	switch (option) {
	case OPT_CALLEES:
	case OPT_CALLERS:
		c->callers = option == OPT_CALLERS;
		return true;
	case 'j':
		c->json = true;
		return true;
	case 'q':
		c->quiet = true;
		return true;
	default:
		return false;
	}
}

static bool parse_depth(const char *text, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (uint32_t)n;
	return *text >= '0' && *text <= '9' && !*end && n >= 1 && n <= DEPTH_MAX;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"callees", no_argument, NULL, OPT_CALLEES},
						{"callers", no_argument, NULL, OPT_CALLERS},
						{"depth", required_argument, NULL, 'd'},
						{"json", no_argument, NULL, 'j'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						OPEN_OPTIONS,
						{0}};
	struct calls c = {.depth = DEPTH, .bold = cli_bold(stdout)};
	int option, ret;

	while ((option = getopt_long(argc, argv, ":d:qh", options, NULL)) != -1) {
		if (option == 'd' && !parse_depth(optarg, &c.depth))
			return cli_misuse(self, "--depth %s: not a number from 1 to %d", optarg,
					  DEPTH_MAX);
		if (option != 'd' && !take_option(&c, option))
			return cli_other_option(self, option, argv);
	}
	if (optind == argc)
		return cli_misuse(self, "no FUNCTION is given");
	ret = open_or_fail(&c.open, &c.t);
	if (!ret)
		ret = show_all(&c, self, argv + optind, argc - optind);
	ki_target_close(c.t);
	return ret;
}

const struct verb verb_calls = {
	.name = "calls",
	.summary = "what a function calls, and who calls it",
	.usage = usage,
	.run = run,
};
