// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst build: make a module of instruments from a C file. The kernel's own build does it, in a
 * directory that is there only for so long; what is kept is the module.
 */
#include "cli.h"
#include "kerninst/instruments_build.h"

static const char usage[] =
	"Usage: kerninst build [OPTION...] FILE.c\n"
	"Build a module of instruments, FILE.ko, for the running kernel. The file includes\n"
	"<kerninst/instrument.h>, which says what may be in it. Nothing is loaded.\n\n"
	"  -o, --output DIR   where FILE.ko is put; without it, here\n"
	"  --headers DIR      of the kernel, instead of /lib/modules/RELEASE/build\n"
	"  --cc COMPILER      instead of the one that the headers ask for\n"
	"  --cflags           only print what a Kbuild file of your own needs for its ccflags-y\n"
	"  -h, --help         this text\n\n"
	"Examples:\n"
	"  kerninst build reads.c && kerninst load reads.ko\n"
	"  echo 'obj-m := reads.o' > Kbuild\n"
	"  echo \"ccflags-y := $(kerninst build --cflags)\" >> Kbuild\n"
	"  make -C /lib/modules/$(uname -r)/build M=$PWD modules\n";

/* At once: what stands after it on the command line does not matter. */
static int print_flags(const void *self, const char *unused, void *done)
{
	char include[PATH_MAX];
	struct ki_err err = {0};

	(void)self;
	(void)unused;
	(void)done;
	if (ki_instruments_include(include, &err))
		return cli_fail(&err);
	printf("-I%s\n", include);
	return CLI_DONE;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct ki_instruments_build b = {0};
	const struct ki_option rows[] = {{"output", 'o', cli_text, &b.output},
					 {"headers", 0, cli_text, &b.headers},
					 {"cc", 0, cli_text, &b.cc},
					 {"cflags", CLI_NO_VALUE, print_flags, NULL}};
	struct ki_err err = {0};
	int ret;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	if (optind + 1 != argc)
		return cli_misuse(self, "one C file is expected");
	b.source = argv[optind];
	if (!ki_instruments_build(&b, &err))
		return CLI_OK;
	return err.code ? cli_fail(&err) : CLI_ERROR;
}

const struct verb verb_build = {
	.name = "build",
	.summary = "make a module of instruments from a C file",
	.usage = usage,
	.run = run,
};
