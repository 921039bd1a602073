// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst replace: calls of one function go to another one, in the kernel or in a process.
 *
 * Nobody can check that the two functions take and return the same: their code does not say.
 * So this says what it will do, and what can go wrong, before it does it.
 */
#include <errno.h>

#include "cli.h"
#include "kerninst/process.h"
#include "kerninst/process_points.h"
#include "kerninst/replacement_text.h"
#include "kerninst/special_text.h"
#include "open.h"
#include "points.h"
#include "run.h"

static const char usage[] =
	"Usage: kerninst replace [OPTION...] WHAT=FUNCTION... [-- COMMAND...]\n"
	"Let calls go to FUNCTION instead: while COMMAND runs, or until Ctrl-C.\n\n"
	"WHAT is\n"
	"  FUNCTION           all calls of it, direct or through pointers, of the kernel and modules\n"
	"  CALLER->FUNCTION   only the calls and jumps to it in the code of CALLER\n"
	"  CALLER+OFFSET      only this direct call or jump\n"
	"with MODULE: in front and @0xADDRESS behind if names are not enough. PID/ before all that:\n"
	"both functions are of that process, its program or a library; command/: of COMMAND's.\n\n"
	"      --callers      of FUNCTION=: its direct calls by the kernel lead there where they stand,\n"
	"                     without a jump more; while FUNCTION is traced or patched they\n"
	"                     come by its entry\n"
	"  -n, --dry-run      say what would be replaced, and change nothing\n"
	"  -q, --quiet        no warning\n"
	"  -h, --help         this text\n\n"
	"DANGER: both functions must take the same arguments, return the same and keep the same locks.\n"
	"That cannot be checked. If they do not, the kernel (or process) crashes, or corrupts what it has.\n"
	"Calls that have begun end in the function they began in. Of several replacements of one\n"
	"function the one that was installed last counts, until it is taken out.\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system.\n\n"
	"Examples:\n"
	"  kerninst replace --dry-run mymod:old_hash=mymod:new_hash\n"
	"  kerninst replace 'vfs_read->rw_verify_area=mymod:verify' -- ./test\n"
	"  kerninst replace 1234/libc.so.6:getppid=libc.so.6:getpid\n";

struct options {
	bool dry_run, quiet, callers;
	char **what, **command; /* command NULL: none */
	int n;
};

struct run {
	const struct options *o;
	struct open_options open;
	struct ki_target *t;
	struct ki_plan *plan;
	struct ki_splice_process *process; /* what is in it; NULL: nothing, or it is the kernel */
	bool unmapped;			   /* a function that stands for another is gone */
	struct command command;
};

/* A place that is planned. */
static void show(void *arg, const struct ki_replacement *w, const struct ki_place *place)
{
	const struct run *r = arg;

	if (!r->o->quiet || r->o->dry_run)
		ki_replacement_print(w, place, r->o->dry_run ? stdout : stderr);
}

static int plan_one(struct run *r, const struct ki_replacement *w)
{
	struct ki_err err = {0};
	size_t n;

	if (ki_plan_replacement(r->plan, r->t, w, &err))
		return cli_fail(&err);
	if (!r->o->callers)
		return CLI_OK;
	if (ki_plan_replace_callers(r->plan, r->t, w, &n, &err))
		return cli_fail(&err);
	if (!n && !r->o->quiet)
		cli_warn("%s: no direct call of it can be changed where it stands", w->text);
	return CLI_OK;
}

static int prepare(struct run *r, const struct verb *self)
{
	const struct options *o = r->o;
	int ret = open_process_prefix(&r->open, self, o->what, o->n);

	if (!ret && r->open.pid && o->callers)
		ret = cli_misuse(self, "--callers: that is not built for processes yet");
	if (!ret && r->open.pid == OPEN_COMMAND && !o->command)
		ret = cli_misuse(self, "command/FUNCTION: the command stands behind --");
	if (!ret)
		ret = run_open(&r->open, &r->command, o->command, &r->t);
	if (!ret && ki_plan_new(&r->plan))
		ret = cli_no_memory();
	for (int i = 0; !ret && i < o->n; i++) {
		struct ki_replacement w = {.told = show, .arg = r};
		char why[KI_MATCH_WHY] = "";
		struct ki_err err = {0};

		ret = ki_replacement_parse(r->t, o->what[i], &w, why, &err);
		if (ret == -EINVAL && !err.reason)
			ret = cli_misuse(self, "%s", err.msg);
		else if (ret)
			ret = *why ? cli_error("%s", why) : cli_fail(&err);
		else
			ret = plan_one(r, &w);
	}
	if (ret || o->dry_run || !o->command || r->open.pid == OPEN_COMMAND)
		return ret;
	return run_prepare(&r->command, o->command, false);
}

static void say_gave_way(void *arg, const struct ki_symbol *of, size_t calls, bool away)
{
	const struct run *r = arg;

	if (!r->o->quiet)
		ki_replacement_warn_way(of, calls, away, cli_listener(true));
}

static int give_way(void *arg)
{
	const struct run *r = arg;
	struct ki_err err = {0};

	return ki_plan_give_way(r->plan, r->t, say_gave_way, arg, &err) ? cli_fail(&err) : CLI_OK;
}

/* Without a command it is over when the process is, or nothing is left in it. */
static int look_in(void *arg)
{
	struct run *r = arg;
	bool ended;

	r->unmapped |= ki_process_points_unmapped(r->t, r->process, r->plan, cli_listener(true));
	ended = r->unmapped || ki_process_points_ended(r->process);
	return ended && !r->o->command ? CLI_ERROR : CLI_OK;
}

static int replace(struct run *r)
{
	const bool alone = r->open.pid && !r->o->command;
	const struct run_look look = {r->o->callers ? give_way : (r->open.pid ? look_in : NULL), r};
	struct ki_err err = {0};
	int ret = r->open.pid ? CLI_OK : give_way(r);

	if (ret)
		return ret;
	if (!r->o->quiet)
		fprintf(stderr,
			"kerninst: DANGER: whether these functions take and return the same "
			"cannot be checked; if not, the %s crashes\n",
			r->open.pid ? "process" : "kernel");
	if (r->open.pid ? ki_process_new_whole(r->t, r->plan, 0, &r->process, &err)
			: ki_plan_apply(r->plan, r->t, false, &err))
		return cli_fail(&err);
	ret = run_looking(&r->command, &look);
	if (alone && ret && !r->unmapped)
		cli_warn("process %d has ended", (int)r->open.pid);
	if (r->process ? ki_process_remove(r->process, &err) : ki_plan_remove(r->plan, r->t, &err))
		return cli_fail(&err);
	run_failed(&r->command);
	return r->unmapped ? CLI_ERROR : run_status(&r->command, alone ? CLI_OK : ret);
}

static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	const struct ki_option rows[] = {{"callers", 0, NULL, &o->callers},
					 {"dry-run", 'n', NULL, &o->dry_run},
					 {"quiet", 'q', NULL, &o->quiet}};
	int ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	o->what = argv + optind;
	o->n = argc - optind;
	if (!o->n)
		return cli_misuse(self, "nothing to replace is given");
	*done = false;
	return CLI_OK;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {0};
	struct run r = {.o = &o};
	bool done;
	int ret;

	ret = parse_options(self, argc, argv, &o, &done);
	if (done)
		return ret;
	wait_prepare();
	ret = prepare(&r, self);
	if (!ret && !o.dry_run)
		ret = replace(&r);
	command_abandon(&r.command);
	ki_process_free(r.process);
	ki_plan_free(r.plan);
	ki_target_free(r.t);
	return ret;
}

const struct verb verb_replace = {
	.name = "replace",
	.summary = "let calls of a function go to another one",
	.usage = usage,
	.run = run,
};
