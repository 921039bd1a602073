// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst load: load a module of instruments, after saying what is in it. It is what insmod does;
 * but a module without instruments, or of another version of the interface, is not loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/callable.h"
#include "kerninst/catalog.h"

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

static int check(const char *file, const struct ki_callables *list)
{
	const struct ki_callable *c, *found;
	struct ki_err err = {0};
	size_t n, functions = 0;

	c = ki_callables_all(list, &n);
	for (size_t i = 0; i < n; i++) {
		if (c[i].is_value)
			continue;
		functions++;
		if (ki_callables_find(list, c[i].name, &found, &err))
			return cli_fail(&err);
	}
	return functions ? CLI_OK : cli_error("%s: no instruments in it; see kerninst build", file);
}

static int insert(const char *file)
{
	static const struct {
		int error;
		const char *why;
	} whys[] = {
		{EEXIST, "a module of that name is loaded already: rmmod it first"},
		{ENODEV, "the kerninst driver is not loaded, or of another version"},
		{ENOEXEC, "built for another kernel (dmesg has more): kerninst build it here"},
		{EPERM, "only root may load modules, and not when the kernel is locked down"},
		{EKEYREJECTED, "this kernel takes signed modules only"},
	};
	int fd = open(file, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return cli_error("%s: %s", file, strerror(errno));
	error = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	if (!error)
		return CLI_OK;
	for (size_t i = 0; i < sizeof(whys) / sizeof(*whys); i++)
		if (error == whys[i].error)
			return cli_error("%s: %s", file, whys[i].why);
	return cli_error("%s: %s", file, strerror(error));
}

static int load(const char *file, bool dry_run, bool quiet)
{
	const struct ki_page page = cli_page();
	struct ki_callables *list;
	struct ki_err err = {0};
	int ret;

	if (ki_callables_read(file, &list, &err))
		return cli_fail(&err);
	ret = check(file, list);
	if (!ret && (!quiet || dry_run))
		ret = cli_shown(ki_callables_show(list, false, &page));
	ki_callables_free(list);
	if (ret || dry_run)
		return ret;
	fflush(stdout);
	if (!quiet)
		cli_warn("%s runs in the kernel from now on, unchecked; rmmod takes it out", file);
	return insert(file);
}

static int run(const struct verb *self, int argc, char **argv)
{
	bool dry_run = false, quiet = false;
	const struct cli_row rows[] = {{"dry-run", 'n', NULL, &dry_run},
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
