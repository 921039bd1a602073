// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst metrics: the table of what can be measured.
 */
#include "cli.h"
#include "kerninst/catalog.h"

static const char usage[] =
	"Usage: kerninst metrics [-v] [--json]\n"
	"Say what kerninst stat -m can measure. FORM: total, which grows; mean, of calls or over time;\n"
	"log2, a histogram with buckets by powers of two. Not listed: events only of the kernel or of\n"
	"user mode, cycles:k, cycles:u, and events by their numbers, r01c2.\n\n"
	"  -v          also the formula of what is computed, what code is put where, and what this\n"
	"              machine does not count\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst metrics\n"
	"  kerninst metrics -v | less\n";

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_page page = cli_page();
	const struct ki_option rows[] = {{"verbose", 'v', NULL, &page.verbose},
					 {"json", 0, NULL, &page.json}};
	int status;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &status))
		return status;
	if (optind < argc)
		return cli_misuse(self, "metrics takes no argument");
	return cli_shown(ki_metrics_show(&page));
}

const struct verb verb_metrics = {
	.name = "metrics",
	.summary = "what stat can measure",
	.usage = usage,
	.run = run,
};
