// SPDX-License-Identifier: GPL-2.0-only
#include "record/record_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "points.h"
#include "cli.h"
#include "command.h"
#include "open.h"

const char record_usage[] =
	"Usage: kerninst record [OPTION...] POINT[=VALUE,...]... [-- COMMAND...]\n"
	"Write a record to a file each time that a point of the kernel is reached: while COMMAND\n"
	"runs, or until Ctrl-C. kerninst report shows the file.\n\n"
	"POINT is as in kerninst stat, with globs too. VALUE is an expression, as in --if, and how\n"
	"it is called: [NAME[/UNIT]:]EXPRESSION, for example fd:arg0, len/bytes:arg2, retval, tid,\n"
	"*(u32 *)(arg0 + 16), $rdi. Units hex, code (an address, shown as a name), ns, ticks say how\n"
	"it is shown. Nothing given: pid,comm. Time and CPU are always there.\n"
	"PID/POINT is a point of a process, command/POINT one of COMMAND itself: argN, retval, $rdi\n"
	"are the thread's there, *(u32 *)(arg0 + 4) and str(arg0) its memory.\n\n"
	"  -o, --output FILE          the file to write [kerninst.rec]\n"
	"      --mode MODE            how records come to the file [wake]:\n"
	"           ring              the buffers are read every so often: -i, 0.1 s\n"
	"           wake              when one is half full, and once a second\n"
	"           newest            they stay in memory, the oldest go: written at the end, and\n"
	"                             at SIGUSR1 to FILE.1, FILE.2, ...\n"
	"           disk              as wake, and the disk has them before more are read\n"
	"           totals            no records but counts, of every -i: 1 s\n" WHEN_USAGE
	"      --self                 this process too\n"
	"      --at SECONDS           points behind it are recorded from then on, after the start\n"
	"      --until SECONDS        and until then; 0: to the end\n"
	"  -b, --buffer KIB           size of each CPU's buffer [1024]\n"
	"  -i, --interval SECONDS     see ring, totals\n"
	"      --for SECONDS          stop after that time\n"
	"      --budget SHARE%        keep the cost below this share of the machine: when it is more,\n"
	"                             one of 2, 4, 8, ... hits is recorded, evenly spread, until it is\n"
	"                             less; what costs too much even so is taken out. The file says\n"
	"                             when what was done, all hits are counted, and kerninst report\n"
	"                             takes each record for so many\n"
	"      --show-code            the code that is put at each place, with its source\n"
	"      --dry-run              look everything up, compile it, ask the driver whether it\n"
	"                             would install it, and install nothing\n"
	"      --cost                 with that: what it would cost, counted for 0.3 s, which\n"
	"                             installs bare counters\n"
	"      --json                 say at the end what was written as JSON, to standard output\n"
	"      --progress             show progress even if standard error is no terminal\n"
	"  -q, --quiet                no warnings about refused points, no progress, no last word\n"
	"  -h, --help                 this text\n\n"
	"Exit status: that of COMMAND if there was one (127: it could not be executed; 128+n: ended\n"
	"by signal n), else 0; 1 an error, 2 wrong usage, 3 not possible on this system.\n\n"
	"Examples:\n"
	"  kerninst record vfs_read=tid,fd/hex:arg0,len/bytes:arg2 vfs_read:exit=tid,retval -- ls\n"
	"  kerninst record 'do_sys_openat2=pid,path:ustr(arg1),stack,ustack' -- make\n"
	"  kerninst record --for 5 --comm tar 'ext4_*'\n"
	"  kerninst record --budget 2% kmem_cache_alloc=comm,stack -- make\n"
	"  kerninst record --dry-run --cost --show-code vfs_read=pid,len:arg2\n"
	"  kerninst record --at 2 --until 5 tcp_v4_rcv -- ./benchmark\n"
	"  kerninst record --mode newest -b 256 schedule=pid,comm --if 'cpu == 0'\n"
	"  kerninst record 1234/libc.so.6:read=tid,len:arg2 vfs_read=tid,len:arg2 -- sleep 5\n"
	"  kerninst record --mode totals -i 0.5 vfs_read vfs_write -- make\n";

static int take_mode(const void *self, const char *text, void *to)
{
	static const char *const names[KI_RECORDER_MODES] = {"ring", "wake", "newest", "disk",
							     "totals"};

	for (unsigned int i = 0; i < KI_RECORDER_MODES; i++)
		if (!strcmp(text, names[i])) {
			*(enum ki_recorder_mode *)to = (enum ki_recorder_mode)i;
			return CLI_OK;
		}
	return cli_misuse(self, "--mode %s: it is ring, wake, newest, disk or totals", text);
}

/* How the option of that time is called, and where it goes. */
struct seconds {
	const char *option;
	bool or_none;
	double *to;
};

static int take_seconds(const void *self, const char *text, void *to)
{
	const struct seconds *s = to;

	if (s->or_none && !strcmp(text, "0")) {
		*s->to = 0;
		return CLI_OK;
	}
	if (cli_seconds(text, s->to))
		return CLI_OK;
	return cli_misuse(self, "%s '%s' is no time in seconds", s->option, text);
}

static int take_buffer(const void *self, const char *text, void *to)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long kib = digits && digits < 8 && !text[digits] ? strtoul(text, NULL, 10) : 0;

	if (kib < 4 || kib > KI_RING_PAGES * 4ul)
		return cli_misuse(self, "-b '%s': KiB for each CPU, 4 to %u", text,
				  KI_RING_PAGES * 4);
	*(uint32_t *)to = (uint32_t)kib << 10;
	return CLI_OK;
}

/* POINT[=VALUES], with the times that are in force. */
static int take_point(const void *self, const char *text, void *to)
{
	struct record_options *o = to;
	struct ki_recorder_ask a = {.at = o->at, .until = o->until, .point = strdup(text)};
	char *values = a.point ? strchr(a.point, '=') : NULL, *rest;

	if (!a.point || ki_vec_reserve(&o->r.asks, 1)) {
		free(a.point);
		return cli_no_memory();
	}
	if (values)
		*values++ = 0;
	a.pid = open_prefix(a.point, &rest);
	memmove(a.point, rest, strlen(rest) + 1);
	o->any_command |= a.pid == OPEN_COMMAND;
	o->any_values |= values != NULL;
	o->r.asks.v[o->r.asks.n++] = a;
	if (a.until > 0 && a.until <= a.at)
		return cli_misuse(self, "%s: --until %g is not behind --at %g", text, a.until,
				  a.at);
	if (a.pid == OPEN_COMMAND && !command_given())
		return cli_misuse(self, "command/%s: the command stands behind --", a.point);
	return record_values_parse(&o->r.asks.v[o->r.asks.n - 1].values, self, values);
}

/* Unless it is asked for, what this process does is not recorded. */
static int leave_out_self(struct record_options *o, const struct verb *self)
{
	char text[32];

	snprintf(text, sizeof(text), "pid != %d", (int)getpid());
	return o->self ? CLI_OK : when_if(self, text, &o->when);
}

static int check_together(const struct verb *self, struct record_options *o)
{
	static const double intervals[KI_RECORDER_MODES] = {
		[KI_RECORDER_RING] = 0.1, [KI_RECORDER_TOTALS] = 1};
	bool has = intervals[o->r.mode] > 0;

	if (!o->r.asks.n)
		return cli_misuse(self, "no point is given");
	if (o->command && o->duration > 0)
		return cli_misuse(self, "--for and a command: one of them ends the recording");
	if (o->r.predict && !o->dry_run)
		return cli_misuse(self, "--cost is for --dry-run; --budget says what it costs "
					"while it goes on");
	if (o->r.budget > 0 && o->dry_run)
		return cli_misuse(self,
				  "--budget and --dry-run: nothing would be spent; use --cost");
	if (o->any_command && o->r.predict)
		return cli_misuse(self, "--cost: a command that does not run yet costs nothing");
	if (o->any_values && o->r.mode == KI_RECORDER_TOTALS)
		return cli_misuse(self, "--mode totals counts: there are no values");
	if (o->interval > 0 && !has)
		return cli_misuse(self, "-i is for the modes ring and totals");
	if (!(o->interval > 0))
		o->interval = intervals[o->r.mode];
	return leave_out_self(o, self);
}

int record_parse(const struct verb *self, int argc, char **argv, struct record_options *o,
		 bool *done)
{
	struct seconds at = {"--at", true, &o->at}, until = {"--until", true, &o->until},
		       duration = {"--for", false, &o->duration},
		       interval = {"-i", false, &o->interval};
	const struct ki_option rows[] = {{NULL, 0, take_point, o},
					 {"output", 'o', cli_text, &o->r.output},
					 {"mode", 0, take_mode, &o->r.mode},
					 WHEN_ROWS(o->when),
					 {"self", 0, NULL, &o->self},
					 {"at", 0, take_seconds, &at},
					 {"until", 0, take_seconds, &until},
					 {"for", 0, take_seconds, &duration},
					 {"budget", 0, take_budget, &o->r.budget},
					 {"buffer", 'b', take_buffer, &o->r.buffer},
					 {"interval", 'i', take_seconds, &interval},
					 {"show-code", 0, NULL, &o->show_code},
					 {"dry-run", 0, NULL, &o->dry_run},
					 {"cost", 0, NULL, &o->r.predict},
					 {"json", 0, NULL, &o->json},
					 {"progress", 0, NULL, &o->progress},
					 {"quiet", 'q', NULL, &o->r.quiet}};
	int ret;

	o->r.mode = KI_RECORDER_WAKE;
	o->r.output = "kerninst.rec";
	*done = true;
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	ret = check_together(self, o);
	*done = ret != CLI_OK;
	return ret;
}

void record_options_free(struct record_options *o)
{
	for (size_t i = 0; i < o->r.asks.n; i++) {
		free(o->r.asks.v[i].point);
		ki_record_values_free(&o->r.asks.v[i].values);
	}
	ki_vec_free(&o->r.asks);
	when_free(&o->when);
}
