// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst list: the functions there are, and where something can be put into them.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kerninst/splice.h"
#include "match.h"
#include "out/json.h"
#include "out/table.h"

static const char usage[] =
	"Usage: kerninst list [OPTION...] [[MODULE:]GLOB...]\n"
	"List functions, their blocks and windows, and whether they can be instrumented.\n\n"
	"  -v, --verbose     each block, its windows and their instructions; aliases\n"
	"      --image FILE  of an ELF file (vmlinux, a module, a program), not of this kernel\n"
	"      --json        one object per line; with -v with its windows\n"
	"  -q, --quiet       no totals, no progress\n"
	"  -h, --help        this text\n\n"
	"A window is a run of instructions that one jump can displace. \"wait\": installing it waits\n"
	"until no task can be between them. Everything that cannot be instrumented has a reason;\n"
	"kerninst explain TAG says what to do instead. Totals are on standard error.\n\n"
	"Examples:\n"
	"  kerninst list 'tcp_*'\n"
	"  kerninst list -v vfs_read\n"
	"  kerninst list --json 'ext4:*' | jq -r 'select(.reason != \"OK\") | .function'\n"
	"  kerninst list --image vmlinux -q | wc -l\n";

struct totals {
	size_t functions, ready, blocks, windows, shorts;
	size_t refused[KI_R_COUNT];
};

struct lister {
	struct ki_target *t;
	struct ki_table *table; /* NULL: JSON, or verbose */
	bool verbose, json, quiet, bold;
	struct totals totals;
	ki_vec(const struct ki_symbol *) syms;

	/* The function at hand. */
	const struct ki_symbol *sym;
	struct ki_function *fn;
	struct ki_spans spans;
	size_t ready; /* windows that can be used */
	unsigned int reason;
};

/* Of a function without any window that can be used: what is in the way at its entry. */
static unsigned int why_not(const struct lister *l)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	unsigned int reason = KI_R_WINDOW_SHORT;
	struct ki_place *place = NULL;
	size_t n;

	if (l->fn->reason)
		return l->fn->reason;
	if (l->ready)
		return KI_R_OK;
	if (!ki_point_places(l->fn, &l->spans, &entry, &place, &n, NULL) && n && place->reason)
		reason = place->reason;
	free(place);
	return reason;
}

static bool waits(const struct lister *l, const struct ki_span *s)
{
	return s->count > 1 && l->fn->insns[s->first].len < KI_WINDOW_MIN;
}

static const char *status(const struct lister *l)
{
	return l->reason ? ki_reason_tag(l->reason) : "yes";
}

static void print_row(struct lister *l)
{
	ki_table_cell(l->table, "%s", cli_module(l->sym));
	ki_table_cell(l->table, "%s", l->sym->name);
	ki_table_cell(l->table, "0x%" PRIx64, l->sym->addr);
	ki_table_cell(l->table, "%" PRIu64, l->sym->size);
	ki_table_cell(l->table, "%u", l->fn->nblocks);
	ki_table_cell(l->table, "%zu", l->ready);
	ki_table_cell(l->table, "%s", status(l));
	ki_table_print(l->table, stdout, l->bold);
}

/* Each alias of the function by name, for text or JSON. */
static void each_alias(const struct lister *l, struct ki_json *j)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(l->t, &n), *end = all + n;

	for (const struct ki_symbol *s = l->sym + 1; s < end && s->addr == l->sym->addr; s++) {
		if (j)
			ki_json_str(j, NULL, s->name);
		else
			printf("  alias %s\n", s->name);
	}
}

static void print_insn(const struct lister *l, const struct ki_insn *in)
{
	char text[128];

	ki_insn_format(l->fn, in, text, sizeof(text));
	printf("      +0x%-5" PRIx64 " %s\n", in->addr - l->fn->start, text);
}

static void print_window(const struct lister *l, const struct ki_span *s)
{
	printf("    window 0x%" PRIx64 "  %u bytes  %u instructions  %-7s  %s\n", s->addr, s->len,
	       s->count, waits(l, s) ? "wait" : "no wait",
	       s->reason ? ki_reason_tag(s->reason) : "yes");
}

static void print_block(const struct lister *l, uint32_t b)
{
	const struct ki_block *blk = &l->fn->blocks[b];

	printf("  block %u  0x%" PRIx64 "  %" PRIu64 " bytes\n", b, blk->start,
	       blk->end - blk->start);
	for (uint32_t i = blk->first; i < blk->first + blk->count; i++) {
		const struct ki_insn *in = &l->fn->insns[i];
		const struct ki_span *s = ki_spans_at(&l->spans, l->fn, in->addr);
		struct ki_copy copy;

		if (s && s->first == i)
			print_window(l, s);
		else if (!s)
			printf("    no window: %s\n",
			       ki_reason_tag(ki_relocate(
				       in, l->fn->bytes + (in->addr - l->fn->start), &copy)));
		print_insn(l, in);
	}
}

static void print_verbose(const struct lister *l)
{
	printf("%s:%s  0x%" PRIx64 "  %" PRIu64 " bytes  %u blocks  %zu windows  %s\n",
	       cli_module(l->sym), l->sym->name, l->sym->addr, l->sym->size, l->fn->nblocks,
	       l->ready, status(l));
	each_alias(l, NULL);
	for (uint32_t b = 0; !l->fn->reason && b < l->fn->nblocks; b++)
		print_block(l, b);
}

static void json_windows(const struct lister *l, struct ki_json *j)
{
	ki_json_open(j, "window_list", '[');
	for (size_t i = 0; i < l->spans.n; i++) {
		const struct ki_span *s = &l->spans.v[i];

		ki_json_open(j, NULL, '{');
		ki_json_hex(j, "address", s->addr);
		ki_json_u64(j, "bytes", s->len);
		ki_json_u64(j, "instructions", s->count);
		ki_json_bool(j, "wait", waits(l, s));
		ki_json_str(j, "reason", ki_reason_tag(s->reason));
		ki_json_close(j);
	}
	ki_json_close(j);
}

static void print_json(const struct lister *l)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "module", cli_module(l->sym));
	ki_json_str(&j, "function", l->sym->name);
	ki_json_hex(&j, "address", l->sym->addr);
	ki_json_u64(&j, "size", l->sym->size);
	ki_json_u64(&j, "blocks", l->fn->nblocks);
	ki_json_u64(&j, "windows", l->ready);
	ki_json_str(&j, "reason", ki_reason_tag(l->reason));
	if (l->verbose) {
		ki_json_open(&j, "aliases", '[');
		each_alias(l, &j);
		ki_json_close(&j);
		json_windows(l, &j);
	}
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void add_up(struct lister *l)
{
	struct totals *t = &l->totals;

	l->ready = 0;
	for (size_t i = 0; i < l->spans.n; i++)
		l->ready += l->spans.v[i].reason == KI_R_OK;
	l->reason = why_not(l);
	t->functions++;
	t->ready += l->reason == KI_R_OK;
	t->blocks += l->fn->nblocks;
	t->windows += l->ready;
	t->shorts += l->spans.n - l->ready;
	if (l->reason && l->reason < KI_R_COUNT)
		t->refused[l->reason]++;
}

static int list_one(struct lister *l, const struct ki_symbol *sym)
{
	struct ki_err err = {0};
	int ret = CLI_OK;

	l->sym = sym;
	if (ki_function_analyze(l->t, sym, &l->fn, &err))
		return cli_fail(&err);
	if (ki_spans_find(l->fn, &l->spans, &err)) {
		ret = cli_fail(&err);
	} else {
		add_up(l);
		if (l->json)
			print_json(l);
		else if (l->verbose)
			print_verbose(l);
		else
			print_row(l);
	}
	ki_spans_free(&l->spans);
	ki_function_free(l->fn);
	return ret;
}

static void print_totals(const struct totals *t)
{
	fflush(stdout);
	fprintf(stderr,
		"%zu functions, %zu can be instrumented; %zu blocks, %zu windows, "
		"%zu more too short\n",
		t->functions, t->ready, t->blocks, t->windows, t->shorts);
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (t->refused[r])
			fprintf(stderr, "%8zu  %-18s %s\n", t->refused[r], ki_reason_tag(r),
				ki_reason_text(r));
}

static int collect(void *ctx, const struct ki_symbol *sym)
{
	struct lister *l = ctx;

	return ki_vec_push(&l->syms, sym) ? cli_no_memory() : CLI_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct ki_symbol *sa = *(const struct ki_symbol *const *)a;
	const struct ki_symbol *sb = *(const struct ki_symbol *const *)b;

	return sa == sb ? 0 : sa < sb ? -1 : 1; /* they are elements of one sorted table */
}

static int open_table(struct lister *l)
{
	struct ki_column columns[] = {
		{"MODULE", KI_ALIGN_LEFT, 0},	{"FUNCTION", KI_ALIGN_LEFT, 0},
		{"ADDRESS", KI_ALIGN_LEFT, 18}, {"SIZE", KI_ALIGN_RIGHT, 6},
		{"BLOCKS", KI_ALIGN_RIGHT, 6},	{"WINDOWS", KI_ALIGN_RIGHT, 7},
		{"STATUS", KI_ALIGN_LEFT, 0},
	};

	for (size_t i = 0; i < l->syms.n; i++) {
		unsigned int m = (unsigned int)strlen(cli_module(l->syms.v[i]));
		unsigned int f = (unsigned int)strlen(l->syms.v[i]->name);

		columns[0].width = m > columns[0].width ? m : columns[0].width;
		columns[1].width = f > columns[1].width ? f : columns[1].width;
	}
	/* a few monstrous names should not push everything off the screen */
	columns[1].width = columns[1].width > 48 ? 48 : columns[1].width;
	return ki_table_new(&l->table, columns, sizeof(columns) / sizeof(*columns));
}

static int list_all(struct lister *l)
{
	const struct ki_symbol *last = NULL;
	struct cli_progress progress;
	int ret = CLI_OK;

	qsort(l->syms.v, l->syms.n, sizeof(*l->syms.v), by_address);
	if (!l->json && !l->verbose && open_table(l))
		return cli_no_memory();
	cli_progress_start(&progress, "analysing functions", l->syms.n, l->quiet);
	for (size_t i = 0; !ret && i < l->syms.n && !ferror(stdout); i++) {
		if (l->syms.v[i] != last)
			ret = list_one(l, l->syms.v[i]);
		last = l->syms.v[i];
		cli_progress_at(&progress, i + 1);
	}
	cli_progress_end(&progress);
	if (!ret && !l->quiet)
		print_totals(&l->totals);
	return ret;
}

static int select_functions(struct lister *l, const struct verb *self, char **globs, int n)
{
	static char everything[] = "*";
	static char *all[] = {everything};
	struct pointspec spec;
	const char *why;
	size_t count;
	int ret = CLI_OK;

	for (int i = 0; !ret && i < (n ? n : 1); i++) {
		const char *text = (n ? globs : all)[i];

		if (pointspec_parse(text, &spec, &why))
			return cli_misuse(self, "'%s': %s", text, why);
		if (spec.suffix != POINTSPEC_NONE)
			return cli_misuse(self, "'%s': list takes functions, not points", text);
		ret = match_each(l->t, &spec, collect, l, &count);
		if (!ret && !count && n)
			ret = match_nothing(l->t, &spec);
	}
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"verbose", no_argument, NULL, 'v'}, {"image", required_argument, NULL, 'I'},
		{"json", no_argument, NULL, 'j'},    {"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},    {0}};
	struct lister l = {0};
	const char *image = NULL;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":vqh", options, NULL)) != -1) {
		if (c == 'I')
			image = optarg;
		else if (c == 'v')
			l.verbose = true;
		else if (c == 'j')
			l.json = true;
		else if (c == 'q')
			l.quiet = true;
		else
			return cli_other_option(self, c, argv);
	}
	l.bold = cli_bold(stdout);
	ret = cli_open(image, &l.t);
	if (!ret)
		ret = select_functions(&l, self, argv + optind, argc - optind);
	if (!ret)
		ret = list_all(&l);
	ki_vec_free(&l.syms);
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
