// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst instruments: what loaded modules, or one's file, have that expressions can call.
 */
#include "cli.h"
#include "kerninst/callable.h"
#include "kerninst/catalog.h"

static const char usage[] =
	"Usage: kerninst instruments [-v] [--json] [FILE.ko]\n"
	"List the instruments of loaded modules, or those in a module's file: functions written in C that\n"
	"expressions can call. IN USE: by how many pieces of inserted code, of all sessions, that call\n"
	"something in the module; a piece is code at one place.\n\n"
	"  -v          also what the modules show of themselves, as it is now\n"
	"  --json      one object per line\n"
	"  -h, --help  this text\n\n"
	"Examples:\n"
	"  kerninst build reads.c && kerninst load reads.ko\n"
	"  kerninst instruments\n"
	"  kerninst record 'vfs_read=read_size(arg0,arg2)' -- make\n"
	"  kerninst stat --if 'read_size(arg0,arg2) > 4096' vfs_read -- make\n"
	"  kerninst instruments -v\n";

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_page page = cli_page();
	const struct ki_option rows[] = {{"verbose", 'v', NULL, &page.verbose},
					 {"json", 0, NULL, &page.json}};
	struct ki_callables *list;
	struct ki_err err = {0};
	const char *file;
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind + 1 < argc)
		return cli_misuse(self, "one file at most");
	file = argv[optind];
	if (ki_callables_read(file, &list, &err))
		return cli_fail(&err);
	ret = cli_shown(ki_callables_show(list, !file, &page));
	ki_callables_free(list);
	return ret;
}

const struct verb verb_instruments = {
	.name = "instruments",
	.summary = "functions of modules that expressions can call",
	.usage = usage,
	.run = run,
};
