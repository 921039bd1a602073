// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst sessions: who has the device open, what each has put into the kernel, what that takes.
 */
#include <string.h>

#include "cli.h"
#include "kerninst/catalog.h"

static const char usage[] =
	"Usage: kerninst sessions [OPTION...]\n"
	"List the sessions that are open: who opened each, and what it has put into the kernel.\n\n"
	"  -v, --verbose    also each window, not only what is replaced; and modules that are held\n"
	"      --json       a line for each session\n"
	"  -h, --help       this text\n\n"
	"COUNTED is the sum of all counters of a session, whatever they count. BYTES are those of\n"
	"patches; several sessions in one patch are told all of it. PAGES (4 KiB) are buffers and\n"
	"tables. kerninst evict takes out what a session has put in.\n\n"
	"Examples:\n"
	"  kerninst sessions\n"
	"  kerninst sessions --json | jq 'select(.replaced > 0)'\n";

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_page page = cli_page();
	const struct ki_option rows[] = {{"verbose", 'v', NULL, &page.verbose},
					 {"json", 0, NULL, &page.json}};
	struct ki_target *t;
	struct ki_err err = {0};
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind != argc)
		return cli_misuse(self, "no argument is expected");
	if (ki_target_new_live(&t, &err))
		return cli_fail(&err);
	ret = ki_sessions_show(t, &page);
	ki_target_free(t);
	return ret ? cli_error("sessions cannot be listed: %s", strerror(-ret)) : CLI_OK;
}

const struct verb verb_sessions = {
	.name = "sessions",
	.summary = "who has put what into the kernel",
	.usage = usage,
	.run = run,
};
