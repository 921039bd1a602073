// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst evolve --watch: it goes on by itself, and says what it does, a line for each.
 */
#include "evolve.h"

#include <sys/prctl.h>

#include "command.h"
#include "kerninst/evolve_text.h"
#include "open.h"
#include "util/clock.h"

#define WATCH_HOTTEST 8

struct watch {
	const struct evolve_options *o;
	double start;
};

static void tell(void *arg, const struct ki_evolve_notice *n)
{
	const struct watch *w = arg;
	struct ki_page page = cli_page();

	page.json = w->o->json;
	ki_evolve_notice_show(n,
			      &(struct ki_evolve_shown){&page, w->o->metric, ki_now() - w->start});
}

bool evolve_wait(void *arg, double seconds)
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
		.search = {o->hottest ? o->hottest : WATCH_HOTTEST, o->seconds, evolve_wait,
			   &nothing},
		.seconds = o->seconds,
		.trial = {NULL, o->metric, o->windows, o->window, evolve_wait, &nothing},
		.budget = o->budget,
		.again = (unsigned int)o->again,
		.tell = tell,
		.arg = &w,
	};
	struct ki_err err = {0};
	struct ki_target *t = NULL;
	int ret;

	wait_prepare();
	prctl(PR_SET_NAME, KI_EVOLVE_NAME);
	w.start = ki_now();
	ret = open_or_fail(&live, &t);
	if (!ret)
		ret = evolve_named_judge(t, self, o->judge, &s.trial.judge);
	if (!ret && ki_evolve_serve(t, &s, &err))
		ret = cli_fail(&err);
	ki_target_free(t);
	return ret;
}
