// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst specialize: a version of a function for the value that one of its arguments mostly has.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "evolve.h"
#include "kerninst/evolve_text.h"
#include "kerninst/special_text.h"
#include "open.h"
#include "run.h"
#include "select.h"
#include "specialize.h"

enum { CLI_NOT_WORTH = 4 };

struct specialize {
	const struct verb *self;
	const struct specialize_options *o;
	struct ki_target *t;
	struct ki_special *version;
	struct command command;
};

/* The most frequent value: CLI_OK and *value. */
static int count_values(struct specialize *r, const struct ki_symbol *sym, uint64_t *value)
{
	struct command nothing = {0};
	const struct ki_special_watch w = {.sym = sym,
					   .argument = (unsigned int)r->o->argument,
					   .seconds = r->o->seconds,
					   .wait = evolve_wait,
					   .arg = &nothing};
	struct ki_special_value *v;
	struct ki_err err = {0};
	uint64_t calls;
	double share = 0;
	size_t n;

	if (ki_special_values(r->t, &w, &v, &n, &calls, &err))
		return cli_fail(&err);
	if (n) {
		share = ki_special_values_print(&w, v, n, calls, stdout);
		*value = v->value;
	}
	free(v);
	if (!n)
		cli_warn("%s was not called in %g s: let a load run", sym->name, r->o->seconds);
	else if (share < (double)r->o->share)
		cli_warn("that is below --share %zu", r->o->share);
	return n && share >= (double)r->o->share ? CLI_OK : CLI_NOT_WORTH;
}

static int make(struct specialize *r, const struct ki_symbol *sym)
{
	struct ki_special_request request = {.sym = sym,
					     .argument = (unsigned int)r->o->argument,
					     .value = (uint64_t)r->o->value,
					     .alone = r->o->alone,
					     .callers = r->o->callers};
	struct ki_err err = {0};
	int ret = r->o->given ? CLI_OK : count_values(r, sym, &request.value);

	if (ret)
		return ret;
	if (ki_special_new(r->t, &request, &r->version, &err)) {
		ret = cli_fail(&err);
		return err.code == -ENODATA ? CLI_NOT_WORTH : ret;
	}
	ki_special_print(r->version, &request, stdout);
	if (r->o->explain)
		ki_special_explain(r->version, stdout);
	return CLI_OK;
}

/* ---- better? ---- */

/* The one that is named, or the one that calls it most often now. */
static int find_judge(struct specialize *r, const struct ki_symbol **out)
{
	struct command nothing = {0};
	const struct ki_evolve_search how = {
		.seconds = EVOLVE_JUDGE_SECONDS, .wait = evolve_wait, .arg = &nothing};
	struct ki_err err = {0};
	int ret = evolve_named_judge(r->t, r->self, r->o->judge, out);

	if (ret || *out)
		return ret;
	if (ki_special_find_judge(r->version, &how, out, &err))
		return cli_fail(&err);
	return *out ? CLI_OK
		    : cli_error("%s: no caller was seen that can be measured: let a load run, or "
				"name a --judge",
				r->o->function);
}

/* Then it is in, or out. */
static int try_it(struct specialize *r)
{
	struct command nothing = {0};
	struct ki_evolve_trial t = {.metric = r->o->metric,
				    .windows = r->o->windows,
				    .seconds = r->o->window,
				    .wait = evolve_wait,
				    .arg = &nothing};
	struct ki_evolve_verdict d;
	struct ki_symbol judge = {0};
	struct ki_err err = {0};
	char name[128];
	int ret = find_judge(r, &t.judge);

	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%s", t.judge->name); /* it is another symbol then */
	if (ki_special_try_judge(r->version, &t, &d, &err))
		return cli_fail(&err);
	judge.name = name;
	t.judge = &judge;
	ki_evolve_verdict_print(&t, &d, stdout);
	if (d.better)
		return CLI_OK;
	if (ki_special_undo(r->version, &err)) {
		if (err.code != -EBUSY)
			return cli_fail(&err);
		cli_warn("%s", err.msg); /* nothing leads there any more */
	}
	return CLI_NOT_WORTH;
}

/* ---- it is in ---- */

static int put_in(struct specialize *r)
{
	struct ki_err err = {0};

	if (r->o->trial)
		return try_it(r);
	return ki_special_install(r->version, &err) ? cli_fail(&err) : CLI_OK;
}

static int give_way(void *arg)
{
	const struct specialize *r = arg;
	struct ki_err err = {0};

	return ki_special_give_way(r->version, &err) ? cli_fail(&err) : CLI_OK;
}

static int wait_for_end(struct specialize *r)
{
	const struct run_look look = {r->o->callers ? give_way : NULL, r};
	struct ki_special_facts f;

	ki_special_facts(r->version, &f);
	if (r->o->callers)
		ki_special_calls_print(r->version, stdout);
	if (r->o->keep)
		printf("%s is in, kept by process %d: kerninst evolve --undo ends it\n", f.name,
		       getpid());
	else if (!r->o->command)
		printf("%s is in, until Ctrl-C\n", f.name);
	fflush(stdout);
	if (r->o->keep) {
		evolve_tell(CLI_OK);
		evolve_stay(r->o->callers ? &look : NULL);
		return CLI_OK;
	}
	return run_looking(&r->command, &look);
}

static int run_with_it(struct specialize *r)
{
	struct ki_err err = {0};
	int ret = put_in(r);

	if (ret)
		return ret;
	ret = wait_for_end(r);
	if (ki_special_undo(r->version, &err))
		return cli_fail(&err);
	run_failed(&r->command);
	return run_status(&r->command, ret);
}

/* ---- */

static int one_function(struct specialize *r, const struct ki_symbol **out)
{
	const struct open_options live = {0};
	ki_selection v = {0};
	char *name = r->o->function;
	int ret = open_or_fail(&live, &r->t);

	if (!ret)
		ret = select_functions(r->t, r->self, &name, 1, false, &v);
	if (!ret && v.n != 1)
		ret = cli_misuse(r->self, "'%s': one function is expected, these are %zu", name,
				 v.n);
	if (!ret)
		*out = v.v[0].sym;
	ki_vec_free(&v);
	return ret;
}

static int specialize(struct specialize *r)
{
	const struct ki_symbol *sym;
	int ret = one_function(r, &sym);

	if (!ret)
		ret = make(r, sym);
	if (ret || r->o->dry_run)
		return ret;
	if (r->o->command)
		ret = run_prepare(&r->command, r->o->command, false);
	return ret ? ret : run_with_it(r);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct specialize_options o = {
		.seconds = 5, .share = 20, .windows = 5, .window = 1, .metric = "vtime/call"};
	struct specialize r = {.o = &o, .self = self};
	int ret;

	if (!specialize_parse(self, argc, argv, &o, &ret))
		return ret;
	ret = o.keep && !o.dry_run ? evolve_leave() : CLI_OK;
	wait_prepare();
	if (!ret)
		ret = specialize(&r);
	evolve_tell(ret);
	command_abandon(&r.command);
	ki_special_free(r.version);
	ki_target_free(r.t);
	return ret;
}

const struct verb verb_specialize = {
	.name = "specialize",
	.summary = "a version of a function for a frequent value of an argument",
	.usage = specialize_usage,
	.run = run,
};
