// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst cover: which blocks of the kernel are executed.
 */
#include "cli.h"
#include "cover/cover_output.h"
#include "when.h"

/* clang-format off */
static const char usage[] =
	"Usage: kerninst cover [OPTION...] --all | FUNCTION... [-- COMMAND [ARG...]]\n"
	COVER_OFFLINE_USAGE
	"Which blocks of the kernel were executed while COMMAND ran (or until Ctrl-C), by whomever;\n"
	"with --own, by COMMAND and what it starts. PID/FUNCTION, command/FUNCTION: blocks of a\n"
	"process, or of COMMAND itself from its first instruction on.\n"
	"Or show, convert, compare what was measured before.\n\n"
	COVER_LIVE_OPTIONS_USAGE
	WHEN_USAGE
	COVER_OFFLINE_OPTIONS_USAGE
	COVER_OUTPUT_USAGE
	"  -h, --help             this text\n\n"
	"Examples:\n"
	"  kerninst cover 'ext4_*' -- cp -r /usr/include /tmp\n"
	"  kerninst cover 'command/bash:*' -- bash -c 'echo hello'\n"
	"  kerninst cover --all --once -o build.json -- make -j4\n"
	"  kerninst cover --from boot.json --html report && xdg-open report/index.html\n"
	"  kerninst cover --from boot.json --lcov boot.info --debug vmlinux && genhtml boot.info\n"
	"  kerninst cover --diff before.json after.json\n";
/* clang-format on */

static int run(const struct verb *self, int argc, char **argv)
{
	return (cover_is_offline(argc, argv) ? cover_offline : cover_live)(self, argc, argv);
}

const struct verb verb_cover = {
	.name = "cover",
	.summary = "which blocks were executed: report, lcov, comparison",
	.usage = usage,
	.run = run,
};
