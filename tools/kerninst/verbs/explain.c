// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst explain: the reasons why something is refused.
 */
#include "cli.h"
#include "kerninst/catalog.h"
#include "kerninst/near_reason.h"

static const char usage[] =
	"Usage: kerninst explain [--json] [TAG...]\n"
	"Say what a reason of refusal means and what to do instead; without TAG: all of them.\n\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst explain FTRACE_SITE\n"
	"  kerninst explain | grep -A2 EBUSY\n";

static int unknown(const char *text)
{
	char list[1024];

	ki_reasons_near(text, list, sizeof(list));
	return cli_error("no reason '%s'%s; kerninst explain lists them", text, list);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_page page = cli_page();
	const struct ki_option rows[] = {{"json", 0, NULL, &page.json}};
	unsigned int reason;
	int status;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &status))
		return status;
	for (unsigned int r = 0; optind == argc && r < KI_R_COUNT; r++)
		ki_reason_show(r, &page);
	for (int i = optind; i < argc; i++)
		if (ki_reason_find(argv[i], &reason))
			return unknown(argv[i]);
	for (int i = optind; i < argc; i++)
		if (!ki_reason_find(argv[i], &reason))
			ki_reason_show(reason, &page);
	return CLI_OK;
}

const struct verb verb_explain = {
	.name = "explain",
	.summary = "what a reason of refusal means",
	.usage = usage,
	.run = run,
};
