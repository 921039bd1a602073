// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst evolve: lay functions of the running kernel out anew, by how they are used.
 */
#include "evolve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "kerninst/coverage.h"
#include "kerninst/evolve_text.h"
#include "open.h"
#include "points.h"
#include "select.h"

enum { CLI_NOT_BETTER = 4 };

struct run {
	const struct evolve_options *o;
	const struct verb *self;
	struct ki_target *t;
	ki_selection chosen;
	struct ki_coverage *profile;
	struct ki_evolve *evolve;
	const struct ki_symbol *first; /* that is laid out */
	size_t n;
	struct command nothing;
};

/* ---- the profile ---- */

static int save(const struct run *r)
{
	FILE *f = r->o->save ? fopen(r->o->save, "w") : NULL;
	int ret;

	if (!r->o->save)
		return CLI_OK;
	if (!f)
		return cli_error("%s: %s", r->o->save, strerror(errno));
	ret = ki_coverage_write_json(r->profile, f);
	if (fclose(f) && !ret)
		ret = -errno;
	return ret ? cli_error("%s: %s", r->o->save, strerror(-ret)) : CLI_OK;
}

static int count(struct run *r, const struct ki_symbol **syms)
{
	const struct ki_evolve_search how = {.n = r->chosen.n,
					     .seconds = r->o->seconds,
					     .wait = evolve_wait,
					     .arg = &r->nothing};
	struct ki_err err = {0};
	int ret;

	for (size_t i = 0; i < r->chosen.n; i++)
		syms[i] = r->chosen.v[i].sym;
	ret = ki_evolve_profile(r->t, syms, &how, &r->profile, &err);
	return ret ? cli_fail(&err) : save(r);
}

static int profile(struct run *r)
{
	const struct ki_symbol **syms;
	struct ki_err err = {0};
	int ret;

	if (r->o->from)
		return ki_coverage_read_json(r->o->from, &r->profile, &err) ? cli_fail(&err)
									    : CLI_OK;
	syms = calloc(r->chosen.n + 1, sizeof(*syms));
	ret = syms ? count(r, syms) : cli_no_memory();
	free(syms);
	return ret;
}

/* Functions that cannot be profiled are passed over. */
static int find_hottest(struct run *r)
{
	const struct ki_evolve_search how = {.n = r->o->hottest,
					     .seconds = r->o->seconds,
					     .wait = evolve_wait,
					     .arg = &r->nothing};
	struct ki_evolve_hot *v;
	struct ki_err err = {0};
	size_t n;
	int ret;

	if (ki_evolve_hottest(r->t, &how, &v, &n, &err))
		return cli_fail(&err);
	ret = ki_vec_reserve(&r->chosen, n) ? cli_no_memory() : CLI_OK;
	for (size_t i = 0; i < n && !ret; i++)
		r->chosen.v[r->chosen.n++] =
			(struct ki_selected){.sym = v[i].sym, .from = v[i].sym->addr};
	free(v);
	if (ret)
		return ret;
	ki_selection_sort(&r->chosen);
	return r->chosen.n ? CLI_OK
			   : cli_error("--hottest: the kernel had nothing to do; let a load run");
}

/* ---- choosing ---- */

/* Functions that cannot be laid out are left out, if there are others. */
static int choose(struct run *r)
{
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (ki_evolve_new(r->t, &r->o->choice, &r->evolve, &err))
		return cli_fail(&err);
	for (size_t i = 0; i < r->chosen.n; i++) {
		const struct ki_symbol *sym = r->chosen.v[i].sym;
		struct ki_evolve_forecast f;

		if (ki_evolve_add(r->evolve, r->profile, sym, &f, &err)) {
			ret = cli_fail(&err);
			continue;
		}
		if (r->o->explain || r->o->dry_run)
			ki_evolve_forecast_print(sym, &f, stdout);
		r->first = r->first ? r->first : sym;
		r->n++;
	}
	return r->n ? CLI_OK : ret ? ret : CLI_ERROR;
}

/* ---- better? ---- */

int evolve_named_judge(struct ki_target *t, const struct verb *self, const char *name,
		       const struct ki_symbol **out)
{
	ki_selection named = {0};
	int ret;

	if (!name)
		return CLI_OK;
	ret = select_named(t, self, name, false, &named);
	ki_selection_sort(&named);
	if (!ret && named.n != 1)
		ret = cli_misuse(self, "--judge '%s': one function is expected, these are %zu",
				 name, named.n);
	if (!ret)
		*out = named.v[0].sym;
	ki_vec_free(&named);
	return ret;
}

static int judge(struct run *r, const struct ki_evolve_trial *t)
{
	struct ki_evolve_verdict d;
	struct ki_err err = {0};

	if (ki_evolve_try_judge(r->evolve, t, &d, &err))
		return cli_fail(&err);
	ki_evolve_verdict_print(t, &d, stdout);
	if (d.better)
		return CLI_OK;
	return ki_evolve_undo(r->evolve, &err) ? cli_fail(&err) : CLI_NOT_BETTER;
}

/* Nobody has named one: a caller that is not laid out. */
static int find_judge(struct run *r, const struct ki_symbol **out)
{
	const struct ki_evolve_search how = {
		.seconds = EVOLVE_JUDGE_SECONDS, .wait = evolve_wait, .arg = &r->nothing};
	struct ki_err err = {0};

	if (ki_evolve_find_judge(r->evolve, &how, out, &err))
		return cli_fail(&err);
	if (*out)
		return CLI_OK;
	*out = r->first;
	cli_warn("%s: judges itself, because no caller was seen that is not laid out; its inserted "
		 "code costs two jumps less in a layout: name a --judge",
		 r->first->name);
	return CLI_OK;
}

static int put_in(struct run *r)
{
	struct ki_evolve_trial t = {.metric = r->o->metric,
				    .windows = r->o->windows,
				    .seconds = r->o->window,
				    .wait = evolve_wait,
				    .arg = &r->nothing};
	struct ki_err err = {0};
	int ret;

	if (r->o->always)
		return ki_evolve_install(r->evolve, &err) ? cli_fail(&err) : CLI_OK;
	ret = evolve_named_judge(r->t, r->self, r->o->judge, &t.judge);
	if (!ret && !t.judge)
		ret = find_judge(r, &t.judge);
	return ret ? ret : judge(r, &t);
}

/* ---- */

static void tell_layout(const struct run *r)
{
	size_t n = ki_evolve_retargeted(r->evolve);

	ki_evolve_aside_print(r->evolve, r->o->explain, stdout);
	if (r->o->choice.retarget)
		printf("%zu call%s by others lead%s there\n", n, n == 1 ? "" : "s",
		       n == 1 ? "s" : "");
}

static int dry_run(struct run *r)
{
	struct ki_err err = {0};

	if (ki_evolve_check(r->evolve, &err))
		return cli_fail(&err);
	r->n -= ki_evolve_warn_refused(r->evolve, cli_listener(true));
	tell_layout(r);
	return CLI_OK;
}

static int take_out(struct run *r)
{
	struct ki_err err = {0};

	return ki_evolve_undo(r->evolve, &err) ? cli_fail(&err) : CLI_OK;
}

static int stay(struct run *r)
{
	r->n -= ki_evolve_warn_refused(r->evolve, cli_listener(true));
	tell_layout(r);
	ki_evolve_pages_print(r->t, stdout);
	if (r->o->keep) {
		printf("%zu function%s laid out, kept by process %d: kerninst evolve --undo ends it\n",
		       r->n, r->n == 1 ? " is" : "s are", getpid());
		evolve_tell(CLI_OK);
		evolve_stay(NULL);
	} else {
		printf("%zu function%s laid out, until Ctrl-C\n", r->n,
		       r->n == 1 ? " is" : "s are");
		fflush(stdout);
		wait_event(&r->nothing, -1);
	}
	return take_out(r);
}

static int evolve(struct run *r)
{
	const struct open_options live = {0};
	int ret = open_or_fail(&live, &r->t);

	if (!ret && r->o->hottest)
		ret = find_hottest(r);
	else if (!ret)
		ret = select_functions(r->t, r->self, r->o->what, r->o->n, false, &r->chosen);
	if (!ret)
		ret = profile(r);
	if (!ret)
		ret = choose(r);
	if (!ret && r->o->dry_run)
		return dry_run(r);
	if (!ret)
		ret = put_in(r);
	return ret ? ret : stay(r);
}

/* Who stays, and what is laid out; or end those who stay. */
static int kept(bool list)
{
	struct ki_err err = {0};
	struct ki_target *t;
	size_t n = 1;
	int ret = CLI_OK;

	if (ki_target_new_live(&t, &err))
		return cli_fail(&err);
	if (list)
		ki_evolve_list(t, stdout);
	else if (ki_evolve_undo_all(t, &n, &err))
		ret = cli_fail(&err);
	if (!n)
		puts("nothing is laid out");
	ki_target_free(t);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct evolve_options o = {
		.seconds = 10,
		.window = 1,
		.windows = 5,
		.metric = "vtime/call",
		.hot = 20,
		.budget = 0.005,
		.again = 10,
		.choice = {.policy = ki_lay_ext_tsp, .cache = ki_evolve_code_cache()}};
	struct run r = {.o = &o, .self = self};
	bool done;
	int ret = evolve_parse(self, argc, argv, &o, &done);

	if (done)
		return ret;
	if (o.list || o.undo)
		return kept(o.list);
	if (o.watch)
		return evolve_watch(self, &o);
	if (o.keep)
		ret = evolve_leave();
	wait_prepare();
	if (!ret)
		ret = evolve(&r);
	evolve_tell(ret);
	ki_evolve_free(r.evolve);
	ki_coverage_free(r.profile);
	ki_vec_free(&r.chosen);
	ki_target_free(r.t);
	return ret;
}

const struct verb verb_evolve = {
	.name = "evolve",
	.summary = "lay hot code out anew, measure, keep what is better",
	.usage = evolve_usage,
	.run = run,
};
