// SPDX-License-Identifier: GPL-2.0-only
/* kerninst text: keep the kernel's text in a file, and say what has changed in it since. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "open.h"
#include "out/json.h"
#include "text_words.h"

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
	bool json, quiet;
};

static void print_json(const struct ki_text_change *c, const struct text_words *w)
{
	struct ki_json j;

	ki_json_init(&j, stdout);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "compared", c->compared);
	ki_json_u64(&j, "differing", c->differing);
	ki_json_u64(&j, "gone", c->gone);
	if (c->differing) {
		ki_json_open(&j, "first", '{');
		ki_json_str(&j, "place", w->place);
		ki_json_str(&j, "was", w->was);
		ki_json_str(&j, "is", w->is);
		ki_json_close(&j);
	}
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void print(const struct ki_target *t, const struct text_options *o,
		  const struct ki_text_change *c)
{
	struct text_words w;

	text_words(t, c, &w);
	if (o->json)
		print_json(c, &w);
	else if (c->differing)
		printf("%" PRIu64 " of %" PRIu64 " bytes differ, the first at %s: %s was %s\n",
		       c->differing, c->compared, w.place, w.is, w.was);
	else if (!o->quiet)
		printf("equal: %" PRIu64 " bytes\n", c->compared);
	if (!o->json && c->gone && !o->quiet)
		printf("%" PRIu64 " ranges of modules are not there any more\n", c->gone);
}

static int compare(struct ki_target *t, const struct text_options *o, const char *path)
{
	struct ki_text_change change;
	struct ki_err err = {0};

	if (ki_target_text_compare(t, path, &change, &err))
		return cli_fail(&err);
	print(t, o, &change);
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
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						OPEN_OPTIONS,
						{0}};
	struct text_options o = {0};
	const struct action *action;
	struct ki_target *t = NULL;
	int c, ret;

	while ((c = getopt_long(argc, argv, ":qh", options, NULL)) != -1) {
		if (c != 'j' && c != 'q' && !open_option(&o.open, c, optarg))
			return cli_other_option(self, c, argv);
		o.json |= c == 'j';
		o.quiet |= c == 'q';
	}
	action = action_named(argv[optind]);
	if (!action || optind + 2 != argc)
		return cli_misuse(self, "keep FILE, or compare FILE");
	ret = open_or_fail(&o.open, &t);
	if (!ret)
		ret = action->run(t, &o, argv[optind + 1]);
	ki_target_close(t);
	return ret;
}

const struct verb verb_text = {
	.name = "text",
	.summary = "keep the kernel's text in a file, and see what has changed in it since",
	.usage = usage,
	.run = run,
};
