// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst list: the functions there are, and where something can be put into them.
 *
 * All functions together are analysed as a program, in parallel; the ones that are named, one by
 * one, with their windows, without looking at the others.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/springboards.h"
#include "cli.h"
#include "kerninst/match.h"
#include "open.h"
#include "out/json.h"
#include "out/table.h"
#include "select.h"
#include "kerninst/windows.h"

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

#define SMALL 4 /* instructions */

struct totals {
	uint64_t functions, ready, blocks, insns, windows, boards[KI_BOARD_KINDS];
	size_t refused[KI_R_COUNT];
};

struct lister {
	struct open_options open;
	struct ki_target *t;
	struct ki_table *table; /* NULL: JSON, or verbose */
	bool verbose, json, quiet, bold;
	bool whole; /* all functions, as a program: no windows */
	struct totals totals;
	ki_selection functions;
};

static const char *status(const struct ki_window_list *w)
{
	return w->reason ? ki_reason_tag(w->reason) : "yes";
}

static void print_row(struct lister *l, const struct ki_window_list *w)
{
	ki_table_cell(l->table, "%s", cli_module(w->sym));
	ki_table_cell(l->table, "%s", w->sym->name);
	ki_table_cell(l->table, "0x%" PRIx64, w->sym->addr);
	ki_table_cell(l->table, "%" PRIu64, w->sym->size);
	ki_table_cell(l->table, "%u", w->blocks);
	if (l->whole)
		ki_table_cell(l->table, "%u", w->insns);
	else
		ki_table_cell(l->table, "%zu", w->ready);
	ki_table_cell(l->table, "%s", status(w));
	ki_table_print(l->table, stdout, l->bold);
}

static void print_json(const struct lister *l, const struct ki_window_list *w)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "module", cli_module(w->sym));
	ki_json_str(&j, "function", w->sym->name);
	ki_json_hex(&j, "address", w->sym->addr);
	ki_json_u64(&j, "size", w->sym->size);
	ki_json_u64(&j, "blocks", w->blocks);
	ki_json_u64(&j, "instructions", w->insns);
	if (!l->whole)
		ki_json_u64(&j, "windows", w->ready);
	ki_json_str(&j, "reason", ki_reason_tag(w->reason));
	if (l->verbose)
		ki_window_list_json(w, &j);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void show(struct lister *l, const struct ki_window_list *w)
{
	struct totals *t = &l->totals;

	t->functions++;
	t->ready += w->reason == KI_R_OK;
	t->blocks += w->blocks;
	t->insns += w->insns;
	t->windows += w->ready;
	for (size_t i = 0; i < w->spans.n; i++)
		t->boards[w->spans.v[i].board]++;
	if (w->reason && w->reason < KI_R_COUNT)
		t->refused[w->reason]++;
	if (l->json)
		print_json(l, w);
	else if (l->verbose)
		ki_window_list_print(w, stdout);
	else
		print_row(l, w);
}

static void print_totals(const struct lister *l)
{
	const struct totals *t = &l->totals;

	fflush(stdout);
	fprintf(stderr,
		"%" PRIu64 " functions, %" PRIu64 " can be instrumented; %" PRIu64
		" blocks, %" PRIu64 " instructions",
		t->functions, t->ready, t->blocks, t->insns);
	if (!l->whole)
		fprintf(stderr, ", %" PRIu64 " windows", t->windows);
	for (unsigned int k = 0; !l->whole && k < KI_BOARD_KINDS; k++)
		fprintf(stderr, "%s%" PRIu64 " %s", k ? ", " : ": ", t->boards[k],
			ki_springboard_name(k));
	fputc('\n', stderr);
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (t->refused[r])
			fprintf(stderr, "%8zu  %-18s %s\n", t->refused[r], ki_reason_tag(r),
				ki_reason_text(r));
}

static int list_named(struct lister *l)
{
	struct cli_progress progress;
	const struct ki_symbol *last = NULL;
	struct ki_err err = {0};
	struct ki_window_list w;
	int ret = CLI_OK;

	cli_progress_start(&progress, "analysing functions", l->functions.n, l->quiet);
	for (size_t i = 0; !ret && i < l->functions.n && !ferror(stdout); i++) {
		const struct ki_symbol *sym = l->functions.v[i].sym;

		if (sym != last) {
			ret = ki_window_list_find(&w, l->t, sym, &err) ? cli_fail(&err) : CLI_OK;
			if (!ret) {
				show(l, &w);
				ki_window_list_free(&w);
			}
		}
		last = sym;
		cli_progress_at(&progress, i + 1);
	}
	cli_progress_end(&progress);
	return ret;
}

/*
 * A row of reserved text that holds all of the function's code. Those of the exception and bug
 * tables move with their instructions.
 */
static unsigned int reserved_as_a_whole(struct lister *l, const struct ki_program_function *f)
{
	uint64_t start = f->symbol->addr, end = start + f->code_size;
	const struct ki_reserved_row *rows;
	struct ki_err err = {0};
	size_t n;

	if (!f->code_size || ki_target_reserved(l->t, start, end, &rows, &n, &err))
		return KI_R_OK;
	for (size_t i = 0; i < n; i++)
		if (rows[i].reason != KI_R_EXTABLE && rows[i].reason != KI_R_BUG_SITE &&
		    rows[i].addr <= start && rows[i].addr + rows[i].len >= end)
			return rows[i].reason;
	return KI_R_OK;
}

/*
 * The program knows no windows. That a function has none to be used is seen where it lies in
 * reserved text, and where it is so small that it is worth a look by itself.
 */
static unsigned int reason_of(struct lister *l, const struct ki_program_function *f)
{
	unsigned int reason = f->reason ? f->reason : reserved_as_a_whole(l, f);
	struct ki_err err = {0};
	struct ki_window_list w;

	if (reason || f->ninsns > SMALL || ki_window_list_find(&w, l->t, f->symbol, &err))
		return reason;
	reason = w.reason;
	ki_window_list_free(&w);
	return reason;
}

static void list_whole(struct lister *l, const struct ki_program *p)
{
	uint32_t n;
	const struct ki_program_function *f = ki_program_functions(p, &n), *end = f + n;

	for (; f < end && !ferror(stdout); f++) {
		struct ki_window_list w = {
			.sym = f->symbol, .blocks = f->nblocks, .insns = f->ninsns};

		if (ki_match_is_padding(f->symbol))
			continue;
		w.reason = reason_of(l, f);
		show(l, &w);
	}
}

static int open_table(struct lister *l, unsigned int module, unsigned int function)
{
	/* a few monstrous names should not push everything off the screen */
	const struct ki_column columns[] = {
		{"MODULE", KI_ALIGN_LEFT, module},
		{"FUNCTION", KI_ALIGN_LEFT, function > 48 ? 48 : function},
		{"ADDRESS", KI_ALIGN_LEFT, 18},
		{"SIZE", KI_ALIGN_RIGHT, 6},
		{"BLOCKS", KI_ALIGN_RIGHT, 6},
		{l->whole ? "INSNS" : "WINDOWS", KI_ALIGN_RIGHT, 7},
		{"STATUS", KI_ALIGN_LEFT, 0},
	};

	if (l->json || l->verbose)
		return CLI_OK;
	return ki_table_new(&l->table, columns, sizeof(columns) / sizeof(*columns))
		       ? cli_no_memory()
		       : CLI_OK;
}

static void widen(const struct ki_symbol *sym, unsigned int *module, unsigned int *function)
{
	unsigned int m = (unsigned int)strlen(cli_module(sym));
	unsigned int f = (unsigned int)strlen(sym->name);

	*module = m > *module ? m : *module;
	*function = f > *function ? f : *function;
}

static int show_named(struct lister *l)
{
	unsigned int module = 0, function = 0;
	int ret;

	for (size_t i = 0; i < l->functions.n; i++)
		widen(l->functions.v[i].sym, &module, &function);
	ret = open_table(l, module, function);
	return ret ? ret : list_named(l);
}

static int show_whole(struct lister *l)
{
	const struct ki_program_options no_liveness = {.no_liveness = true};
	const struct ki_program_function *f;
	unsigned int module = 0, function = 0;
	struct ki_program *p = NULL;
	uint32_t n;
	int ret = open_program(l->t, &no_liveness, l->quiet, &p);

	if (ret)
		return ret;
	f = ki_program_functions(p, &n);
	for (uint32_t i = 0; i < n; i++)
		widen(f[i].symbol, &module, &function);
	ret = open_table(l, module, function);
	if (!ret)
		list_whole(l, p);
	ki_program_free(p);
	return ret;
}

static int list(struct lister *l, const struct verb *self, char **globs, int n)
{
	static char everything[] = "*";
	static char *all[] = {everything};
	int ret = CLI_OK;

	l->whole = !n && !l->verbose;
	if (l->whole)
		ret = show_whole(l);
	else
		ret = select_functions(l->t, self, n ? globs : all, n ? n : 1, false,
				       &l->functions);
	if (!ret && !l->whole)
		ret = show_named(l);
	if (!ret && !l->quiet)
		print_totals(l);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
						{"json", no_argument, NULL, 'j'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						OPEN_OPTIONS,
						{0}};
	struct lister l = {.bold = cli_bold(stdout)};
	int c, ret;

	while ((c = getopt_long(argc, argv, ":vqh", options, NULL)) != -1) {
		if (c == 'v')
			l.verbose = true;
		else if (c == 'j')
			l.json = true;
		else if (c == 'q')
			l.quiet = true;
		else if (!open_option(&l.open, c, optarg))
			return cli_other_option(self, c, argv);
	}
	ret = open_process_prefix(&l.open, self, argv + optind, argc - optind);
	if (!ret)
		ret = open_or_fail(&l.open, &l.t);
	if (!ret)
		ret = list(&l, self, argv + optind, argc - optind);
	ki_vec_free(&l.functions);
	ki_table_free(l.table);
	ki_target_close(l.t);
	return ret;
}

const struct verb verb_list = {
	.name = "list",
	.summary = "functions, their blocks and windows, and what cannot be instrumented",
	.usage = usage,
	.run = run,
};
