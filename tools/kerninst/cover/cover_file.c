// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst cover without a kernel: what was measured before is shown, or compared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cover/cover_output.h"
#include "open.h"

struct options {
	const char *from, *diff;
	struct ki_cover_diff_options limits;
	struct cover_output output;
	struct open_options open;
};

static bool asks_for(const char *arg, const char *option)
{
	size_t n = strlen(option);

	return !strncmp(arg, option, n) && (!arg[n] || arg[n] == '=');
}

bool cover_is_offline(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (asks_for(argv[i], "--from") || asks_for(argv[i], "--diff"))
			return true;
	return false;
}

static int take_ratio(const void *self, const char *text, void *to)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || *end || !isfinite(n) || n < 1)
		return cli_misuse(self, "--ratio '%s': a number from 1 on", text);
	*(double *)to = n;
	return CLI_OK;
}

static int take_least(const void *self, const char *text, void *to)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !n)
		return cli_misuse(self, "--least '%s': a number of hits from 1 on", text);
	*(uint64_t *)to = n;
	return CLI_OK;
}

static int check(const struct verb *self, const struct options *o, int more)
{
	if (o->from && o->diff)
		return cli_misuse(self, "--from and --diff: one of them");
	if (o->diff && more != 1)
		return cli_misuse(self, "--diff: two files are wanted, OLD and NEW");
	if (o->from && more)
		return cli_misuse(self, "--from: one file; what is in it is not chosen again");
	if (o->diff && (o->output.files.lcov || o->output.files.html || o->output.files.pcs))
		return cli_misuse(self, "--diff: a table or --json, nothing else");
	if ((o->open.image || o->open.system_map) && !o->output.files.html)
		return cli_misuse(self, "--image, --system-map: for --html");
	return CLI_OK;
}

/* CLI_OK; *done: there is nothing more to do, whatever is returned. */
static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	const struct ki_option rows[] = {{"from", 0, cli_text, &o->from},
					 {"diff", 0, cli_text, &o->diff},
					 {"ratio", 0, take_ratio, &o->limits.ratio},
					 {"least", 0, take_least, &o->limits.least},
					 COVER_OUTPUT_ROWS(o->output),
					 OPEN_ROWS(o->open)};
	int ret;

	*done = true;
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	ret = check(self, o, argc - optind);
	*done = ret != CLI_OK;
	return ret;
}

static int show(const struct options *o)
{
	struct ki_coverage *c = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = ki_coverage_read_json(o->from, &c, &err) ? cli_fail(&err) : CLI_OK;

	if (!ret && (o->open.image || o->open.system_map))
		ret = open_or_fail(&o->open, &t);
	if (!ret)
		ret = cover_output_write(&o->output, c, t);
	ki_target_free(t);
	ki_coverage_free(c);
	return ret;
}

static int write_diff(const struct options *o, const struct ki_cover_diff_show *names,
		      const struct ki_coverage *before, const struct ki_coverage *after)
{
	struct ki_cover_diff *d;
	struct ki_err err = {0};
	struct ki_cover_diff_options limits = o->limits;
	int ret;

	limits.size = sizeof(limits);
	if (ki_coverage_diff(before, after, &limits, &d, &err))
		return cli_fail(&err);
	ret = o->output.json ? ki_cover_diff_json(before, after, d, names, stdout)
			     : ki_cover_diff_text(before, after, d, names, stdout);
	ki_coverage_diff_free(d);
	return ret ? cli_error("writing the result failed") : CLI_OK;
}

static int compare(const struct options *o, const char *second)
{
	struct ki_cover_diff_show names = {.before = o->diff,
					   .after = second,
					   .blocks = o->output.verbose,
					   .bold = cli_bold(stdout)};
	struct ki_coverage *before = NULL, *after = NULL;
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (ki_coverage_read_json(names.before, &before, &err) ||
	    ki_coverage_read_json(names.after, &after, &err))
		ret = cli_fail(&err);
	else
		ret = write_diff(o, &names, before, after);
	ki_coverage_free(before);
	ki_coverage_free(after);
	return ret;
}

int cover_offline(const struct verb *self, int argc, char **argv)
{
	struct options o = {0};
	bool done;
	int ret = parse_options(self, argc, argv, &o, &done);

	if (!done)
		ret = o.diff ? compare(&o, argv[optind]) : show(&o);
	cover_output_free(&o.output);
	return ret;
}
