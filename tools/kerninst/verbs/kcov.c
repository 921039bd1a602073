// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst kcov: blocks record themselves for programs that use the kernel's KCOV interface. Those
 * programs know nothing of this; the driver has the file that they open.
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "kerninst/kcov_places.h"
#include "open.h"
#include "points.h"
#include "run.h"
#include "select.h"

#define KCOV_FILE "/sys/kernel/debug/kcov"

static const char usage[] =
	"Usage: kerninst kcov [OPTION...] [FUNCTION...] [-- COMMAND...]\n"
	"Let each basic block of these functions record itself for KCOV, while COMMAND runs, or until\n"
	"Ctrl-C: programs that use " KCOV_FILE ", this COMMAND or others, then find\n"
	"there what the kernel's documentation (dev-tools/kcov) promises. Other tasks pay two to four\n"
	"instructions a block, and as many a comparison.\n\n"
	"FUNCTION is [MODULE:]NAME, a glob too, or an ADDRESS.\n\n"
	"  -a, --all          all functions of the kernel and its modules, but those that KCOV leaves\n"
	"                     out because what they do does not depend on the system call: scheduler,\n"
	"                     locks, RCU, interrupts, timers, memory management's core, tracing\n"
	"  -c, --comparisons  comparisons record themselves too, for who enables KCOV_TRACE_CMP\n"
	"  -x, --exclude GLOB not these functions, of those named or of all; may be given again\n"
	"      --no-move      leave functions where they are: each block costs two jumps\n"
	"      --list FILE    write which places are recorded: address as KCOV has it, address,\n"
	"                     function+offset, \"comparison\" if it is one\n"
	"  -n, --dry-run      say what would be installed, and change nothing\n"
	"  -q, --quiet        only errors\n"
	"  -h, --help         this text\n\n"
	"Recorded is the address of the block's first instruction, minus how far KASLR has moved the\n"
	"kernel: what addr2line wants of vmlinux; of a comparison that of its cmp or test. Remote\n"
	"coverage is not supported: KCOV_REMOTE_ENABLE says ENOTTY.\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system.\n\n"
	"Examples:\n"
	"  kerninst kcov '__x64_sys_*' 'ksys_*' 'vfs_*' 'ext4:*' -- ./fuzzer\n"
	"  kerninst kcov --comparisons 'do_sys_*' 'ksys_*' -- ./fuzzer\n"
	"  kerninst kcov --all -n\n";

struct options {
	bool all, dry_run, quiet;
	const char *list;
	char **functions, **command; /* command NULL: none */
	int n;
	ki_vec(const char *) without;
};

struct run {
	const struct options *o;
	struct ki_target *t;
	ki_vec(const struct ki_symbol *) functions;
	struct ki_kcov_places places;
	struct command command;
	struct ki_err err;
};

/* ---- which functions ---- */

static bool is_left_out(const struct options *o, const struct ki_symbol *sym)
{
	for (size_t i = 0; i < o->without.n; i++)
		if (!fnmatch(o->without.v[i], sym->name, 0))
			return true;
	return o->all && ki_kcov_is_by_chance(sym);
}

static int choose(struct run *r, const struct verb *self)
{
	const struct options *o = r->o;
	ki_selection v = {0};
	int ret = select_chosen(r->t, self, o->all, o->functions, o->n, &v);

	for (size_t i = 0; !ret && i < v.n; i++)
		if (!is_left_out(o, v.v[i].sym) && ki_vec_push(&r->functions, v.v[i].sym))
			ret = cli_no_memory();
	ki_vec_free(&v);
	return ret;
}

/* ---- the measurement ---- */

static int write_list(struct run *r)
{
	FILE *out = fopen(r->o->list, "we");
	bool failed;

	if (!out)
		return cli_error("%s: %s", r->o->list, strerror(errno));
	ki_kcov_list(&r->places, r->t, out);
	failed = ferror(out);
	return fclose(out) || failed ? cli_error("%s: writing failed", r->o->list) : CLI_OK;
}

/* Until the command has ended, or somebody has had enough. */
static int watch(struct run *r)
{
	int ret;

	run_to_end(&r->command);
	ret = run_failed(&r->command);
	if (ki_kcov_take_out(&r->places, r->t, &r->err) && !ret)
		ret = cli_fail(&r->err);
	return run_status(&r->command, ret);
}

static int record(struct run *r)
{
	const struct options *o = r->o;
	int ret = CLI_OK;

	if (access(KCOV_FILE, F_OK) && !o->dry_run) {
		cli_warn(KCOV_FILE ": %s; is debugfs mounted?", strerror(errno));
		return CLI_ENVIRONMENT;
	}
	if (ki_kcov_put_in(&r->places, r->t, o->dry_run, cli_listener(o->quiet), &r->err))
		return cli_fail(&r->err);
	if (!o->quiet || o->dry_run)
		ki_kcov_tell(&r->places, o->dry_run, cli_listener(true));
	if (o->list)
		ret = write_list(r);
	if (o->dry_run)
		return ret;
	if (ret) {
		ki_kcov_take_out(&r->places, r->t, NULL);
		return ret;
	}
	return watch(r);
}

static int prepare(struct run *r, const struct verb *self)
{
	const struct open_options live = {0};
	const struct options *o = r->o;
	int ret = open_or_fail(&live, &r->t);

	if (!ret)
		ret = choose(r, self);
	if (!ret && !r->functions.n)
		return cli_error("all of these functions are left out");
	if (!ret && ki_kcov_add_functions(&r->places, r->t, r->functions.v, r->functions.n,
					  cli_listener(o->quiet), &r->err))
		ret = cli_fail(&r->err);
	if (ret || o->dry_run || !o->command)
		return ret;
	return run_prepare(&r->command, o->command, false);
}

/* ---- options ---- */

static int take_without(const void *self, const char *glob, void *to)
{
	struct options *o = to;

	(void)self;
	return ki_vec_push(&o->without, glob) ? cli_no_memory() : CLI_OK;
}

static int parse(const struct verb *self, int argc, char **argv, struct options *o, struct run *r)
{
	bool no_move = false;
	const struct ki_option rows[] = {{"all", 'a', NULL, &o->all},
					 {"comparisons", 'c', NULL, &r->places.comparisons},
					 {"exclude", 'x', take_without, o},
					 {"no-move", 0, NULL, &no_move},
					 {"list", 0, cli_text, &o->list},
					 {"dry-run", 'n', NULL, &o->dry_run},
					 {"quiet", 'q', NULL, &o->quiet}};
	int ret;

	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret ? ret : -1;
	r->places.move = !no_move;
	o->functions = argv + optind;
	o->n = argc - optind;
	if (o->all == (o->n > 0))
		return cli_misuse(self, "functions, or --all");
	return CLI_OK;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {0};
	struct run r = {.o = &o};
	int ret = parse(self, argc, argv, &o, &r);

	if (!ret) {
		wait_prepare();
		ret = prepare(&r, self);
		if (!ret)
			ret = record(&r);
		command_abandon(&r.command);
	}
	ki_kcov_places_free(&r.places);
	ki_vec_free(&r.functions);
	ki_vec_free(&o.without);
	ki_target_free(r.t);
	return ret < 0 ? CLI_OK : ret;
}

const struct verb verb_kcov = {
	.name = "kcov",
	.summary = "let blocks record themselves for programs that use KCOV",
	.usage = usage,
	.run = run,
};
