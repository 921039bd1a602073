// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst replace: calls of one function go to another one.
 *
 * Nobody can check that the two functions take and return the same: the kernel's code does not say.
 * So this says what it will do, and what can go wrong, before it does it.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "kerninst/splice.h"
#include "kerninst/match.h"
#include "open.h"

static const char usage[] =
	"Usage: kerninst replace [OPTION...] WHAT=FUNCTION... [-- COMMAND...]\n"
	"Let calls go to FUNCTION instead: while COMMAND runs, or until Ctrl-C.\n\n"
	"WHAT is\n"
	"  FUNCTION           all calls of it, direct or through pointers, of the kernel and modules\n"
	"  CALLER->FUNCTION   only the calls and jumps to it in the code of CALLER\n"
	"  CALLER+OFFSET      only this direct call or jump\n"
	"with MODULE: in front and @0xADDRESS behind if names are not enough.\n\n"
	"      --callers      of FUNCTION=: its direct calls by the kernel lead there where they stand,\n"
	"                     without a jump more; while FUNCTION is traced or patched they\n"
	"                     come by its entry\n"
	"  -n, --dry-run      say what would be replaced, and change nothing\n"
	"  -q, --quiet        no warning\n"
	"  -h, --help         this text\n\n"
	"DANGER: both functions must take the same arguments, return the same and keep the same locks.\n"
	"That cannot be checked. If they do not, the kernel crashes, or corrupts what it has.\n"
	"Calls that have begun end in the function they began in. Of several replacements of one\n"
	"function the one that was installed last counts, until it is taken out.\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system.\n\n"
	"Examples:\n"
	"  kerninst replace --dry-run mymod:old_hash=mymod:new_hash\n"
	"  kerninst replace 'vfs_read->rw_verify_area=mymod:verify' -- ./test\n";

struct options {
	bool dry_run, quiet, callers;
	char **what, **command; /* command NULL: none */
	int n;
};

struct run {
	const struct options *o;
	struct ki_target *t;
	struct ki_plan *plan;
	struct command command;
};

/* One argument, resolved. */
static int take_first(void *ctx, const struct ki_symbol *sym)
{
	const struct ki_symbol **out = ctx;

	if (!*out)
		*out = sym;
	return CLI_OK;
}

/* The one function that a text names; spec: what stands behind the name. */
static int one_function(struct run *r, const struct verb *self, const char *text,
			struct ki_pointspec *spec, const struct ki_symbol **out)
{
	const char *why;
	size_t count;
	int ret;

	if (ki_pointspec_parse(text, spec, &why))
		return cli_misuse(self, "'%s': %s", text, why);
	if (ki_pointspec_is_glob(spec->function) ||
	    (spec->suffix != KI_POINTSPEC_NONE && spec->suffix != KI_POINTSPEC_OFFSET))
		return cli_misuse(self, "'%s': one function, or FUNCTION+OFFSET", text);
	*out = NULL;
	ret = ki_match_each(r->t, spec, take_first, out, &count);
	if (ret)
		return ret;
	if (!count)
		return cli_nothing(r->t, spec);
	if (count > 1)
		return cli_error("%s: %zu functions have this name; pick one with %s@0xADDRESS: "
				 "kerninst list %s shows where they are",
				 text, count, text, text);
	return CLI_OK;
}

static int take_left(struct run *r, const struct verb *self, char *left, struct ki_replacement *w)
{
	char *arrow = strstr(left, "->");
	struct ki_pointspec spec;
	int ret;

	if (arrow)
		*arrow = '\0';
	ret = one_function(r, self, left, &spec, &w->in);
	if (ret || !arrow) {
		w->offset = spec.suffix == KI_POINTSPEC_OFFSET ? spec.number : 0;
		return ret;
	}
	if (spec.suffix != KI_POINTSPEC_NONE)
		return cli_misuse(self, "'%s': CALLER->FUNCTION or CALLER+OFFSET, not both",
				  w->text);
	ret = one_function(r, self, arrow + 2, &spec, &w->callee);
	if (!ret && spec.suffix != KI_POINTSPEC_NONE)
		return cli_misuse(self, "'%s': a function is called at its beginning", w->text);
	return ret;
}

/* A place that is planned. */
static void show(void *arg, const struct ki_replacement *w, const struct ki_place *place)
{
	const struct run *r = arg;

	if (!r->o->quiet || r->o->dry_run)
		fprintf(r->o->dry_run ? stdout : stderr,
			"%s %s+0x%" PRIx64 " (0x%" PRIx64 ")  ->  %s (0x%" PRIx64 ")\n",
			place->where == KI_TAKEN ? "call in" : "function", w->in->name,
			place->addr - w->in->addr, place->addr, w->to->name, w->to->addr);
}

static int take_apart(struct run *r, const struct verb *self, const char *text,
		      struct ki_replacement *w)
{
	char *copy = strdup(text), *equals = copy ? strchr(copy, '=') : NULL;
	struct ki_pointspec spec;
	int ret;

	*w = (struct ki_replacement){.text = text, .told = show, .arg = r};
	if (!copy)
		return cli_no_memory();
	if (!equals) {
		free(copy);
		return cli_misuse(self, "'%s': WHAT=FUNCTION", text);
	}
	*equals = '\0';
	ret = take_left(r, self, copy, w);
	if (!ret)
		ret = one_function(r, self, equals + 1, &spec, &w->to);
	if (!ret && spec.suffix != KI_POINTSPEC_NONE)
		ret = cli_misuse(self, "'%s': a replacement is a function", text);
	if (!ret && !w->callee && !w->offset && w->in->addr == w->to->addr)
		ret = cli_error("%s: a function cannot replace itself", text);
	free(copy);
	return ret;
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
	const struct open_options live = {0};
	const struct options *o = r->o;
	int ret = open_or_fail(&live, &r->t);

	if (!ret && ki_plan_new(&r->plan))
		ret = cli_no_memory();
	for (int i = 0; !ret && i < o->n; i++) {
		struct ki_replacement w;

		ret = take_apart(r, self, o->what[i], &w);
		if (!ret)
			ret = plan_one(r, &w);
	}
	if (ret || o->dry_run || !o->command)
		return ret;
	return run_prepare(&r->command, o->command, false);
}

static void say_gave_way(void *arg, const struct ki_symbol *of, size_t calls, bool away)
{
	const struct run *r = arg;

	if (!r->o->quiet)
		fprintf(stderr, "kerninst: %s is %s: %zu calls of it %s\n", of->name,
			away ? "traced or patched" : "not traced any more", calls,
			away ? "come by its entry meanwhile" : "lead to the replacement again");
}

static int give_way(void *arg)
{
	const struct run *r = arg;
	struct ki_err err = {0};

	return ki_plan_give_way(r->plan, r->t, say_gave_way, arg, &err) ? cli_fail(&err) : CLI_OK;
}

static int replace(struct run *r)
{
	const struct run_look look = {r->o->callers ? give_way : NULL, r};
	struct ki_err err = {0};
	int ret = give_way(r);

	if (ret)
		return ret;
	if (!r->o->quiet)
		fputs("kerninst: DANGER: whether these functions take and return the same cannot be "
		      "checked; if not, the kernel crashes\n",
		      stderr);
	if (ki_plan_apply(r->plan, r->t, false, &err))
		return cli_fail(&err);
	ret = run_looking(&r->command, &look);
	if (ki_plan_remove(r->plan, r->t, &err))
		return cli_fail(&err);
	run_failed(&r->command);
	return run_status(&r->command, ret);
}

static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	enum { OPT_CALLERS = 256 };
	static const struct option options[] = {{"callers", no_argument, NULL, OPT_CALLERS},
						{"dry-run", no_argument, NULL, 'n'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	while ((c = getopt_long(argc, argv, ":nqh", options, NULL)) != -1) {
		if (c == 'n')
			o->dry_run = true;
		else if (c == OPT_CALLERS)
			o->callers = true;
		else if (c == 'q')
			o->quiet = true;
		else
			return cli_other_option(self, c, argv);
	}
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
	ki_plan_free(r.plan);
	ki_target_close(r.t);
	return ret;
}

const struct verb verb_replace = {
	.name = "replace",
	.summary = "let calls of a function go to another one",
	.usage = usage,
	.run = run,
};
