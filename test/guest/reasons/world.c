// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reasons/reasons.h"

struct ki_target *world;

#define FUNCTIONS 32
static struct {
	uint64_t addr;
	struct ki_function *fn;
} functions[FUNCTIONS];
static unsigned int nfunctions;

uint64_t world_address(const char *module, const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(world, module, name, NULL);

	if (!sym)
		die(name, "there is no such function");
	return sym->addr;
}

const struct ki_function *world_function(const char *module, const char *name)
{
	uint64_t addr = world_address(module, name);
	struct ki_err err = {0};

	for (unsigned int i = 0; i < nfunctions; i++)
		if (functions[i].addr == addr)
			return functions[i].fn;
	if (nfunctions == FUNCTIONS ||
	    ki_function_analyze(world, ki_target_symbol_named(world, module, name, NULL),
				&functions[nfunctions].fn, &err))
		die(name, err.msg);
	functions[nfunctions].addr = addr;
	return functions[nfunctions++].fn;
}

void world_close(void)
{
	while (nfunctions)
		ki_function_free(functions[--nfunctions].fn);
	ki_target_free(world);
}

/* ---- others ---- */

static void become_nobody(int cap)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};

	if (cap >= 0)
		caps[cap / 32].effective = caps[cap / 32].permitted = 1u << cap % 32;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(65534, 65534, 65534) ||
	    syscall(SYS_capset, &head, caps))
		die("nobody", strerror(errno));
}

void as_nobody(int cap, void (*f)(struct answer *a), struct answer *a)
{
	int says[2], status;
	pid_t pid;

	if (pipe(says))
		die("pipe", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		become_nobody(cap);
		f(a);
		_exit(write(says[1], a, sizeof(*a)) != sizeof(*a));
	}
	close(says[1]);
	if (read(says[0], a, sizeof(*a)) != sizeof(*a))
		die("nobody", "it has said nothing");
	close(says[0]);
	waitpid(pid, &status, 0);
}

static char param_path[128], param_was[32];

static void param_write(const char *value)
{
	int fd = open(param_path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die(param_path, strerror(errno));
	close(fd);
}

void param_set(const char *name, const char *value)
{
	int fd;

	snprintf(param_path, sizeof(param_path), "/sys/module/kerninst/parameters/%s", name);
	memset(param_was, 0, sizeof(param_was));
	fd = open(param_path, O_RDONLY);
	if (fd < 0 || read(fd, param_was, sizeof(param_was) - 1) <= 0)
		die(param_path, strerror(errno));
	close(fd);
	param_write(value);
}

void param_back(void)
{
	param_write(param_was);
}

void answer_of(struct answer *a, int ret, unsigned int reason)
{
	*a = (struct answer){.error = ret ? errno : 0, .reason = reason, .where = "a request"};
}
