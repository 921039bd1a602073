// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
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

enum {
	OPT_ARGUMENT = 256,
	OPT_VALUE,
	OPT_FOR,
	OPT_SHARE,
	OPT_CALLERS,
	OPT_ALONE,
	OPT_EXPLAIN,
	OPT_TRY,
	OPT_JUDGE,
	OPT_METRIC,
	OPT_WINDOWS,
	OPT_WINDOW,
	OPT_KEEP
};

static int take_number(const struct verb *self, const char *name, unsigned long least,
		       unsigned long most, unsigned long *out)
{
	char *end;

	*out = strtoul(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || *out < least || *out > most)
		return cli_misuse(self, "--%s '%s': a number from %lu to %lu", name, optarg, least,
				  most);
	return CLI_OK;
}

static int take_value(const struct verb *self, struct specialize_options *o)
{
	char *end;

	o->value = strtoll(optarg, &end, 0);
	o->given = true;
	if (end == optarg || *end || o->value != (int32_t)o->value)
		return cli_misuse(self, "--value '%s': a number of 32 bits, with a sign", optarg);
	return CLI_OK;
}

static int take_seconds(const struct verb *self, const char *name, double *out)
{
	return cli_seconds(optarg, out)
		       ? CLI_OK
		       : cli_misuse(self, "--%s '%s': seconds, more than 0", name, optarg);
}

static void take_flag(struct specialize_options *o, int option)
{
	o->callers |= option == OPT_CALLERS;
	o->alone |= option == OPT_ALONE;
	o->explain |= option == OPT_EXPLAIN;
	o->trial |= option == OPT_TRY;
	o->keep |= option == OPT_KEEP;
	o->dry_run |= option == 'n';
}

static int take_option(const struct verb *self, int option, void *arg)
{
	struct specialize_options *o = arg;

	switch (option) {
	case OPT_ARGUMENT:
		return take_number(self, "argument", 0, KI_SPECIAL_ARGUMENTS - 1, &o->argument);
	case OPT_SHARE:
		return take_number(self, "share", 0, 100, &o->share);
	case OPT_WINDOWS:
		return take_number(self, "windows", 2, 1000, &o->windows);
	case OPT_VALUE:
		return take_value(self, o);
	case OPT_FOR:
		return take_seconds(self, "for", &o->seconds);
	case OPT_WINDOW:
		return take_seconds(self, "window", &o->window);
	case OPT_JUDGE:
		o->judge = optarg;
		break;
	case OPT_METRIC:
		o->metric = optarg;
		break;
	default:
		take_flag(o, option);
	}
	return CLI_OK;
}

bool specialize_parse(const struct verb *self, int argc, char **argv, struct specialize_options *o,
		      int *status)
{
	static const struct option options[] = {{"argument", required_argument, NULL, OPT_ARGUMENT},
						{"value", required_argument, NULL, OPT_VALUE},
						{"for", required_argument, NULL, OPT_FOR},
						{"share", required_argument, NULL, OPT_SHARE},
						{"callers", no_argument, NULL, OPT_CALLERS},
						{"alone", no_argument, NULL, OPT_ALONE},
						{"dry-run", no_argument, NULL, 'n'},
						{"explain", no_argument, NULL, OPT_EXPLAIN},
						{"try", no_argument, NULL, OPT_TRY},
						{"judge", required_argument, NULL, OPT_JUDGE},
						{"metric", required_argument, NULL, OPT_METRIC},
						{"windows", required_argument, NULL, OPT_WINDOWS},
						{"window", required_argument, NULL, OPT_WINDOW},
						{"keep", no_argument, NULL, OPT_KEEP},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const struct cli_syntax syntax = {":nh", options, take_option, o};

	argc = command_cut(argc, argv, &o->command);
	if (!cli_take_options(self, argc, argv, &syntax, status))
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
