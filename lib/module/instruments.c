// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The kernel's own build makes the module, in a directory that is there only for so long; what is
 * kept is the module.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/instruments_build.h"

extern char **environ;

struct build {
	const struct ki_instruments_build *o;
	char name[64]; /* of the module */
	char include[PATH_MAX], path[PATH_MAX], dir[64];
	struct ki_err *err;
};

/* What make can have in a file's name. */
static bool is_plain(const char *path)
{
	return !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "/._+-")];
}

/* Beside the program, as it is installed or built. */
int ki_instruments_include(char include[PATH_MAX], struct ki_err *err)
{
	static const char *const from[] = {"../include/kerninst/module", "../../../include/module"};
	char self[PATH_MAX / 2], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	*(strrchr(self, '/') ? strrchr(self, '/') : self) = 0;
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, from[i]);
		if (realpath(path, include) && is_plain(include))
			return 0;
	}
	return ki_err_set(err, -ENOENT, 0,
			  "kerninst/instrument.h is not where it is installed: %s/%s", self,
			  from[0]);
}

static int run_program(char *const *argv, struct ki_err *err)
{
	pid_t pid;
	int status, ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (ret)
		return ki_err_set(err, -ret, 0, "%s: %s", argv[0], strerror(ret));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ki_err_set(err, -errno, 0, "%s: %s", argv[0], strerror(errno));
	return status ? -ECHILD : 0;
}

static int look_at_source(struct build *b)
{
	const char *base = strrchr(b->o->source, '/');
	size_t len;

	base = base ? base + 1 : b->o->source;
	len = strlen(base);
	if (!realpath(b->o->source, b->path))
		return ki_err_set(b->err, -EINVAL, 0, "%s: %s", b->o->source, strerror(errno));
	if (len < 3 || len - 2 >= sizeof(b->name) || strcmp(base + len - 2, ".c") != 0 ||
	    !is_plain(base))
		return ki_err_set(b->err, -EINVAL, 0,
				  "%s: the name of a C file of letters and digits is expected",
				  b->o->source);
	if (!is_plain(b->path))
		return ki_err_set(b->err, -EINVAL, 0,
				  "%s: make cannot have it there: only letters, digits and . _ + - "
				  "in the names of directories",
				  b->path);
	snprintf(b->name, sizeof(b->name), "%.*s", (int)(len - 2), base);
	return 0;
}

/* The directory in which the kernel's build writes. */
static int prepare(struct build *b)
{
	char path[PATH_MAX + 128];
	FILE *f;

	snprintf(b->dir, sizeof(b->dir), "/tmp/kerninst-build.XXXXXX");
	if (!mkdtemp(b->dir))
		return ki_err_set(b->err, -EINVAL, 0, "%s: %s", b->dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s.c", b->dir, b->name);
	if (symlink(b->path, path))
		return ki_err_set(b->err, -EINVAL, 0, "%s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/Kbuild", b->dir);
	f = fopen(path, "we");
	if (!f)
		return ki_err_set(b->err, -EINVAL, 0, "%s: %s", path, strerror(errno));
	*strrchr(b->path, '/') = 0;
	fprintf(f, "obj-m := %s.o\nccflags-y := -I%s -I%s/\n", b->name, b->include, b->path);
	return fclose(f) ? ki_err_set(b->err, -EIO, 0, "%s: %s", path, strerror(errno)) : 0;
}

static int make(const struct build *b)
{
	char release[PATH_MAX], where[PATH_MAX + 8], cc[PATH_MAX + 8];
	char program[] = "make", quiet[] = "-s", directory[] = "-C", modules[] = "modules",
	     no_btf[] = "CONFIG_DEBUG_INFO_BTF_MODULES=";
	char *argv[] = {program, quiet, directory, release, where, no_btf, modules, NULL, NULL};
	struct utsname u;

	uname(&u);
	if (b->o->headers)
		snprintf(release, sizeof(release), "%s", b->o->headers);
	else
		snprintf(release, sizeof(release), "/lib/modules/%s/build", u.release);
	if (access(release, R_OK))
		return ki_err_set(b->err, -EINVAL, 0,
				  "%s: %s: install linux-headers-%s, or name them by --headers",
				  release, strerror(errno), u.release);
	snprintf(where, sizeof(where), "M=%s", b->dir);
	snprintf(cc, sizeof(cc), "CC=%s", b->o->cc ? b->o->cc : "");
	if (b->o->cc)
		argv[7] = cc;
	return run_program(argv, b->err);
}

static int keep(const struct build *b)
{
	char from[256], to[PATH_MAX + 80];
	char program[] = "cp", force[] = "-f", end[] = "--";
	char *argv[] = {program, force, end, from, to, NULL};

	snprintf(from, sizeof(from), "%s/%s.ko", b->dir, b->name);
	snprintf(to, sizeof(to), "%s/%s.ko", b->o->output ? b->o->output : ".", b->name);
	return run_program(argv, b->err);
}

static void clean(struct build *b)
{
	char program[] = "rm", force[] = "-rf", end[] = "--";
	char *argv[] = {program, force, end, b->dir, NULL};

	if (*b->dir)
		run_program(argv, NULL);
}

static int build(struct build *b)
{
	int ret = ki_instruments_include(b->include, b->err);

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

int ki_instruments_build(const struct ki_instruments_build *o, struct ki_err *err)
{
	struct build b = {.o = o, .err = err};

	return build(&b);
}
