// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables belong to sessions; what cannot be asked for; what cannot be mapped.
 */
#include "stacks.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SESSIONS 200 /* more than there can be tables */

static int ask(int fd, uint32_t frames, uint32_t rows, struct ki_stacks *out)
{
	struct ki_stacks req = {.size = sizeof(req), .frames = frames, .rows = rows};
	int ret = ioctl(fd, KI_IOC_STACKS, &req) ? -errno : 0;

	if (out)
		*out = req;
	return ret;
}

static void test_requests(void)
{
	static const struct {
		uint32_t frames, rows;
	} bad[] = {{0, 16}, {128, 16}, {UINT32_MAX, 16},	 {1, 0},
		   {1, 3},  {1, 15},   {1, KI_STACKS_ROWS * 2u}, {1, 1u << 31}};
	struct ki_stacks req = {.size = sizeof(req), .frames = 1, .rows = 1, .zero2 = 1};
	unsigned int taken = 0;
	int fd = device_open();

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		taken += ask(fd, bad[i].frames, bad[i].rows, NULL) != -EINVAL;
	taken += !ioctl(fd, KI_IOC_STACKS, &req) || errno != EINVAL;
	req = (struct ki_stacks){.size = sizeof(req) - 8, .frames = 1, .rows = 1};
	taken += !ioctl(fd, KI_IOC_STACKS, &req) || errno != EPROTO;
	taken += ask(fd, 1, 1, NULL) != 0;
	taken += ask(fd, 1, 1, NULL) != -EEXIST;
	report("requests that are not in order", !taken, "%u were not refused as they should",
	       taken);
	close(fd);
}

static int map_error(int fd, size_t len, int prot)
{
	return map_errno(fd, len, prot, MAP_SHARED, KI_MAP_STACKS);
}

static void test_mappings(void)
{
	unsigned int wrong = 0;
	struct ki_stacks req;
	int fd = device_open();
	void *p;

	wrong += map_error(fd, 4096, PROT_READ) != EINVAL;
	if (ask(fd, 10, 256, &req))
		die("table", "it is refused");
	wrong += req.stride != 16 + 80 || req.bytes != 4096 + 256 * (16 + 80);
	wrong += map_error(fd, req.bytes, PROT_READ | PROT_WRITE) != EACCES;
	wrong += map_error(fd, req.bytes, PROT_READ | PROT_EXEC) != EACCES;
	wrong += map_error(fd, req.bytes + 4096, PROT_READ) != EINVAL;
	wrong += map_error(fd, req.bytes - 4096, PROT_READ) != EINVAL;
	wrong += map_error(fd, req.bytes, PROT_READ) != 0;
	p = mmap(NULL, req.bytes, PROT_READ, MAP_SHARED, fd, KI_MAP_STACKS);
	wrong += p == MAP_FAILED || !mprotect(p, req.bytes, PROT_READ | PROT_WRITE);
	close(fd); /* the mapping holds the session */
	for (size_t i = 0; i < req.bytes; i++)
		wrong += ((const volatile uint8_t *)p)[i] != 0;
	munmap(p, req.bytes);
	report("mappings", !wrong, "%u wrong", wrong);
}

/* A ring's number is no table's, and that of another session's table is not ours. */
static void test_foreign(void)
{
	struct session s, other;
	struct ki_err err = {0};
	int ret;

	session_open(&other, 10, 16);
	session_open(&s, 10, 16);
	begin(&s);
	value(&s, ki_expr_stack(s.s, ki_stacks_number(other.stacks), 0, false));
	put(&s, CALLED, NULL);
	ret = ki_plan_apply(s.plan, s.t, false, &err);
	report("another session's table", ret && err.reason == KI_R_NOT_YOUR_COUNTER, "%s",
	       err.msg);
	session_close(&s);
	session_close(&other);
}

void test_tables(void)
{
	unsigned int refused = 0;

	test_requests();
	test_mappings();
	test_foreign();
	for (int i = 0; i < SESSIONS; i++) {
		int fd = device_open();

		refused += ask(fd, 127, 1024, NULL) != 0;
		close(fd);
	}
	report("tables go with their sessions", !refused, "%u of %d refused", refused, SESSIONS);
}
