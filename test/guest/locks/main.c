// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks sleep		with each kind of request asleep in user memory, another process works
 * locks memory GROUP	requests that want more memory than the control group may have
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "locks/locks.h"

#define FUNCTION "__x64_sys_getsid"
#define DELAY	 100 /* milliseconds: longer may no sleeper delay the work of others */
#define PART	 4   /* of that work, where it is much: a kernel that watches itself is slow */
#define FOR_EVER 120 /* seconds, after which it is said that others do not get on */
#define BIG	 4

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Opens, has code put in that does nothing, takes it out, closes. */
static void work_once(void)
{
	struct ki_counters c = {.size = sizeof(c), .count = 1};
	struct ki_plan *plan = plan_new();
	struct ki_snippet *sn = snippet_new();
	struct ki_err err = {0};
	struct ki_target *t;

	if (ki_target_new_live(&t, &err))
		die("open", err.msg);
	if (ioctl(ki_target_fd(t), KI_IOC_COUNTERS, &c))
		die("counters", strerror(errno));
	ki_snippet_body(sn, ki_stmt_eval(sn, ki_expr_helper(sn, KI_HELPER_NANOTIME, NULL, 0)));
	entry_put(t, plan, FUNCTION, sn, NULL);
	plan_apply(plan, t);
	ki_plan_free(plan);
	ki_target_free(t);
}

/* How long it takes, in milliseconds: with -icount a million instructions each. */
static double work(void)
{
	double begin = now();

	work_once();
	return now() - begin;
}

static double most_delay(double alone)
{
	return alone / PART > DELAY ? alone / PART : DELAY;
}

static int sleep_in_each(void)
{
	alarm(FOR_EVER);
	work_once();
	for (unsigned int i = 0; i < nkinds; i++) {
		double alone = work();
		struct sleeper s;
		bool asleep = sleeper_begin(&s, kinds[i].make), still, gone;
		double took;

		alarm(FOR_EVER);
		took = work();
		still = asleep && sleeper_sleeps(&s);
		gone = sleeper_kill(&s);
		report(kinds[i].name, still && gone && took - alone <= most_delay(alone),
		       "%s, %s, %s; others' work took %.1f ms, without it %.1f",
		       asleep ? "slept" : strerror(s.error), still ? "all the while" : "not long",
		       gone ? "died" : "did not die", took, alone);
	}
	return report_status();
}

static int want_much(const char *group)
{
	long limit = group_value(group, "memory.max", ""), most = 0, killed;
	unsigned int sleep = 0, refused = 0, all = 0;
	struct sleeper s[BIG];

	for (int i = 0; i < BIG; i++) {
		bool asleep = sleeper_begin(&s[i], big_splice);
		long current = group_value(group, "memory.current", "");

		sleep += asleep;
		refused += !asleep && s[i].error == ENOMEM;
		most = current > most ? current : most;
	}
	report("as much as there is", sleep && refused && sleep + refused == BIG,
	       "%u requests sleep with their memory, %u are refused it", sleep, refused);
	report("all of it paid for", most >= (long)sleep * (100 << 20) && most <= limit,
	       "at most %ld KiB of %ld", most >> 10, limit >> 10);
	work_once();
	for (int i = 0; i < BIG; i++)
		all += sleeper_kill(&s[i]);
	killed = group_value(group, "memory.events", "oom_kill ");
	report("nobody had to be killed", !killed && all == BIG, "%ld were", killed);
	for (int i = 0; i < 600 && group_value(group, "memory.current", "") > limit / 8; i++)
		usleep(100000);
	report("given back", group_value(group, "memory.current", "") <= limit / 8,
	       "%ld KiB are left", group_value(group, "memory.current", "") >> 10);
	return report_status();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "sleep"))
		return sleep_in_each();
	if (argc == 3 && !strcmp(argv[1], "memory"))
		return want_much(argv[2]);
	fputs("usage: locks sleep; memory GROUP\n", stderr);
	return 2;
}
