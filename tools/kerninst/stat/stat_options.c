// SPDX-License-Identifier: GPL-2.0-only
#include "stat/stat_options.h"

#include <stdlib.h>
#include <string.h>

#include "kerninst/budget.h"
#include "points.h"
#include "cli.h"
#include "command.h"

const char stat_usage[] =
	"Usage: kerninst stat [OPTION...] POINT... [-- COMMAND...]\n"
	"Count how often points of the kernel are reached, measure what goes on in functions: while\n"
	"COMMAND runs, or until Ctrl-C.\n\n"
	"POINT is 0xADDRESS, or [MODULE:]FUNCTION, alone or with one of these behind it:\n"
	"  :entry  :exit        when it is called; when it returns or jumps to another function\n"
	"  :exit:after          when its caller gets control back: behind what it jumps to, too\n"
	"  :block/N[:pre|:post]  the beginning or the end of a block; :blocks[:post]: of each\n"
	"  :edge/N  :edge/A-B   an edge; those from block A to block B; :edges: each edge\n"
	"  +OFFSET[:before|:after]  an instruction; :insns[:after]: each\n"
	"  :calls  :returns     before all its calls; behind all that come back\n"
	"  :call/CALLEE         each call of, or jump to, CALLEE\n"
	"and /ORDER behind that: of several at one place, the lowest runs first. MODULE, FUNCTION,\n"
	"CALLEE may be globs; the kernel itself is the module kernel. FUNCTION alone means its entry,\n"
	"or what -m says. FUNCTION@0xADDRESS picks one of several functions of the same name.\n"
	"PID/POINT is a point of a process, command/POINT one of COMMAND itself, which begins when\n"
	"all is installed: metrics of hits and of time, and predicates of registers. With --by points\n"
	"of processes and of the kernel go together: hits, by all that keys can be.\n\n"
	"  -m, --metric METRIC[,METRIC...]  of those that kerninst metrics lists: calls, walltime,\n"
	"                             vtime, ... [calls]; of events also cycles:k, cycles:u, r01c2;\n"
	"                             or of FUNCTION alone: blocks, edges\n" WHEN_USAGE
	"      --split [NAME:]PREDICATE  each time it is given, one part: what it is true of, in a\n"
	"                             row of its own; what none is true of is the part else\n"
	"      --preset NAME          functions of scheduling, memory, network, too: those that\n"
	"                             this kernel has\n"
	"  -i, --interval SECONDS     a table of what was added, every so often\n"
	"      --for SECONDS          stop after that time\n"
	"      --by KEY[,KEY...]      hits counted by keys: comm pid tid cpu uid cgroup arg0 ... retval,\n"
	"                             stack, str(ADDRESS), any expression of --if, with NAME: or\n"
	"                             NAME/hex: before it\n"
	"      --agg FN:WHAT[,FN:WHAT...]  what is summed up by these keys: sum avg min max stddev of\n"
	"                             an expression, or of walltime, vtime, faults, ... of each call,\n"
	"                             by the keys that there were when it began (-m walltime:\n"
	"                             sum:walltime, -m walltime/call: avg:walltime)\n"
	"      --hist WHAT[:LOW:HIGH:STEP]  its distribution, by powers of two or in steps (times:\n"
	"                             nanoseconds)\n"
	"  -n, --top N                with these, so many rows; 0: all [20]\n"
	"      --rows N               and so many rows for each CPU\n"
	"  -o, --output FILE          write the result there, not to standard output\n"
	"      --json                 one object per line\n"
	"  -x, --csv SEPARATOR        comma-separated values, or separated by another character\n"
	"  -A, --per-cpu              beside each total a row for each CPU\n"
	"      --show-code            the code that is put at each place, with its source\n"
	"      --dry-run              look everything up, compile it, ask the driver whether it\n"
	"                             would install it, and install nothing\n"
	"      --cost                 what it costs, too, in instructions and as a share of the machine;\n"
	"                             with --dry-run what it would: counted for 0.3 s, which installs\n"
	"                             bare counters\n"
	"      --budget SHARE%        keep the cost below this share of the machine: what costs the\n"
	"                             most is taken out when it is more, and said. It goes wholly: to\n"
	"                             ask at each call whether it is one to be measured would cost\n"
	"                             more than to count it, and a third of what it takes to time it\n"
	"      --text-hash            hash the text of kernel and modules before and after; differing:\n"
	"                             status 1, and the first difference is named\n"
	"      --move, --no-move      move each function as a whole, or none: each counter costs\n"
	"                             one instruction, each return into the function a jump;\n"
	"                             unasked: those of which nearly all blocks are counted, or\n"
	"                             that it spares a breakpoint\n"
	"      --await                of a process, PID/MODULE:FUNCTION: wait until it has mapped the\n"
	"                             module, then begin\n"
	"      --progress             show progress even if standard error is no terminal\n"
	"  -q, --quiet                no warnings about refused points, no progress\n"
	"  -h, --help                 this text\n\n"
	"With -m blocks a block is cold that runs at most once in 20 calls of its function.\n\n"
	"Exit status: that of COMMAND if there was one (127: it could not be executed; 128+n: ended\n"
	"by signal n), else 0; 1 an error, 2 wrong usage, 3 not possible on this system.\n\n"
	"Examples:\n"
	"  kerninst stat vfs_read vfs_write -- tar cf /dev/null /etc\n"
	"  kerninst stat -i 1 'tcp_*'\n"
	"  kerninst stat -m blocks tcp_v4_rcv -- curl -s localhost\n"
	"  kerninst stat -m edges vfs_read -- ls\n"
	"  kerninst stat -m calls,walltime/call,latency vfs_read -- ls -lR\n"
	"  kerninst stat --by comm,arg2 --hist 'arg2:0:65536:4096' vfs_read -- tar cf /dev/null /etc\n"
	"  kerninst stat --by comm,pid --agg sum:walltime,max:walltime,avg:arg2 vfs_read -- make\n"
	"  kerninst stat --preset memory -m calls,vtime -i 1\n"
	"  kerninst stat --if 'arg2 > 4096 && comm != \"tar\"' vfs_read -- ./configure\n"
	"  kerninst stat -A -x, --pid 1234 'vfs_*'\n"
	"  kerninst stat --dry-run --show-code --if '(int)retval < 0' vfs_read:exit\n"
	"  kerninst stat --json --for 10 ext4:ext4_sync_file:exit\n"
	"  kerninst stat 1234/libc.so.6:malloc -- sleep 5\n";

/* One character; that of a tab may be written \t. */
static int take_separator(const void *self, const char *text, void *to)
{
	char *out = to;

	*out = strcmp(text, "\\t") ? *text : '\t';
	if (*out && !strchr("\"\r\n", *out) && (*out == '\t' || !text[1]))
		return CLI_OK;
	return cli_misuse(self, "-x '%s': a separator is one character, and no quote", text);
}

static int take_number(const struct verb *self, const char *text, uint32_t most, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > most)
		return cli_misuse(self, "'%s' is no number from 0 to %u", text, most);
	*out = (uint32_t)n;
	return CLI_OK;
}

static int take_top(const void *self, const char *text, void *to)
{
	struct ki_aggregate *by = to;

	by->limited = true;
	return take_number(self, text, UINT32_MAX, &by->top);
}

static int take_rows(const void *self, const char *text, void *to)
{
	struct ki_aggregate *by = to;

	by->limited = true;
	return take_number(self, text, KI_TABLE_ROWS, &by->rows);
}

static int take_time(const void *self, const char *text, void *to)
{
	return cli_seconds(text, to) ? CLI_OK
				     : cli_misuse(self, "'%s' is no time in seconds", text);
}

static int take_split(const void *self, const char *text, void *to)
{
	(void)text; /* which is optarg, that may be changed */
	return splits_add(to, self, optarg);
}

static int take_move(const void *self, const char *unused, void *to)
{
	(void)self;
	(void)unused;
	*(enum ki_moving *)to = KI_MOVING_ALWAYS;
	return CLI_OK;
}

static int take_no_move(const void *self, const char *unused, void *to)
{
	(void)self;
	(void)unused;
	*(enum ki_moving *)to = KI_MOVING_NEVER;
	return CLI_OK;
}

static int check_together(const struct verb *self, const struct stat_options *o)
{
	if (!o->npoints && !o->preset)
		return cli_misuse(self, "no point is given");
	if (o->command && o->duration > 0)
		return cli_misuse(self, "--for and a command: one of them ends the measurement");
	if (o->separator && (o->json || o->show_code))
		return cli_misuse(self, "-x and %s: rows of one kind are wanted",
				  o->json ? "--json" : "--show-code");
	if (ki_aggregate_wanted(&o->by) &&
	    (o->per_cpu || o->show_code || o->wanted.shape != KI_SHAPE_WHOLE))
		return cli_misuse(self, "--by, --agg and --hist: no -m blocks or edges, -A (a key "
					"cpu is the same), --show-code");
	if (ki_aggregate_wanted(&o->by) && o->separator && (o->cost || o->budget > 0))
		return cli_misuse(self, "-x and --by with --cost: rows of one kind are wanted");
	if (ki_aggregate_wanted(&o->by) && o->moving == KI_MOVING_ALWAYS)
		return cli_misuse(self, "--by, --agg and --hist work at a place: no --move");
	if (o->by.limited && !ki_aggregate_wanted(&o->by))
		return cli_misuse(self, "-n and --rows are for --by, --agg and --hist");
	if (o->splits.n && ki_aggregate_wanted(&o->by))
		return cli_misuse(self, "--split and --by: a key can be what a part is of: --by "
					"'small:arg2 < 512'");
	if (o->splits.n && o->wanted.shape != KI_SHAPE_WHOLE)
		return cli_misuse(self, "--split: no -m blocks or edges; -m count "
					"FUNCTION:blocks or :edges is the same");
	if (o->budget > 0 && o->dry_run)
		return cli_misuse(self,
				  "--budget and --dry-run: nothing would be spent; use --cost");
	if (o->separator && o->hash)
		return cli_misuse(self, "-x and --text-hash: rows of one kind are wanted");
	return CLI_OK;
}

static void take_defaults(struct stat_options *o)
{
	o->by.top = 20;
	o->wanted = (struct ki_wanted){.metrics = {ki_metric_find("calls")}, .n = 1};
}

int stat_parse(const struct verb *self, int argc, char **argv, struct stat_options *o, bool *done)
{
	const struct ki_option rows[] = {{"metric", 'm', take_metrics, &o->wanted},
					 {"interval", 'i', cli_interval, &o->interval},
					 {"for", 0, take_time, &o->duration},
					 {"output", 'o', cli_text, &o->output},
					 {"json", 0, NULL, &o->json},
					 {"csv", 'x', take_separator, &o->separator},
					 {"per-cpu", 'A', NULL, &o->per_cpu},
					 {"preset", 0, take_preset, &o->preset},
					 {"show-code", 0, NULL, &o->show_code},
					 {"dry-run", 0, NULL, &o->dry_run},
					 {"by", 0, cli_text, &o->by.keys},
					 {"split", 0, take_split, &o->splits},
					 {"agg", 0, cli_text, &o->by.aggs},
					 {"hist", 0, cli_text, &o->by.hist},
					 {"top", 'n', take_top, &o->by},
					 {"rows", 0, take_rows, &o->by},
					 {"cost", 0, NULL, &o->cost},
					 {"budget", 0, take_budget, &o->budget},
					 {"await", 0, NULL, &o->await},
					 WHEN_ROWS(o->when),
					 {"text-hash", 0, NULL, &o->hash},
					 {"move", CLI_NO_VALUE, take_move, &o->moving},
					 {"no-move", CLI_NO_VALUE, take_no_move, &o->moving},
					 {"progress", 0, NULL, &o->progress},
					 {"quiet", 'q', NULL, &o->quiet}};
	int ret;

	*done = true;
	take_defaults(o);
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	o->points = argv + optind;
	o->npoints = argc - optind;
	ret = check_together(self, o);
	if (!ret)
		ret = stat_by_parse(&o->by, self, &o->wanted);
	*done = ret != CLI_OK;
	return ret;
}

void stat_options_free(struct stat_options *o)
{
	ki_aggregate_free(&o->by);
	when_free(&o->when);
	ki_splits_free(&o->splits);
	ki_wanted_free(&o->wanted);
}
