// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must not be: requests, mappings and chunks that are refused; more memory than there may be.
 */
#include "tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int table_errno(int fd, struct ki_table_request *req)
{
	req->size = sizeof(*req);
	return ioctl(fd, KI_IOC_TABLE, req) ? errno : 0;
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
	int fd = device_open(), wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ki_table_request req = cases[i].req;

		wrong += table_errno(fd, &req) != cases[i].want;
	}
	report("requests", !wrong, "%d answers are wrong", wrong);
	close(fd);
}

static bool maps(int fd, size_t len, int prot, int flags, uint64_t at)
{
	return !map_errno(fd, len, prot, flags, at);
}

/* Read-only, of its own session, lengths exact. */
static void test_mappings(void)
{
	const int rw = PROT_READ | PROT_WRITE, r = PROT_READ, x = PROT_READ | PROT_EXEC;
	struct ki_table_request req = {.keys = 1, .values = 2, .rows = 256};
	int fd = device_open(), other = device_open(), wrong = 0;
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

int take_all(int fd, int *err)
{
	int n = 0;

	do {
		struct ki_table_request req = {
			.keys = 1, .values = 14, .rows = 65536, .flags = KI_TABLE_SHARED};

		*err = table_errno(fd, &req);
	} while (!*err && ++n < 300);
	return n;
}

int tables_fit(void)
{
	const long each = 65536 * 16 * 8 / (long)PAGE + 1;

	return (int)(sysconf(_SC_PHYS_PAGES) / 8 / each);
}

/* All tables take an eighth of the memory at most; what has gone has left nothing. */
static void test_memory(void)
{
	const int most = tables_fit();
	int n[3], err[3];

	for (int i = 0; i < 3; i++) {
		int fd = device_open();

		n[i] = take_all(fd, &err[i]);
		close(fd);
	}
	report("too much memory",
	       err[0] == ENOMEM && n[0] > 1 && n[0] == most && n[1] == most && n[2] == most &&
		       err[2] == ENOMEM,
	       "%d, %d and %d tables of %d, then errno %d", n[0], n[1], n[2], most, err[0]);
}

/* Why it is refused; KI_R_OK: it is not. */
static uint32_t answer(struct session *s, struct ki_table_var t, enum ki_table_op op,
		       uint32_t value)
{
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[KI_TABLE_KEYS];
	struct ki_err err = {0};
	int ret;

	for (uint32_t i = 0; i < t.keys; i++)
		key[i] = ki_expr_const(sn, KI_I64, i);
	put(s, CALLED, sn,
	    ki_stmt_table(sn, op, &(struct ki_row_value){&t, value, key, t.keys},
			  op == KI_TABLE_DELETE ? NULL : ki_expr_const(sn, KI_I64, 1)));
	ret = ki_plan_apply(s->plan, s->t, false, &err);
	ki_plan_free(s->plan);
	s->plan = plan_new();
	return ret && !err.reason ? UINT32_MAX : err.reason;
}

/* Another session's table, more than it has, what it does not do. */
static void test_chunks(void)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 2, .values = 7, .rows = 16};
	struct session s, other;
	struct ki_table_map *m, *theirs;
	struct ki_table_var t, no_table, more, shared;
	unsigned int wrong = 0;

	session_open(&s);
	session_open(&other);
	m = table_open(&s, &o);
	theirs = table_open(&other, &o);
	t = no_table = more = shared = ki_table_var_of(m, "mine");
	no_table.number = 4095;
	more.values = 100;
	shared.shared = true;
	const struct {
		struct ki_table_var t;
		enum ki_table_op op;
		uint32_t value, reason;
	} cases[] = {
		{t, KI_TABLE_STATS, 1, KI_R_OK},
		{ki_table_var_of(theirs, "theirs"), KI_TABLE_ADD, 0, KI_R_NOT_YOUR_COUNTER},
		{no_table, KI_TABLE_ADD, 0, KI_R_NOT_YOUR_COUNTER},
		{more, KI_TABLE_ADD, 7, KI_R_BAD_CHUNK},
		{more, KI_TABLE_STATS, 2, KI_R_BAD_CHUNK},
		{more, KI_TABLE_LOG2, 0, KI_R_BAD_CHUNK},
		{shared, KI_TABLE_SET, 0, KI_R_BAD_CHUNK},
		{shared, KI_TABLE_DELETE, 0, KI_R_BAD_CHUNK},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t got = answer(&s, cases[i].t, cases[i].op, cases[i].value);

		if (got != cases[i].reason && ++wrong)
			printf("# case %zu: %s\n", i, ki_reason_tag(got));
	}
	report("chunks", !wrong, "%u answers are wrong", wrong);
	ki_table_map_free(m);
	ki_table_map_free(theirs);
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
