// SPDX-License-Identifier: GPL-2.0-only
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "prog/mark.h"

void die(const char *what)
{
	printf("not ok %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(2);
}

void client_open(struct client *c, size_t words)
{
	*c = (struct client){.fd = open(KCOV_FILE, O_RDWR | O_CLOEXEC), .words = words};
	if (c->fd < 0 || ioctl(c->fd, KCOV_INIT_TRACE, words))
		die("open and KCOV_INIT_TRACE");
	c->area =
		mmap(NULL, words * sizeof(*c->area), PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->area == MAP_FAILED)
		die("mmap");
}

void client_empty(struct client *c)
{
	__atomic_store_n(c->area, 0, __ATOMIC_RELAXED);
}

void client_enable(struct client *c)
{
	if (ioctl(c->fd, KCOV_ENABLE, KCOV_TRACE_PC))
		die("KCOV_ENABLE");
	client_empty(c);
}

void client_disable(struct client *c)
{
	if (ioctl(c->fd, KCOV_DISABLE, 0))
		die("KCOV_DISABLE");
}

void client_close(struct client *c)
{
	if (munmap(c->area, c->words * sizeof(*c->area)) || close(c->fd))
		die("munmap and close");
}

uint64_t client_count(const struct client *c)
{
	return __atomic_load_n(c->area, __ATOMIC_RELAXED);
}

void call_make(enum call what, unsigned int times)
{
	static const struct {
		long nr, fd;
	} calls[CALLS] = {[CALL_GETPPID] = {SYS_getppid, 0}, [CALL_READ] = {SYS_read, -1}};

	while (times--)
		sys4(calls[what].nr, calls[what].fd, 0, 0, 0);
}

void call_path(struct client *c, enum call what, struct path *out)
{
	client_empty(c);
	call_make(what, 1);
	out->n = client_count(c);
	if (!out->n || out->n > sizeof(out->v) / sizeof(*out->v)) {
		errno = ENODATA;
		die("a system call leaves nothing, or too much");
	}
	memcpy(out->v, c->area + 1, out->n * sizeof(*out->v));
	client_empty(c);
}

bool client_has(const struct client *c, const struct path *p, size_t times)
{
	uint64_t n = client_count(c);

	if (n != p->n * times) {
		printf("# %llu addresses, not %zu times %zu\n", (unsigned long long)n, times, p->n);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (c->area[1 + i] != p->v[i % p->n]) {
			printf("# address %zu is 0x%llx\n", i, (unsigned long long)c->area[1 + i]);
			return false;
		}
	return true;
}

void move_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}
