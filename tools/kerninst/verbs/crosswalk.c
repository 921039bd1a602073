// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst crosswalk: where a process's time goes, from main down into the kernel.
 */
#include "kerninst/crosswalk.h"

#include <stdlib.h>
#include <string.h>

#include "open.h"
#include "points.h"
#include "run.h"

static const char usage[] =
	"Usage: kerninst crosswalk [OPTION...] PID | -- COMMAND [ARG...]\n"
	"Search for the functions in which a process spends its time, waiting or running: from main\n"
	"down what it calls, through its system calls into the kernel. Or its CPU time, or events.\n\n"
	"Level by level, functions are timed for a while; what takes less than the threshold is left,\n"
	"what the others call is timed next. In between nothing is in the text. A share is the mean\n"
	"number of threads inside: 100 % is one thread all the time. ~: a timer would cost too much; of\n"
	"stacks, or, in the kernel, at most so much. A bottleneck calls nothing that reaches the threshold.\n"
	"Then comes what the kernel did elsewhere meanwhile, and not only for the process: in interrupts,\n"
	"softirqs, timers, work queues and threads of its own, from 1 % of a CPU on.\n\n"
	"  -m, --metric METRIC        wall: time; cpu: time that threads run, of one CPU; or events, of\n"
	"                             all of the process: faults, switches, llc-misses, ... (wall)\n"
	"      --threads any|mean|sum a share is the largest of one thread, or the mean of all threads;\n"
	"                             or their sum (sum)\n"
	"  -t, --threshold SHARE      of the time, as 25% or 0.25 (25%)\n"
	"  -T, --time SECONDS         for which each level is timed (1)\n"
	"      --user                 not into the kernel\n"
	"      --dot                  what was found as a graph, for dot(1)\n"
	"      --json                 one object for each function that was in question, and elsewhere\n"
	"  -v, --verbose              what was in question and is below the threshold, too\n"
	"  -q, --quiet                no progress, no remarks\n"
	"  -h, --help                 this text\n\n"
	"A COMMAND goes on when the search has come to its end; that is waited for.\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system.\n\n"
	"Examples:\n"
	"  kerninst crosswalk $(pidof squid)\n"
	"  kerninst crosswalk --threshold 10% --time 3 4711\n"
	"  kerninst crosswalk --metric cpu 4711\n"
	"  kerninst crosswalk --dot -- find / -xdev -name core | dot -Tsvg -o find.svg\n"
	"  kerninst crosswalk --json 4711 | jq -r 'select(.bottleneck) | .function'\n";

struct options {
	struct ki_crosswalk_options walk;
	bool dot, json, verbose, quiet;
	pid_t pid;
	char **command;
};

static int take_threshold(const void *self, const char *text, void *to)
{
	char *end;
	double share = strtod(text, &end);

	if (end != text && *end == '%')
		share /= 100, end++;
	if (end == text || *end || !(share > 0))
		return cli_misuse(self, "--threshold '%s': a share is expected, as 25%% or 0.25",
				  text);
	*(double *)to = share;
	return CLI_OK;
}

static int take_threads(const void *self, const char *text, void *to)
{
	static const char *const names[] = {[KI_CROSSWALK_SUM] = "sum",
					    [KI_CROSSWALK_ANY] = "any",
					    [KI_CROSSWALK_MEAN] = "mean"};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			*(unsigned int *)to = i;
			return CLI_OK;
		}
	return cli_misuse(self, "--threads '%s': any, mean or sum is expected", text);
}

static int take_pid(const struct verb *self, const char *text, pid_t *pid)
{
	char *end;
	const long n = strtol(text, &end, 10);

	if (end == text || *end || n <= 0 || n > 1 << 30)
		return cli_misuse(self, "'%s': the number of a process is expected", text);
	*pid = (pid_t)n;
	return CLI_OK;
}

static int parse(const struct verb *self, int argc, char **argv, struct options *o, bool *done)
{
	const struct ki_option rows[] = {{"metric", 'm', cli_text, &o->walk.metric},
					 {"threads", 0, take_threads, &o->walk.threads},
					 {"threshold", 't', take_threshold, &o->walk.threshold},
					 {"time", 'T', cli_interval, &o->walk.seconds},
					 {"user", 0, NULL, &o->walk.user_only},
					 {"dot", 0, NULL, &o->dot},
					 {"json", 0, NULL, &o->json},
					 {"verbose", 'v', NULL, &o->verbose},
					 {"quiet", 'q', NULL, &o->quiet}};
	int ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (argc - optind != (o->command ? 0 : 1))
		return cli_misuse(self, "one PID, or -- and a COMMAND, is wanted");
	if (o->dot && o->json)
		return cli_misuse(self, "--dot and --json: one of them");
	ret = o->command ? CLI_OK : take_pid(self, argv[optind], &o->pid);
	*done = ret != CLI_OK;
	return ret;
}

/* A signal ends the search, and so does the end of the command. */
static bool pause_for(void *arg, double seconds)
{
	return run_wait(arg, wait_now() + seconds) == EVENT_TIME;
}

static void tell_cost(const struct ki_crosswalk *w)
{
	const struct ki_crosswalk_cost c = ki_crosswalk_cost(w);

	fprintf(stderr,
		"searched for %.1f s; timers and counters took %.2f %% of it: %.2f %% in the "
		"program, %.2f %% in the kernel\n",
		c.seconds, 100 * (c.program + c.kernel), 100 * c.program, 100 * c.kernel);
}

static int show(const struct options *o, const struct ki_crosswalk *w, const struct command *c)
{
	struct ki_page page = cli_page();
	struct ki_err err = {0};

	page.json = o->json;
	page.verbose = o->verbose;
	if (!o->quiet && !ki_crosswalk_is_whole(w))
		cli_warn("%s: the search has not come to its end",
			 c->stopped_by ? "interrupted" : "the process has ended");
	if (!o->quiet)
		tell_cost(w);
	if (o->dot)
		return cli_shown(ki_crosswalk_dot(w, page.out));
	return ki_crosswalk_show(w, &page, &err)
		       ? (err.code ? cli_fail(&err) : cli_unwritten("result"))
		       : CLI_OK;
}

/* The kernel, where there is the driver; else the search stays in the program. */
static void open_kernel(const struct options *o, struct ki_target **kernel)
{
	struct ki_err err = {0};

	if (!o->walk.user_only && ki_target_new_live(kernel, &err) && !o->quiet)
		cli_warn("%s: the search stays in the program", err.msg);
}

static int search(const struct options *o, pid_t pid, struct command *c)
{
	struct ki_target *kernel = NULL;
	struct ki_crosswalk *w = NULL;
	struct ki_err err = {0};
	int ret = CLI_OK;

	open_kernel(o, &kernel);
	if (ki_crosswalk_new(pid, kernel, &o->walk, &w, &err) ||
	    ki_crosswalk_search(w, cli_listener(o->quiet), &err))
		ret = cli_fail(&err);
	else
		ret = show(o, w, c);
	ki_crosswalk_free(w);
	ki_target_free(kernel);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {.walk = {.size = sizeof(o.walk), .wait = pause_for}};
	struct command command = {0};
	bool done;
	int ret;

	o.walk.arg = &command;
	ret = parse(self, argc, argv, &o, &done);
	if (done)
		return ret;
	wait_prepare();
	if (o.command)
		ret = run_prepare(&command, o.command, false);
	if (o.command && !ret) {
		run_start(&command);
		pause_for(&command, 0.05);
	}
	if (!ret)
		ret = search(&o, o.command ? command.pid : o.pid, &command);
	if (o.command && !command.ended && !command.stopped_by) {
		fflush(stdout);
		run_wait(&command, -1);
	}
	if (o.command && !ret)
		ret = run_failed(&command);
	if (o.command)
		ret = run_status(&command, ret);
	command_abandon(&command);
	return ret;
}

const struct verb verb_crosswalk = {
	.name = "crosswalk",
	.summary = "where a process's time goes, from main down into the kernel",
	.usage = usage,
	.run = run,
};
