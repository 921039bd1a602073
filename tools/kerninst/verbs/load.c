// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst load: load a module of instruments, after saying what is in it. It is what insmod does;
 * but a module without instruments, or of another version of the interface, is not loaded.
 */
#include "cli.h"
#include "kerninst/catalog.h"
#include "kerninst/instruments_build.h"

static const char usage[] =
	"Usage: kerninst load [-nq] FILE.ko\n"
	"Load a module of instruments into the running kernel. Its code is not checked: it may do whatever\n"
	"the kernel may, and a mistake in it is a mistake in the kernel. Try it in a virtual machine\n"
	"first. rmmod takes it out again, when nothing calls it any more.\n\n"
	"  -n, --dry-run  only say what is in it\n"
	"  -q, --quiet    no table, no warning\n"
	"  -h, --help     this text\n\n"
	"Examples:\n"
	"  kerninst load -n reads.ko\n"
	"  kerninst load reads.ko && kerninst instruments\n"
	"  rmmod reads\n";

static int load(const char *file, bool dry_run, bool quiet)
{
	const struct ki_page page = cli_page();
	struct ki_callables *list;
	struct ki_err err = {0};
	int ret;

	if (ki_callables_read(file, &list, &err))
		return cli_fail(&err);
	ret = ki_instruments_check(file, list, &err) ? cli_fail(&err) : CLI_OK;
	if (!ret && (!quiet || dry_run))
		ret = cli_shown(ki_callables_show(list, false, &page));
	ki_callables_free(list);
	if (ret || dry_run)
		return ret;
	fflush(stdout);
	if (!quiet)
		cli_warn("%s runs in the kernel from now on, unchecked; rmmod takes it out", file);
	return ki_instruments_load(file, &err) ? cli_fail(&err) : CLI_OK;
}

static int run(const struct verb *self, int argc, char **argv)
{
	bool dry_run = false, quiet = false;
	const struct ki_option rows[] = {{"dry-run", 'n', NULL, &dry_run},
					 {"quiet", 'q', NULL, &quiet}};
	int status;

	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &status))
		return status;
	if (optind + 1 != argc)
		return cli_misuse(self, "one module's file is expected");
	return load(argv[optind], dry_run, quiet);
}

const struct verb verb_load = {
	.name = "load",
	.summary = "load a module of instruments",
	.usage = usage,
	.run = run,
};
