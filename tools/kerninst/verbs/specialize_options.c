// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "command.h"
#include "kerninst/special.h"
#include "specialize.h"

const char specialize_usage[] =
	"Usage: kerninst specialize [OPTION...] FUNCTION [-- COMMAND...]\n"
	"Count the values of an argument of FUNCTION, make a version of it for the most frequent one,\n"
	"and lead calls with that value there: while COMMAND runs, or until Ctrl-C. The version is a\n"
	"kernel module: the function's own code, without what the value decides.\n\n"
	"      --argument N     which argument: 0 (the default) to 5\n"
	"      --value V        the value; nothing is counted\n"
	"      --for SECONDS    count so long (default 5)\n"
	"      --share PERCENT  the value must be in so many of 100 calls (default 20)\n"
	"      --callers        calls with the constant in their code lead there where they stand, past\n"
	"                       the guard; who traces FUNCTION does not see them\n"
	"      --alone          no copies of the functions that it calls\n"
	"  -n, --dry-run        say what would be done, and change nothing\n"
	"      --explain        say which branches are decided, and what stays in the original\n"
	"      --try            measure without it and with it, in turn: it stays only if it is better\n"
	"      --judge FUNCTION whose time per call decides (default: who calls FUNCTION most often in\n"
	"                       a second)\n"
	"      --metric NAME    what of it (default vtime/call)\n"
	"      --windows N      measure N times without and N times with it (default 5)\n"
	"      --window SECONDS each so long (default 1)\n"
	"      --keep           leave it in, in a process that stays: kerninst evolve --list, --undo\n"
	"  -h, --help           this text\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system, 4 no value is frequent enough, it decides nothing, or --try has not\n"
	"proved with 95 % confidence that it is better.\n\n"
	"Examples:\n"
	"  kerninst specialize --dry-run --value 64 __kmalloc\n"
	"  kerninst specialize --for 10 --callers __kmalloc\n"
	"  kerninst specialize --dry-run --explain --argument 2 --value 1 vfs_read\n";

static int take_value(const void *self, const char *text, void *to)
{
	struct specialize_options *o = to;
	char *end;

	o->value = strtoll(text, &end, 0);
	o->given = true;
	if (end == text || *end || o->value != (int32_t)o->value)
		return cli_misuse(self, "--value '%s': a number of 32 bits, with a sign", text);
	return CLI_OK;
}

struct seconds {
	const char *name;
	double *to;
};

static int take_seconds(const void *self, const char *text, void *to)
{
	const struct seconds *row = to;

	return cli_seconds(text, row->to)
		       ? CLI_OK
		       : cli_misuse(self, "--%s '%s': seconds, more than 0", row->name, text);
}

bool specialize_parse(const struct verb *self, int argc, char **argv, struct specialize_options *o,
		      int *status)
{
	struct cli_number argument = {"argument", 0, KI_SPECIAL_ARGUMENTS - 1, &o->argument},
			  share = {"share", 0, 100, &o->share},
			  windows = {"windows", 2, 1000, &o->windows};
	struct seconds seconds = {"for", &o->seconds}, window = {"window", &o->window};
	const struct ki_option rows[] = {{"argument", 0, cli_number, &argument},
					 {"value", 0, take_value, o},
					 {"for", 0, take_seconds, &seconds},
					 {"share", 0, cli_number, &share},
					 {"callers", 0, NULL, &o->callers},
					 {"alone", 0, NULL, &o->alone},
					 {"dry-run", 'n', NULL, &o->dry_run},
					 {"explain", 0, NULL, &o->explain},
					 {"try", 0, NULL, &o->trial},
					 {"judge", 0, cli_text, &o->judge},
					 {"metric", 0, cli_text, &o->metric},
					 {"windows", 0, cli_number, &windows},
					 {"window", 0, take_seconds, &window},
					 {"keep", 0, NULL, &o->keep}};

	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), status))
		return false;
	if (argc - optind != 1) {
		*status = cli_misuse(self, "one function is expected");
		return false;
	}
	o->function = argv[optind];
	if (o->keep && o->command) {
		*status = cli_misuse(self, "--keep: it stays without a COMMAND");
		return false;
	}
	return true;
}
