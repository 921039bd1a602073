// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst report: show what kerninst record has written.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "kerninst/report.h"
#include "open.h"
#include "points.h"

static const char usage[] =
	"Usage: kerninst report [OPTION...] [FILE]\n"
	"Show what kerninst record has written to FILE [kerninst.rec], as it fits: a series of the\n"
	"counts of --mode totals; a table of the records if they are at most 50; the paths if there\n"
	"are at most 50; a table of how often each was recorded if at most 50 differ in their values;\n"
	"else a summary with histograms, also of how long calls took. Nothing but the file is needed:\n"
	"no root, no driver.\n\n"
	"      --table                all records: time, CPU, instrument, values\n"
	"      --summary              of each instrument counts and rates, and of each number the\n"
	"                             least, mean, greatest, sum, and how they are spread; of a\n"
	"                             function how long its calls took, if entry and exit have tid\n"
	"      --counts               how often the same values were recorded, the most first\n"
	"      --paths[=thread]       each way from the entry of a function to its end that threads\n"
	"                             have gone, by the points that recorded tid: how often, how\n"
	"                             long it took, when each step was; of each thread by itself\n"
	"      --series SECONDS       how many records in each interval\n"
	"      --json                 one object per line: recording, instrument, record, end\n"
	"      --csv                  comma-separated values, a column for each name of a value\n"
	"      --chrome               trace events for Perfetto and chrome://tracing; entry and exit\n"
	"                             of a function make a slice if both have recorded tid\n"
	"      --folded[=calls|ns]    stacks of such pairs, for flame graphs: how many calls, or\n"
	"                             nanoseconds in none of the functions above [calls]\n"
	"      --from SECONDS         records from that time on, after the start,\n"
	"      --to SECONDS           and up to that time\n"
	"      --check                say whether this kernel's functions have still the graphs that\n"
	"                             the file says (root and the driver are needed),\n"
	"      --image FILE           or those of an ELF file (vmlinux, a module)\n"
	"      --system-map FILE      with the symbols of a System.map\n"
	"  -p, --point GLOB           only of instruments whose name matches\n"
	"  -o, --output FILE          write there, not to standard output\n"
	"  -q, --quiet                do not say that the file is cut, or that records were lost\n"
	"  -h, --help                 this text\n\n"
	"Where a budget had some hits left out (kerninst record --budget), each record is taken for so\n"
	"many: sums, counts and distributions are estimates, and marked. Calls of which only the entry\n"
	"or only the exit was recorded are missing from --chrome and --folded.\n\n"
	"A file whose writer was killed, or that is spoilt, is shown up to there.\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage.\n\n"
	"Examples:\n"
	"  kerninst report\n"
	"  kerninst report --table --from 2 --to 2.1 -p 'vfs_*' run.rec\n"
	"  kerninst report --series 0.1 run.rec\n"
	"  kerninst report --chrome -o run.json run.rec      # open it in ui.perfetto.dev\n"
	"  kerninst report --paths=thread run.rec\n"
	"  kerninst report --folded=ns run.rec | flamegraph.pl > run.svg\n";

struct report_options {
	struct ki_report_options c;
	const char *file, *output;
	struct open_options against;
	bool check, quiet;
};

/* A format, and whose. */
struct format {
	size_t i;
	struct report_options *o;
};

static int take_format(const void *self, const char *text, void *to)
{
	const struct format *f = to;
	const char *name = ki_report_format_name(f->i);
	struct report_options *o = f->o;

	if (o->c.format && o->c.format != name)
		return cli_misuse(self, "--%s and --%s: one of them", o->c.format, name);
	o->c.format = name;
	if (!strcmp(name, "series") && !cli_seconds(text, &o->c.series))
		return cli_misuse(self, "--series '%s' is no interval in seconds", text);
	if (!text)
		return CLI_OK;
	if (!strcmp(name, "paths")) {
		o->c.threads = !strcmp(text, "thread");
		return o->c.threads ? CLI_OK : cli_misuse(self, "--paths=%s: it is thread", text);
	}
	if (strcmp(name, "folded") != 0)
		return CLI_OK;
	o->c.times = !strcmp(text, "ns");
	if (!o->c.times && strcmp(text, "calls"))
		return cli_misuse(self, "--folded=%s: it is calls or ns", text);
	return CLI_OK;
}

static int take_time(const struct verb *self, const char *option, const char *text, double *out)
{
	*out = 0;
	if (!strcmp(text, "0") || cli_seconds(text, out))
		return CLI_OK;
	return cli_misuse(self, "%s '%s' is no time in seconds", option, text);
}

static int take_from(const void *self, const char *text, void *to)
{
	return take_time(self, "--from", text, to);
}

static int take_to(const void *self, const char *text, void *to)
{
	return take_time(self, "--to", text, to);
}

#define FORMATS 9

static int parse(const struct verb *self, int argc, char **argv, struct report_options *o,
		 bool *done)
{
	struct format f[FORMATS];
	const struct ki_option rows[] = {{"table", CLI_NO_VALUE, take_format, &f[0]},
					 {"summary", CLI_NO_VALUE, take_format, &f[1]},
					 {"series", 0, take_format, &f[2]},
					 {"json", CLI_NO_VALUE, take_format, &f[3]},
					 {"csv", CLI_NO_VALUE, take_format, &f[4]},
					 {"chrome", CLI_NO_VALUE, take_format, &f[5]},
					 {"folded", CLI_OPTIONAL, take_format, &f[6]},
					 {"counts", CLI_NO_VALUE, take_format, &f[7]},
					 {"paths", CLI_OPTIONAL, take_format, &f[8]},
					 {"check", 0, NULL, &o->check},
					 OPEN_ROWS(o->against),
					 {"from", 0, take_from, &o->c.from},
					 {"to", 0, take_to, &o->c.to},
					 {"point", 'p', cli_text, &o->c.glob},
					 {"output", 'o', cli_text, &o->output},
					 {"quiet", 'q', NULL, &o->quiet}};
	int ret;

	for (size_t i = 0; i < FORMATS; i++)
		f[i] = (struct format){i, o};
	*done = true;
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (argc - optind > 1)
		return cli_misuse(self, "more than one file");
	if (optind < argc)
		o->file = argv[optind];
	if (o->c.to >= 0 && o->c.to < o->c.from)
		return cli_misuse(self, "--to is before --from");
	o->check |= o->against.image || o->against.system_map;
	*done = false;
	return CLI_OK;
}

static int show(struct report_options *o, struct ki_recording *r)
{
	struct ki_err err = {0};
	int ret;

	o->c.out = o->output ? fopen(o->output, "we") : stdout;
	if (!o->c.out)
		return cli_error("%s: %s", o->output, strerror(errno));
	o->c.bold = cli_bold(o->c.out);
	ret = ki_report_show(r, &o->c, &err);
	if (o->output && fclose(o->c.out) && !ret)
		return cli_error("writing the result failed");
	if (ret)
		return cli_fail(&err);
	if (!o->quiet)
		ki_report_warn(r, o->file, cli_listener(true));
	return CLI_OK;
}

/* Say in one line which functions are no longer what they were. */
static int check(const struct report_options *o, struct ki_recording *r)
{
	struct ki_report_check is;
	struct ki_target *t;
	struct ki_err err = {0};
	size_t n;
	int ret;

	ki_recording_functions(r, &n);
	if (!n) {
		cli_warn("%s: it does not say what its functions were like", o->file);
		return CLI_OK;
	}
	ret = open_or_fail(&o->against, &t);
	if (ret)
		return ret;
	if (ki_report_check(r, t, o->against.image, &is, &err))
		ret = cli_fail(&err);
	else
		cli_warn("%s: of %zu functions %zu have the same graph in %s, %zu are not there, "
			 "%zu have another%s",
			 o->file, is.functions, is.same,
			 o->against.image ? o->against.image : "this kernel", is.gone, is.other,
			 is.names);
	ki_report_check_free(&is);
	ki_target_free(t);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct report_options o = {.c = {.size = sizeof(o.c), .to = -1}, .file = "kerninst.rec"};
	struct ki_recording *r;
	struct ki_err err = {0};
	bool done;
	int ret = parse(self, argc, argv, &o, &done);

	if (done)
		return ret;
	if (ki_recording_new(o.file, &r, &err))
		return cli_fail(&err);
	ret = show(&o, r);
	if (!ret && o.check)
		ret = check(&o, r);
	ki_recording_free(r);
	return ret;
}

const struct verb verb_report = {
	.name = "report",
	.summary = "show what record has written",
	.usage = usage,
	.run = run,
};
