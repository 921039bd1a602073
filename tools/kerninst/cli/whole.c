// SPDX-License-Identifier: GPL-2.0-only
#include "whole.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/sessions.h"
#include "kerninst/steps.h"
#include "util/clock.h"

#define PRIORITY_LEAST 1
#define PRIORITY_MOST  99

static struct {
	bool wanted, driver;
	double start;
	struct ki_info before;
} timing;

/* What the driver has done for everyone until now. */
static bool ask_driver(struct ki_info *info)
{
	int fd = ki_sessions_fd(NULL);
	bool told;

	if (fd < 0)
		return false;
	told = !ki_sessions_info(fd, info);
	close(fd);
	return told;
}

static int take_timing(const char *value)
{
	(void)value;
	timing.wanted = true;
	timing.driver = ask_driver(&timing.before);
	timing.start = ki_now();
	ki_steps_start();
	return CLI_OK;
}

/* The command that is measured, and whatever else is started, is not in real time. */
static int take_priority(const char *value)
{
	struct sched_param param = {0};
	char *end = NULL;
	long n = value && *value ? strtol(value, &end, 10) : 0;

	if (!end || *end || n < PRIORITY_LEAST || n > PRIORITY_MOST) {
		cli_warn("--priority %s: a number from %d to %d", value ? value : "",
			 PRIORITY_LEAST, PRIORITY_MOST);
		return CLI_USAGE;
	}
	param.sched_priority = (int)n;
	if (!sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param))
		return CLI_OK;
	cli_warn("--priority %ld: %s; it takes CAP_SYS_NICE, or a limit of that size (ulimit -r)",
		 n, strerror(errno));
	return CLI_ENVIRONMENT;
}

static const struct whole_option {
	const char *name;
	int (*take)(const char *value);
	bool has_value;
} options[] = {{"--timing", take_timing, false}, {"--priority", take_priority, true}};

#define NOPTIONS (sizeof(options) / sizeof(*options))

int whole_take(int *argc, char ***argv)
{
	const struct whole_option *o;
	int ret = CLI_OK;

	while (!ret && *argc > 1) {
		for (o = options; o < options + NOPTIONS; o++)
			if (!strcmp((*argv)[1], o->name))
				break;
		if (o == options + NOPTIONS)
			break;
		ret = o->take(o->has_value && *argc > 2 ? (*argv)[2] : NULL);
		*argc -= 1 + o->has_value;
		*argv += 1 + o->has_value;
	}
	return ret;
}

static void say(const char *did, const char *things, const struct ki_step_told *s)
{
	fprintf(stderr,
		"kerninst: timing: %-9s %10" PRIu64 " %-9s in %6" PRIu64 " steps %10.6f s\n", did,
		s->count, things, s->times, (double)s->ns / 1e9);
}

static void say_waits(void)
{
	struct ki_step_told waits = {0};
	struct ki_info now;

	if (!timing.driver || !ask_driver(&now))
		return;
	waits.count = waits.times = now.waits - timing.before.waits;
	waits.ns = (uint64_t)(now.waited - timing.before.waited) * 1000000;
	say("waited", "times", &waits);
}

void whole_end(void)
{
	if (!timing.wanted)
		return;
	fflush(stdout);
	for (int i = 0; i < KI_STEPS; i++) {
		struct ki_step_told s = ki_steps_told((enum ki_step)i);

		say(s.did, s.things, &s);
	}
	say_waits();
	fprintf(stderr, "kerninst: timing: all of it %39.6f s\n", ki_now() - timing.start);
}
