// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst reset: everything of every session is taken out, and the text is looked at.
 */
#include "cli.h"
#include "kerninst/reset.h"

static const char usage[] =
	"Usage: kerninst reset [OPTION...]\n"
	"Take out what all sessions have put into the kernel, say of each what went, and compare the\n"
	"text of the kernel and its modules with what it was before. Processes go on; they are told\n"
	"when they next change something. It takes CAP_SYS_ADMIN for sessions of other users.\n\n"
	"  -n, --dry-run    only say what would go\n"
	"      --json       a line for each session, and one for the text\n"
	"  -q, --quiet      say only what is wrong\n"
	"  -h, --help       this text\n\n"
	"Exit status 0: all is out, and the text is what it was; 1: it is not; 3: a session is\n"
	"another user's. kerninst evict takes out single sessions, and looks at nothing.\n\n"
	"Examples:\n"
	"  kerninst reset --dry-run\n"
	"  kerninst reset\n";

static int reset(struct ki_reset *r)
{
	struct ki_target *t;
	struct ki_err err = {0};
	int ret;

	if (ki_target_new_live(&t, &err)) {
		cli_warn("nothing is taken out; without symbols: kerninst evict --all");
		return cli_fail(&err);
	}
	ret = ki_reset(r, t, &err) ? cli_fail(&err) : CLI_OK;
	ki_target_free(t);
	if (!ret && r->wrong)
		return r->others ? CLI_ENVIRONMENT : CLI_ERROR;
	if (r->dry && !ret && !r->quiet && !r->page.json)
		printf("%u sessions would go\n", r->out);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_reset r = {.page = cli_page()};
	const struct ki_option rows[] = {{"dry-run", 'n', NULL, &r.dry},
					 {"json", 0, NULL, &r.page.json},
					 {"quiet", 'q', NULL, &r.quiet}};
	int status;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &status))
		return status;
	if (optind < argc)
		return cli_misuse(self, "'%s': reset takes no argument", argv[optind]);
	return reset(&r);
}

const struct verb verb_reset = {
	.name = "reset",
	.summary = "take out what all sessions have put in, and compare the text",
	.usage = usage,
	.run = run,
};
