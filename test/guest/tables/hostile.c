// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must not be: requests, mappings and chunks that are refused; more memory than there may be.
 */
#include "tables.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul

static int table_errno(int fd, struct ki_table_request *req)
{
	req->size = sizeof(*req);
	return ioctl(fd, KI_IOC_TABLE, req) ? errno : 0;
}

static int open_device(void)
{
	int fd = open(KI_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("open", strerror(errno));
	return fd;
}

static void test_requests(void)
{
	static const struct {
		struct ki_table_request req;
		int want;
	} cases[] = {
		{{.keys = 0, .values = 1, .rows = 1}, EINVAL},
		{{.keys = KI_TABLE_KEYS + 1, .values = 1, .rows = 1}, EINVAL},
		{{.keys = UINT32_MAX, .values = 1, .rows = 1}, EINVAL},
		{{.keys = 1, .values = 0, .rows = 1}, EINVAL},
		{{.keys = 1, .values = KI_TABLE_VALUES + 1, .rows = 1}, EINVAL},
		{{.keys = 1, .values = UINT32_MAX, .rows = 1}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 0}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 3}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 2 * KI_TABLE_ROWS}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 0x80000000}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 1, .flags = 2}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 1, .reason = 1}, EINVAL},
		{{.keys = 1, .values = 1, .rows = 1, .init = 8}, EFAULT},
		{{.keys = 1, .values = 1, .rows = 1, .init = 0xffff800000000000}, EFAULT},
		{{.keys = 12, .values = KI_TABLE_VALUES, .rows = KI_TABLE_ROWS}, ENOMEM},
		{{.keys = KI_TABLE_KEYS, .values = KI_TABLE_VALUES, .rows = 1}, 0},
		{{.keys = 1, .values = 1, .rows = 1, .flags = KI_TABLE_SHARED}, 0},
	};
	int fd = open_device(), wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ki_table_request req = cases[i].req;

		wrong += table_errno(fd, &req) != cases[i].want;
	}
	report("requests", !wrong, "%d answers are wrong", wrong);
	close(fd);
}

static bool maps(int fd, size_t len, int prot, int flags, uint64_t at)
{
	void *p = mmap(NULL, len, prot, flags, fd, (off_t)at);

	if (p != MAP_FAILED)
		munmap(p, len);
	return p != MAP_FAILED;
}

/* Read-only, of its own session, lengths exact. */
static void test_mappings(void)
{
	const int rw = PROT_READ | PROT_WRITE, r = PROT_READ, x = PROT_READ | PROT_EXEC;
	struct ki_table_request req = {.keys = 1, .values = 2, .rows = 256};
	int fd = open_device(), other = open_device(), wrong = 0;
	size_t len;
	void *p;

	wrong += maps(fd, PAGE, r, MAP_SHARED, 1ull << 40);
	if (table_errno(fd, &req))
		die("table", strerror(errno));
	len = req.banks * req.stride;
	wrong += req.stride != 3 * PAGE;
	wrong += !maps(fd, len, r, MAP_SHARED, req.offset);
	wrong += maps(other, len, r, MAP_SHARED, req.offset);
	wrong += maps(fd, len, rw, MAP_SHARED, req.offset);
	wrong += maps(fd, len, rw, MAP_PRIVATE, req.offset);
	wrong += maps(fd, len, x, MAP_SHARED, req.offset);
	wrong += maps(fd, len + PAGE, r, MAP_SHARED, req.offset);
	wrong += maps(fd, len - PAGE, r, MAP_SHARED, req.offset);
	wrong += maps(fd, len, r, MAP_SHARED, req.offset + PAGE);
	for (uint64_t i = 1; i < 400; i++)
		wrong += i << 40 != req.offset && maps(fd, len, r, MAP_SHARED, i << 40);
	wrong += maps(fd, len, r, MAP_SHARED, 0x7fffff0000000000);
	p = mmap(NULL, len, r, MAP_SHARED, fd, (off_t)req.offset);
	wrong += p == MAP_FAILED || !mprotect(p, len, rw) || !mprotect(p, len, x);
	wrong += mremap(p, len, 2 * len, MREMAP_MAYMOVE) != MAP_FAILED;
	munmap(p, len);
	report("mappings", !wrong, "%d answers are wrong", wrong);
	close(fd);
	close(other);
}

/* Until there is no memory for more; how many. */
static int take_all(int fd, int *err)
{
	int n = 0;

	do {
		struct ki_table_request req = {
			.keys = 1, .values = 14, .rows = 65536, .flags = KI_TABLE_SHARED};

		*err = table_errno(fd, &req);
	} while (!*err && ++n < 300);
	return n;
}

/* Three times the same number: nothing stays behind. */
static void test_memory(void)
{
	int n[3], err[3];

	for (int i = 0; i < 3; i++) {
		int fd = open_device();

		n[i] = take_all(fd, &err[i]);
		close(fd);
	}
	report("too much memory",
	       err[0] == ENOMEM && n[0] > 1 && n[1] == n[0] && n[2] == n[0] && err[2] == ENOMEM,
	       "%d, %d and %d tables, then errno %d", n[0], n[1], n[2], err[0]);
}

/* Another session's table, more than it has, what it does not do. */
static bool is_refused(struct session *s, struct ki_table_var t, enum ki_table_op op,
		       uint32_t value)
{
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[KI_TABLE_KEYS];
	struct ki_err err = {0};
	int ret;

	for (uint32_t i = 0; i < t.keys; i++)
		key[i] = ki_expr_const(sn, KI_I64, i);
	put(s, FUNCTION, sn,
	    ki_stmt_table(sn, op, &t, value, key, t.keys,
			  op == KI_TABLE_DELETE ? NULL : ki_expr_const(sn, KI_I64, 1)));
	ret = ki_plan_apply(s->plan, s->t, false, &err);
	ki_plan_free(s->plan);
	if (ki_plan_new(&s->plan))
		die("plan", "no memory");
	return ret != 0;
}

static void test_chunks(void)
{
	const struct ki_table_options o = {.keys = 2, .values = 7, .rows = 16};
	struct session s, other;
	struct ki_table_map *m, *theirs;
	struct ki_table_var t, lie;
	int wrong = 0;

	session_open(&s);
	session_open(&other);
	m = table_open(&s, &o);
	theirs = table_open(&other, &o);
	t = ki_table_var_of(m, "mine");
	wrong += is_refused(&s, t, KI_TABLE_STATS, 1);
	wrong += !is_refused(&s, ki_table_var_of(theirs, "theirs"), KI_TABLE_ADD, 0);
	lie = t;
	lie.number = 4095;
	wrong += !is_refused(&s, lie, KI_TABLE_ADD, 0);
	lie = t;
	lie.values = 100;
	wrong += !is_refused(&s, lie, KI_TABLE_ADD, 7);
	wrong += !is_refused(&s, lie, KI_TABLE_STATS, 2);
	wrong += !is_refused(&s, lie, KI_TABLE_LOG2, 0);
	lie = t;
	lie.shared = true;
	wrong += !is_refused(&s, lie, KI_TABLE_SET, 0);
	wrong += !is_refused(&s, lie, KI_TABLE_DELETE, 0);
	report("chunks", !wrong, "%d answers are wrong", wrong);
	ki_table_close(m);
	ki_table_close(theirs);
	session_close(&s);
	session_close(&other);
}

void test_hostile(void)
{
	test_requests();
	test_mappings();
	test_memory();
	test_chunks();
}
