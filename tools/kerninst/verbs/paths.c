// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst paths: how often each way through a function is taken.
 */
#include <stdlib.h>

#include "kerninst/path_table.h"
#include "open.h"
#include "points.h"
#include "run.h"
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

static int take_top(const void *self, const char *text, void *to)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > UINT32_MAX)
		return cli_misuse(self, "--top '%s': a number of paths, or 0 for all", text);
	*(uint32_t *)to = (uint32_t)n;
	return CLI_OK;
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
	const struct ki_option rows[] = {{"top", 'n', take_top, &o->top},
					 {"json", 0, NULL, &o->json},
					 {"quiet", 'q', NULL, &o->quiet},
					 WHEN_ROWS(o->when)};
	int ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
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

/* What it has cost, and whether it has ended; the command always has. */
static void tell_process(const struct run *r)
{
	const struct ki_splice_process *s = ki_paths_process(r->paths);
	const pid_t pid = r->o->open.pid == OPEN_COMMAND ? r->command.pid : r->o->open.pid;

	process_warn_lost(s, pid);
	process_tell_cost(s, pid, r->o->open.pid != OPEN_COMMAND && ki_process_points_ended(s));
}

static int show(struct run *r)
{
	struct ki_page page = cli_page();
	struct ki_err err = {0};
	int ret = CLI_OK;

	page.json = r->o->json;
	if (ki_paths_remove(r->paths, &err) || ki_paths_read(r->paths, &r->counts, &err))
		return cli_fail(&err);
	if (ki_paths_show(r->paths, &r->counts, r->o->top, &page, &err))
		ret = cli_fail(&err);
	if (r->o->quiet)
		return ret;
	ki_paths_tell(r->paths, &r->counts, cli_listener(true));
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
	if (!ret && ki_paths_new(r->t, chosen.v[0].sym, when, &r->paths, &err))
		ret = cli_fail(&err);
	ki_vec_free(&chosen);
	return ret;
}

/* Until the command, or somebody, or a process that is not the command has ended. */
static void watch(struct run *r)
{
	const struct ki_splice_process *s = ki_paths_process(r->paths);

	if (!s || r->o->command) {
		run_to_end(&r->command);
		return;
	}
	while (!ki_process_points_ended(s) &&
	       run_wait(&r->command, wait_now() + LOOK) == EVENT_TIME)
		;
}

static int measure(struct run *r, const struct verb *self, const struct ki_predicate *when)
{
	int ret = run_open(&r->o->open, &r->command, r->o->command, &r->t);

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
	ki_paths_free(r.paths);
	ki_target_free(r.t);
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
