// SPDX-License-Identifier: GPL-2.0-only
/* kerninst text: keep the kernel's text in a file, and say what has changed in it since. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "kerninst/text_change.h"
#include "open.h"

static const char usage[] =
	"Usage: kerninst text [OPTION...] keep FILE\n"
	"       kerninst text [OPTION...] compare FILE\n"
	"Keep the text of the kernel and its modules in a file, and compare it with that later: did\n"
	"all that was installed go again? Places that the kernel itself rewrites (ftrace sites,\n"
	"static branches, static calls, lock prefixes) are left out, as are the driver's own text\n"
	"and modules that came later. If the text differs the first difference is named, and the\n"
	"exit status is 1.\n\n"
	"      --json       one object\n"
	"  -q, --quiet      say nothing if the text is equal\n" OPEN_USAGE
	"  -h, --help       this text\n\n"
	"Examples:\n"
	"  kerninst text keep /tmp/before\n"
	"  kerninst text compare /tmp/before\n";

struct text_options {
	struct open_options open;
	struct ki_page page;
	bool quiet;
};

static int compare(struct ki_target *t, const struct text_options *o, const char *path)
{
	struct ki_text_change change;
	struct ki_err err = {0};

	if (ki_target_text_compare(t, path, &change, &err))
		return cli_fail(&err);
	ki_text_change_show(t, &change, o->quiet, &o->page);
	return change.differing ? CLI_ERROR : CLI_OK;
}

static int keep(struct ki_target *t, const struct text_options *o, const char *path)
{
	struct ki_err err = {0};

	(void)o;
	return ki_target_text_keep(t, path, KI_VIEW_LIVE, &err) ? cli_fail(&err) : CLI_OK;
}

static const struct action {
	const char *name;
	int (*run)(struct ki_target *t, const struct text_options *o, const char *path);
} actions[] = {{"keep", keep}, {"compare", compare}};

static const struct action *action_named(const char *name)
{
	for (size_t i = 0; name && i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct text_options o = {.page = cli_page()};
	const struct ki_option rows[] = {
		{"json", 0, NULL, &o.page.json}, {"quiet", 'q', NULL, &o.quiet}, OPEN_ROWS(o.open)};
	const struct action *action;
	struct ki_target *t = NULL;
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	action = action_named(argv[optind]);
	if (!action || optind + 2 != argc)
		return cli_misuse(self, "keep FILE, or compare FILE");
	ret = open_or_fail(&o.open, &t);
	if (!ret)
		ret = action->run(t, &o, argv[optind + 1]);
	ki_target_free(t);
	return ret;
}

const struct verb verb_text = {
	.name = "text",
	.summary = "keep the kernel's text in a file, and see what has changed in it since",
	.usage = usage,
	.run = run,
};
