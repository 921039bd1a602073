// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst evolve --watch: it goes on by itself, and says what it does, a line for each.
 */
#include "evolve.h"

#include <string.h>
#include <sys/prctl.h>

#include "command.h"
#include "open.h"
#include "out/json.h"

#define WATCH_HOTTEST 8

struct watch {
	const struct evolve_options *o;
	struct timespec start;
};

static const struct {
	const char *name, *text;
} news[] = {
	[KI_EVOLVE_KEPT] = {"kept", "better, kept"},
	[KI_EVOLVE_DROPPED] = {"dropped", "no difference is proved, taken out"},
	[KI_EVOLVE_CONFIRMED] = {"confirmed", "measured again, stays"},
	[KI_EVOLVE_UNDONE] = {"undone", "not better any more, taken out"},
	[KI_EVOLVE_REFUSED] = {"refused", "passed over"},
	[KI_EVOLVE_RESTS] = {"rests", "at rest"},
};

static const char *text_of(const struct ki_evolve_notice *n)
{
	if (n->news == KI_EVOLVE_DROPPED && n->verdict->worse)
		return "worse, taken out";
	return news[n->news].text;
}

static void print_line(const struct watch *w, const struct ki_evolve_notice *n)
{
	printf("%9.3f s  ", cli_since(&w->start));
	if (n->sym)
		printf("%s%s%s: ", n->sym->module, *n->sym->module ? ":" : "", n->sym->name);
	if (n->what && n->functions > 1)
		printf("%s of %zu: ", n->what, n->functions);
	else if (n->what)
		printf("%s: ", n->what);
	printf("%s", text_of(n));
	if (n->verdict)
		printf("; %s %.4g, then %.4g: %+.2f %% to %+.2f %% (95 %%)", w->o->metric,
		       n->verdict->before, n->verdict->after, 100 * n->verdict->low,
		       100 * n->verdict->high);
	if (n->err)
		printf("; %s", n->err->msg);
	if (n->news == KI_EVOLVE_RESTS)
		printf(" for %.0f s; %zu idea%s in", n->seconds, n->kept,
		       n->kept == 1 ? " is" : "s are");
	putchar('\n');
}

static void print_json(const struct watch *w, const struct ki_evolve_notice *n)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_double(&j, "time", cli_since(&w->start));
	ki_json_str(&j, "news", news[n->news].name);
	ki_json_str(&j, "module", n->sym ? n->sym->module : NULL);
	ki_json_str(&j, "function", n->sym ? n->sym->name : NULL);
	ki_json_str(&j, "idea", n->what);
	if (n->what)
		ki_json_u64(&j, "functions", n->functions);
	ki_json_u64(&j, "kept", n->kept);
	if (n->verdict) {
		ki_json_str(&j, "metric", w->o->metric);
		ki_json_double(&j, "before", n->verdict->before);
		ki_json_double(&j, "after", n->verdict->after);
		ki_json_double(&j, "low", n->verdict->low);
		ki_json_double(&j, "high", n->verdict->high);
	}
	if (n->news == KI_EVOLVE_RESTS)
		ki_json_double(&j, "seconds", n->seconds);
	ki_json_str(&j, "why", n->err ? n->err->msg : NULL);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void tell(void *arg, const struct ki_evolve_notice *n)
{
	const struct watch *w = arg;

	(w->o->json ? print_json : print_line)(w, n);
	fflush(stdout);
}

static bool wait_seconds(void *arg, double seconds)
{
	return wait_event(arg, wait_now() + seconds) == EVENT_TIME;
}

int evolve_watch(const struct verb *self, const struct evolve_options *o)
{
	const struct open_options live = {0};
	struct command nothing = {0};
	struct watch w = {.o = o};
	struct ki_evolve_service s = {
		.choice = o->choice,
		.policies = o->ideas,
		.npolicies = o->nideas,
		.search = {o->hottest ? o->hottest : WATCH_HOTTEST, o->seconds, wait_seconds,
			   &nothing},
		.seconds = o->seconds,
		.trial = {NULL, o->metric, o->windows, o->window, wait_seconds, &nothing},
		.budget = o->budget,
		.again = (unsigned int)o->again,
		.tell = tell,
		.arg = &w,
	};
	struct ki_err err = {0};
	struct ki_target *t = NULL;
	int ret;

	wait_prepare();
	prctl(PR_SET_NAME, EVOLVE_NAME);
	clock_gettime(CLOCK_MONOTONIC, &w.start);
	ret = open_or_fail(&live, &t);
	if (!ret)
		ret = evolve_named_judge(t, self, o->judge, &s.trial.judge);
	if (!ret && ki_evolve_serve(t, &s, &err))
		ret = cli_fail(&err);
	ki_target_close(t);
	return ret;
}
