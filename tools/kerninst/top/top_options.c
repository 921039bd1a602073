// SPDX-License-Identifier: GPL-2.0-only
#include "top/top_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "open.h"
#include "points.h"

const char top_usage[] =
	"Usage: kerninst top [OPTION...] POINT... [-- COMMAND [ARG...]]\n"
	"Show which functions the kernel is busy with, among those named, while it goes on.\n\n"
	"POINT is as of kerninst stat: FUNCTION, MODULE:FUNCTION, also with globs, and PID/POINT in a\n"
	"process, command/POINT in COMMAND. Each function is a row: how often it\n"
	"is called, how long threads run or are inside; in a second, and since the beginning. Nothing\n"
	"is left at the end.\n\n"
	"  -m, --metric METRIC[,METRIC...]  calls, vtime, walltime, or another of kerninst metrics\n"
	"                             that grows; rows are sorted by the first [calls]\n"
	"  -s, --sort rate|total|name what comes first: most in the last interval, most since the\n"
	"                             beginning, or names in their order [rate]\n"
	"  -i, --interval SECONDS     between two looks [1]\n" WHEN_USAGE
	"      --preset NAME          scheduling, memory or network: functions of that, too\n"
	"  -b, --batch                tables, one behind the other, as there are without a terminal\n"
	"  -n, --rows ROWS            of each table; 0: all [20]\n"
	"  -c, --count N              so many tables, and then the end; with -b or --json\n"
	"      --json                 one object per line, a line for each row of each interval\n"
	"  -q, --quiet                no warnings about refused points, no progress\n"
	"  -h, --help                 this text\n\n"
	"Keys: arrows or j k, page up and down, g G: select; Enter: the blocks of that function, how\n"
	"often each is reached, and how long it takes; Backspace or Esc: back; c v w: calls, virtual\n"
	"time, wall time, measured from then on if they were not; s: sort by what comes next; q: the\n"
	"end, as is Ctrl-C. Then the table is printed, of all the time since the beginning.\n"
	"COMMAND writes nowhere what it would write to the terminal that shows this.\n\n"
	"Exit status: that of COMMAND if it has ended, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system; 128+n: ended by signal n.\n\n"
	"Examples:\n"
	"  kerninst top 'vfs_*' 'ext4_*'\n"
	"  kerninst top -m vtime,calls --preset network\n"
	"  kerninst top -m walltime --comm make 'vfs_*'\n"
	"  kerninst top -b -i 10 -n 5 'tcp_*' -- make\n"
	"  kerninst top -m calls,walltime '1234/libc.so.6:*alloc'\n"
	"  kerninst top --json -c 1 -i 5 'vfs_*'\n";

static int take_sort(const void *self, const char *text, void *to)
{
	static const char *const names[KI_TOP_SORTS] = {
		[KI_TOP_BY_RATE] = "rate", [KI_TOP_BY_TOTAL] = "total", [KI_TOP_BY_NAME] = "name"};

	for (unsigned int i = 0; i < KI_TOP_SORTS; i++)
		if (!strcmp(text, names[i])) {
			*(enum ki_top_sort *)to = (enum ki_top_sort)i;
			return CLI_OK;
		}
	return cli_misuse(self, "--sort '%s': rate, total or name", text);
}

static int take_number(const void *self, const char *text, void *to)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > 1000000000)
		return cli_misuse(self, "'%s' is no number", text);
	*(unsigned int *)to = (unsigned int)n;
	return CLI_OK;
}

static int check_together(const struct verb *self, const struct top_options *o)
{
	if (o->pid && o->preset)
		return cli_misuse(self, "--preset: functions of the kernel, beside a process's");
	if (o->pid && o->when.own)
		return cli_misuse(self, "--own: that is not built for processes yet");
	if (o->pid == OPEN_COMMAND && !o->command)
		return cli_misuse(self, "command/POINT: the command stands behind --");
	if (!o->npoints && !o->preset)
		return cli_misuse(self, "no point is given");
	if (o->wanted.shape != KI_SHAPE_WHOLE)
		return cli_misuse(self, "-m blocks, edges: name them as points, vfs_read:blocks");
	if (o->wanted.n > KI_TOP_COLUMNS)
		return cli_misuse(self, "more than %d metrics", KI_TOP_COLUMNS);
	for (unsigned int i = 0; i < o->wanted.n; i++)
		if (o->wanted.metrics[i]->form != KI_FORM_TOTAL)
			return cli_misuse(self, "-m %s: only what grows has a rate",
					  o->wanted.metrics[i]->name);
	return CLI_OK;
}

int top_parse(const struct verb *self, int argc, char **argv, struct top_options *o, bool *done)
{
	const struct ki_option rows[] = {{"metric", 'm', take_metrics, &o->wanted},
					 {"sort", 's', take_sort, &o->sort},
					 {"interval", 'i', cli_interval, &o->interval},
					 WHEN_ROWS(o->when),
					 {"preset", 0, take_preset, &o->preset},
					 {"batch", 'b', NULL, &o->batch},
					 {"rows", 'n', take_number, &o->rows},
					 {"count", 'c', take_number, &o->count},
					 {"json", 0, NULL, &o->json},
					 {"quiet", 'q', NULL, &o->quiet}};
	struct open_options open = {0};
	int ret;

	o->interval = 1;
	o->rows = 20;
	o->wanted = (struct ki_wanted){.metrics = {ki_metric_find("calls")}, .n = 1};
	*done = true;
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	o->points = argv + optind;
	o->npoints = argc - optind;
	ret = open_process_prefix(&open, self, o->points, o->npoints);
	o->pid = open.pid;
	if (!ret)
		ret = check_together(self, o);
	*done = ret != CLI_OK;
	return ret;
}

void top_options_free(struct top_options *o)
{
	when_free(&o->when);
	ki_wanted_free(&o->wanted);
}
