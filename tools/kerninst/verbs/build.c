// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst build: make a module of instruments from a C file. The kernel's own build does it, in a
 * directory that is there only for so long; what is kept is the module.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

extern char **environ;

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

struct build {
	const char *source, *output, *headers, *cc;
	char name[64]; /* of the module */
	char include[PATH_MAX], path[PATH_MAX], dir[64];
};

/* What make can have in a file's name. */
static bool is_plain(const char *path)
{
	return !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "/._+-")];
}

/* Beside the program, as it is installed or built. */
static int find_include(char include[PATH_MAX])
{
	static const char *const from[] = {"../include/kerninst/module", "../../../include/module"};
	char self[PATH_MAX / 2], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	*(strrchr(self, '/') ? strrchr(self, '/') : self) = 0;
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, from[i]);
		if (realpath(path, include) && is_plain(include))
			return CLI_OK;
	}
	return cli_error("kerninst/instrument.h is not where it is installed: %s/%s", self,
			 from[0]);
}

static int run_program(char *const *argv)
{
	pid_t pid;
	int status, ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (ret)
		return cli_error("%s: %s", argv[0], strerror(ret));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cli_error("%s: %s", argv[0], strerror(errno));
	return status ? CLI_ERROR : CLI_OK;
}

static int look_at_source(struct build *b)
{
	const char *base = strrchr(b->source, '/');
	size_t len;

	base = base ? base + 1 : b->source;
	len = strlen(base);
	if (!realpath(b->source, b->path))
		return cli_error("%s: %s", b->source, strerror(errno));
	if (len < 3 || len - 2 >= sizeof(b->name) || strcmp(base + len - 2, ".c") != 0 ||
	    !is_plain(base))
		return cli_error("%s: the name of a C file of letters and digits is expected",
				 b->source);
	if (!is_plain(b->path))
		return cli_error("%s: make cannot have it there: only letters, digits and . _ + - "
				 "in the names of directories",
				 b->path);
	snprintf(b->name, sizeof(b->name), "%.*s", (int)(len - 2), base);
	return CLI_OK;
}

/* The directory in which the kernel's build writes. */
static int prepare(struct build *b)
{
	char path[PATH_MAX + 128];
	FILE *f;

	snprintf(b->dir, sizeof(b->dir), "/tmp/kerninst-build.XXXXXX");
	if (!mkdtemp(b->dir))
		return cli_error("%s: %s", b->dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s.c", b->dir, b->name);
	if (symlink(b->path, path))
		return cli_error("%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/Kbuild", b->dir);
	f = fopen(path, "we");
	if (!f)
		return cli_error("%s: %s", path, strerror(errno));
	*strrchr(b->path, '/') = 0;
	fprintf(f, "obj-m := %s.o\nccflags-y := -I%s -I%s/\n", b->name, b->include, b->path);
	return fclose(f) ? cli_error("%s: %s", path, strerror(errno)) : CLI_OK;
}

static int make(const struct build *b)
{
	char release[PATH_MAX], where[PATH_MAX + 8], cc[PATH_MAX + 8];
	char program[] = "make", quiet[] = "-s", directory[] = "-C", modules[] = "modules",
	     no_btf[] = "CONFIG_DEBUG_INFO_BTF_MODULES=";
	char *argv[] = {program, quiet, directory, release, where, no_btf, modules, NULL, NULL};
	struct utsname u;

	uname(&u);
	if (b->headers)
		snprintf(release, sizeof(release), "%s", b->headers);
	else
		snprintf(release, sizeof(release), "/lib/modules/%s/build", u.release);
	if (access(release, R_OK))
		return cli_error("%s: %s: install linux-headers-%s, or name them by --headers",
				 release, strerror(errno), u.release);
	snprintf(where, sizeof(where), "M=%s", b->dir);
	snprintf(cc, sizeof(cc), "CC=%s", b->cc ? b->cc : "");
	if (b->cc)
		argv[7] = cc;
	return run_program(argv);
}

static int keep(const struct build *b)
{
	char from[256], to[PATH_MAX + 80];
	char program[] = "cp", force[] = "-f", end[] = "--";
	char *argv[] = {program, force, end, from, to, NULL};

	snprintf(from, sizeof(from), "%s/%s.ko", b->dir, b->name);
	snprintf(to, sizeof(to), "%s/%s.ko", b->output ? b->output : ".", b->name);
	return run_program(argv);
}

static void clean(struct build *b)
{
	char program[] = "rm", force[] = "-rf", end[] = "--";
	char *argv[] = {program, force, end, b->dir, NULL};

	if (*b->dir)
		run_program(argv);
}

static int build(struct build *b)
{
	int ret = find_include(b->include);

	if (!ret)
		ret = look_at_source(b);
	if (!ret)
		ret = prepare(b);
	if (!ret)
		ret = make(b);
	if (!ret)
		ret = keep(b);
	clean(b);
	return ret;
}

static int print_flags(void)
{
	char include[PATH_MAX];
	int ret = find_include(include);

	if (!ret)
		printf("-I%s\n", include);
	return ret;
}

static int run(const struct verb *self, int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'}, {"headers", required_argument, NULL, 'H'},
		{"cc", required_argument, NULL, 'c'},	  {"cflags", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},	  {0}};
	struct build b = {0};
	int c;

	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			b.output = optarg;
			break;
		case 'H':
			b.headers = optarg;
			break;
		case 'c':
			b.cc = optarg;
			break;
		case 'f':
			return print_flags();
		default:
			return cli_other_option(self, c, argv);
		}
	}
	if (optind + 1 != argc)
		return cli_misuse(self, "one C file is expected");
	b.source = argv[optind];
	return build(&b);
}

const struct verb verb_build = {
	.name = "build",
	.summary = "make a module of instruments from a C file",
	.usage = usage,
	.run = run,
};
