// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst paths: how often each way through a function is taken.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "kerninst/path.h"
#include "open.h"
#include "out/json.h"
#include "out/table.h"
#include "process.h"
#include "select.h"
#include "when.h"

static const char usage[] =
	"Usage: kerninst paths [OPTION...] [PID/|command/]FUNCTION [-- COMMAND [ARG...]]\n"
	"How often each way through a function is taken, while COMMAND runs or until Ctrl-C.\n\n"
	"A path begins where the function is called, or behind an edge back, as a loop has one, and\n"
	"ends where the function is left, or at such an edge. FUNCTION is [MODULE:]NAME, or an\n"
	"ADDRESS in it. Blocks have the numbers that kerninst disas and kerninst cfg show. Of a\n"
	"process: PID/FUNCTION; of COMMAND itself, from its first instruction on: command/FUNCTION.\n\n"
	"Calls are counted that begin after that of paths does, also calls in calls: a recursion,\n"
	"an interrupt; eight deep at most.\n\n" WHEN_USAGE
	"                             asked when the function is called\n"
	"  -n, --top N                so many paths, the most frequent ones; 0: all [20]\n"
	"      --json                 one object with all of them\n"
	"  -q, --quiet                no totals\n"
	"  -h, --help                 this text\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system.\n\n"
	"Examples:\n"
	"  kerninst paths vfs_read -- tar cf /dev/null /etc\n"
	"  kerninst paths --comm nginx -n 5 tcp_sendmsg_locked\n"
	"  kerninst paths --json do_filp_open -- true | jq '.paths[0].offsets'\n"
	"  kerninst paths command/execute_command_internal -- bash -c 'for i in 1 2 3; do :; done'\n";

#define LOOK 0.05 /* how often it is looked whether the process is still there */

struct options {
	bool json, quiet;
	uint32_t top;
	struct when when;
	char *function, **command;
	struct open_options open;
};

struct run {
	const struct options *o;
	struct ki_target *t;
	struct ki_paths *paths;
	struct ki_path_counts counts;
	struct command command;
};

/* ---- options ---- */

static int take_top(const struct verb *self, const char *text, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > UINT32_MAX)
		return cli_misuse(self, "--top '%s': a number of paths, or 0 for all", text);
	*out = (uint32_t)n;
	return CLI_OK;
}

static int take_option(const struct verb *self, int c, char **argv, struct options *o)
{
	int ret = CLI_OK;

	switch (c) {
	case 'n':
		return take_top(self, optarg, &o->top);
	case 'j':
		o->json = true;
		return CLI_OK;
	case 'q':
		o->quiet = true;
		return CLI_OK;
	default:
		return when_option(&o->when, self, c, optarg, &ret)
			       ? ret
			       : cli_other_option(self, c, argv);
	}
}

static int check(const struct verb *self, const struct options *o)
{
	if (o->open.pid == OPEN_COMMAND && !o->command)
		return cli_misuse(self, "command/FUNCTION: the command stands behind --");
	if (o->open.pid && o->when.own)
		return cli_misuse(self, "--own: that is for the kernel's functions");
	return CLI_OK;
}

static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	static const struct option options[] = {
		{"top", required_argument, NULL, 'n'}, {"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},     WHEN_OPTIONS,
		{"help", no_argument, NULL, 'h'},      {0}};
	int c, ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	while ((c = getopt_long(argc, argv, ":n:qh", options, NULL)) != -1) {
		ret = take_option(self, c, argv, o);
		if (ret || c == 'h')
			return ret;
	}
	if (argc - optind != 1)
		return cli_misuse(self, "one FUNCTION is wanted");
	ret = open_process_prefix(&o->open, self, argv + optind, 1);
	if (!ret)
		ret = check(self, o);
	o->function = argv[optind];
	*done = ret != CLI_OK;
	return ret;
}

/* ---- what is shown ---- */

static const struct ki_symbol *symbol_of(const struct run *r)
{
	return ki_paths_function(r->paths)->symbol;
}

/* How a path ends. buf: for a number. */
static const char *end_of(const struct run *r, const struct ki_path *path, char *buf, size_t len)
{
	const struct ki_function *fn = ki_paths_function(r->paths);

	if (path->end == KI_PATH_STOPS)
		return "no return";
	if (path->end == KI_PATH_LEAVES)
		return fn->edges[path->edge].kind == KI_EDGE_RETURN ? "return" : "jump";
	snprintf(buf, len, "back to %u", path->to);
	return buf;
}

/* "0 1 4-7 9". Free with free(). */
static char *blocks_text(const struct ki_path *path)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (uint32_t i = 0, k; i < path->nblocks; i = k) {
		for (k = i + 1; k < path->nblocks && path->blocks[k] == path->blocks[k - 1] + 1;)
			k++;
		fprintf(f, k - i > 2 ? "%s%u-%u" : "%s%u", i ? " " : "", path->blocks[i],
			path->blocks[k - 1]);
		if (k - i == 2)
			k--;
	}
	return fclose(f) ? NULL : text;
}

static int add_row(const struct run *r, const struct ki_path_count *c, struct ki_table *table)
{
	struct ki_path path;
	char *blocks, end[32];

	if (ki_path_of(ki_paths_numbers(r->paths), c->number, &path))
		return cli_error("a path was counted that there is not: %" PRIu64, c->number);
	blocks = blocks_text(&path);
	ki_table_cell(table, "%" PRIu64, c->count);
	ki_table_cell(table, "%.1f%%", 100.0 * (double)c->count / (double)r->counts.taken);
	ki_table_cell(table, "%" PRIu64, c->number);
	ki_table_cell(table, "%s", path.called ? "call" : "edge back");
	ki_table_cell(table, "%s", end_of(r, &path, end, sizeof(end)));
	ki_table_cell(table, "%s", blocks ? blocks : "");
	free(blocks);
	ki_path_free(&path);
	return blocks ? CLI_OK : cli_no_memory();
}

static int print_table(const struct run *r)
{
	static const struct ki_column columns[] = {
		{"COUNT", KI_ALIGN_RIGHT, 9},	 {"SHARE", KI_ALIGN_RIGHT, 0},
		{"PATH", KI_ALIGN_RIGHT, 0},	 {"BEGINS WITH", KI_ALIGN_LEFT, 0},
		{"ENDS WITH", KI_ALIGN_LEFT, 0}, {"BLOCKS", KI_ALIGN_LEFT, 0}};
	const struct ki_path_counts *c = &r->counts;
	struct ki_table *table;
	int ret = CLI_OK;

	if (ki_table_new(&table, columns, 6))
		return cli_no_memory();
	for (size_t i = 0; !ret && i < c->n && (!r->o->top || i < r->o->top); i++)
		ret = add_row(r, &c->v[i], table);
	if (!ret && ki_table_print(table, stdout, cli_bold(stdout)))
		ret = cli_error("writing failed");
	ki_table_free(table);
	return ret;
}

static void print_totals(const struct run *r)
{
	const struct ki_path_counts *c = &r->counts;

	fflush(stdout);
	cli_warn("%s:%s: %" PRIu64 " paths possible, %zu taken, %" PRIu64 " times; %" PRIu64
		 " calls, %" PRIu64 " left; %" PRIu64 " too deep, %" PRIu64
		 " paths lost; %zu probes",
		 cli_module(symbol_of(r)), symbol_of(r)->name,
		 ki_path_numbers_count(ki_paths_numbers(r->paths)), c->n, c->taken, c->begun,
		 c->left, c->deep, c->lost, ki_paths_probes(r->paths));
}

static int json_path(const struct run *r, const struct ki_path_count *c, struct ki_json *j)
{
	const struct ki_function *fn = ki_paths_function(r->paths);
	struct ki_path path;
	char end[32];

	if (ki_path_of(ki_paths_numbers(r->paths), c->number, &path))
		return cli_error("a path was counted that there is not: %" PRIu64, c->number);
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "path", c->number);
	ki_json_u64(j, "count", c->count);
	ki_json_str(j, "begins", path.called ? "call" : "edge back");
	ki_json_str(j, "ends",
		    path.end == KI_PATH_BACK ? "edge back" : end_of(r, &path, end, sizeof(end)));
	if (path.end == KI_PATH_BACK)
		ki_json_u64(j, "back_to", path.to);
	ki_json_open(j, "blocks", '[');
	for (uint32_t i = 0; i < path.nblocks; i++)
		ki_json_u64(j, NULL, path.blocks[i]);
	ki_json_close(j);
	ki_json_open(j, "offsets", '[');
	for (uint32_t i = 0; i < path.nblocks; i++)
		ki_json_u64(j, NULL, fn->blocks[path.blocks[i]].start - fn->start);
	ki_json_close(j);
	ki_json_close(j);
	ki_path_free(&path);
	return CLI_OK;
}

static int print_json(const struct run *r)
{
	const struct ki_path_counts *c = &r->counts;
	struct ki_json j;
	int ret = CLI_OK;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "function", symbol_of(r)->name);
	ki_json_str(&j, "module", cli_module(symbol_of(r)));
	ki_json_hex(&j, "address", symbol_of(r)->addr);
	ki_json_u64(&j, "possible", ki_path_numbers_count(ki_paths_numbers(r->paths)));
	ki_json_u64(&j, "probes", ki_paths_probes(r->paths));
	ki_json_u64(&j, "taken", c->taken);
	ki_json_u64(&j, "calls", c->begun);
	ki_json_u64(&j, "left", c->left);
	ki_json_u64(&j, "too_deep", c->deep);
	ki_json_u64(&j, "lost", c->lost);
	ki_json_open(&j, "paths", '[');
	for (size_t i = 0; !ret && i < c->n && (!r->o->top || i < r->o->top); i++)
		ret = json_path(r, &c->v[i], &j);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j) && !ret ? cli_error("writing failed") : ret;
}

/* What it has cost, and whether it has ended; the command always has. */
static void tell_process(const struct run *r)
{
	const struct ki_splice_process *s = ki_paths_process(r->paths);
	const pid_t pid = r->o->open.pid == OPEN_COMMAND ? r->command.pid : r->o->open.pid;

	process_warn_lost(s, pid);
	process_tell_cost(s, pid, r->o->open.pid != OPEN_COMMAND && process_has_ended(s));
}

static int show(struct run *r)
{
	struct ki_err err = {0};
	int ret;

	if (ki_paths_remove(r->paths, &err) || ki_paths_read(r->paths, &r->counts, &err))
		return cli_fail(&err);
	ret = r->o->json ? print_json(r) : print_table(r);
	if (r->o->quiet)
		return ret;
	print_totals(r);
	if (ki_paths_process(r->paths))
		tell_process(r);
	return ret;
}

/* ---- the measurement ---- */

static int begin(struct run *r, const struct verb *self, const struct ki_predicate *when)
{
	ki_selection chosen = {0};
	char *name = r->o->function;
	struct ki_err err = {0};
	int ret = select_functions(r->t, self, &name, 1, false, &chosen);

	if (!ret && chosen.n != 1)
		ret = cli_misuse(self, "'%s' names %zu functions: one is wanted", name, chosen.n);
	if (!ret && ki_paths_open(r->t, chosen.v[0].sym, when, &r->paths, &err))
		ret = cli_fail(&err);
	ki_vec_free(&chosen);
	return ret;
}

/* The kernel; a process; or the command, which is one when it has been started. */
static int open_what(struct run *r)
{
	struct open_options open = r->o->open;
	int ret = CLI_OK;

	if (open.pid == OPEN_COMMAND) {
		ret = run_reach_entry(&r->command, r->o->command, false);
		open.pid = r->command.pid;
	}
	return ret ? ret : open_or_fail(&open, &r->t);
}

/* Until the command, or somebody, or a process that is not the command has ended. */
static void watch(struct run *r)
{
	const struct ki_splice_process *s = ki_paths_process(r->paths);

	if (!s || r->o->command) {
		run_to_end(&r->command);
		return;
	}
	while (!process_has_ended(s) && run_wait(&r->command, wait_now() + LOOK) == EVENT_TIME)
		;
}

static int measure(struct run *r, const struct verb *self, const struct ki_predicate *when)
{
	int ret = open_what(r);

	if (!ret && !r->command.pid)
		ret = run_prepare(&r->command, r->o->command, false);
	if (!ret)
		ret = begin(r, self, when);
	if (ret)
		return ret;
	watch(r);
	ret = show(r);
	run_failed(&r->command);
	return run_status(&r->command, ret);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {.top = 20};
	struct run r = {.o = &o};
	struct ki_predicate *when = NULL;
	bool done;
	int ret = parse_options(self, argc, argv, &o, &done);

	if (!done)
		ret = when_predicate(&o.when, self, &when);
	if (!done && !ret) {
		wait_prepare();
		ret = measure(&r, self, when);
	}
	command_abandon(&r.command);
	ki_paths_close(r.paths);
	ki_target_close(r.t);
	free(r.counts.v);
	ki_predicate_free(when);
	when_free(&o.when);
	return ret;
}

const struct verb verb_paths = {
	.name = "paths",
	.summary = "how often each way through a function is taken",
	.usage = usage,
	.run = run,
};
