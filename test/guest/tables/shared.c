// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared tables: an associative array whose rows come and go; rows that all CPUs change at once;
 * and that tables go with their sessions.
 */
#include "tables.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One function leaves a number under the thread's key, the other takes it away and adds it up. */
static void put_pair(struct session *s, struct ki_table_map *left, struct ki_table_map *sums)
{
	struct ki_table_var l = ki_table_var_of(left, "left"), m = ki_table_var_of(sums, "sums");
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[2], *list, *got;

	key[0] = ki_expr_fact(sn, KI_FACT_PID);
	key[1] = sys_arg(sn, 1);
	put(s, CALLED, sn,
	    ki_stmt_table(sn, KI_TABLE_SET, &(struct ki_row_value){&l, 0, key, 2}, sys_arg(sn, 1)));
	sn = snippet_new();
	key[0] = ki_expr_fact(sn, KI_FACT_PID);
	key[1] = sys_arg(sn, 1);
	got = ki_expr_table(sn, &(struct ki_row_value){&l, 0, key, 2});
	key[0] = sys_arg(sn, 0);
	list = ki_stmt_append(
		sn, NULL,
		ki_stmt_table(sn, KI_TABLE_ADD, &(struct ki_row_value){&m, 0, key, 1}, got));
	key[0] = ki_expr_fact(sn, KI_FACT_PID);
	key[1] = sys_arg(sn, 1);
	list = ki_stmt_append(
		sn, list,
		ki_stmt_table(sn, KI_TABLE_DELETE, &(struct ki_row_value){&l, 0, key, 2}, NULL));
	put(s, CALLED_OTHER, sn, list);
	plan_apply(s->plan, s->t);
}

static atomic_uint cpus_seen; /* a bit for each */

static void *set_and_take(void *arg)
{
	unsigned int who = (unsigned int)(uintptr_t)arg;

	on_cpu((int)who);
	for (uint64_t i = 1; i <= 20000; i++) {
		calls(who, i, 1);
		if (i > 20)
			other_calls(who, i - 20, 1);
	}
	cpus_seen |= 1u << sched_getcpu();
	return NULL;
}

static void test_associative(void)
{
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 2, .values = 1, .rows = 512, .shared = true};
	const struct ki_table_options sums = {
		.size = sizeof(sums), .keys = 1, .values = 1, .rows = 64};
	struct ki_table_map *left, *sum;
	struct ki_table_reading *r;
	unsigned int wrong = 0;
	pthread_t thread[6];
	struct session s;

	session_open(&s);
	left = table_open(&s, &o);
	sum = table_open(&s, &sums);
	put_pair(&s, left, sum);
	for (uintptr_t i = 0; i < 6; i++)
		pthread_create(&thread[i], NULL, set_and_take, (void *)i);
	for (int i = 0; i < 6; i++)
		pthread_join(thread[i], NULL);
	if (ki_table_read(sum, &r, NULL))
		die("read", "fails");
	for (size_t i = 0; i < r->n; i++) /* 1 + ... + 19980 */
		wrong += *ki_table_values(r, i) != 19980ull * 19981 / 2;
	report("an associative array",
	       r->n == 6 && !wrong && !ki_table_lost(left) && ki_table_used(left) == 6 * 20 &&
		       __builtin_popcount(cpus_seen) >= 2,
	       "%zu sums, %u wrong; %llu rows left, %llu lost; on %d CPUs", r->n, wrong,
	       (ull)ki_table_used(left), (ull)ki_table_lost(left), __builtin_popcount(cpus_seen));
	ki_table_reading_free(r);
	ki_table_map_free(left);
	ki_table_map_free(sum);
	session_close(&s);
}

/* All CPUs change one row: what is lost is counted. How much that is depends on how long the host
   stops whoever has the row. */
static void test_contended(void)
{
	uint8_t merge[6];
	const struct ki_table_options o = {.size = sizeof(o),
					   .keys = 1,
					   .values = 6,
					   .rows = 16,
					   .shared = true,
					   .merge = merge};
	const unsigned int cpus = cpu_count();
	const uint64_t each = 30000;
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[] = {ki_expr_const(sn, KI_I64, 77)};
	struct ki_table_reading *r;
	struct ki_table_map *m;
	struct ki_table_var t;
	const uint64_t *v;
	struct session s;

	session_open(&s);
	ki_table_stats_merge(merge);
	m = table_open(&s, &o);
	t = ki_table_var_of(m, "one");
	put(&s, CALLED, sn,
	    ki_stmt_table(sn, KI_TABLE_STATS, &(struct ki_row_value){&t, 0, key, 1},
			  ki_expr_const(sn, KI_I64, -4)));
	plan_apply(s.plan, s.t);
	crowd(cpus, each, true);
	if (ki_table_read(m, &r, NULL) || r->n != 1)
		die("read", "fails");
	v = ki_table_values(r, 0);
	report("one row, all CPUs",
	       v[0] + r->lost == cpus * each && (int64_t)v[1] == -4 * (int64_t)v[0] &&
		       v[4] == 16 * v[0] && !v[5] && v[0] > cpus * each / 50,
	       "%llu done and %llu lost of %llu", (ull)v[0], (ull)r->lost, (ull)(cpus * each));
	ki_table_reading_free(r);
	ki_table_map_free(m);
	session_close(&s);
}

/* ---- sessions ---- */

static void *call_for_ever(void *cpu)
{
	on_cpu((int)(intptr_t)cpu);
	for (uint64_t i = 0;; i += 1000)
		calls(3, i, 1000);
	return NULL;
}

static void be_killed(void)
{
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 1, .values = 100, .rows = 4096};
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[] = {sys_arg(sn, 1)};
	struct ki_table_map *m;
	struct ki_table_var t;
	pthread_t thread;
	struct session s;

	session_open(&s);
	m = table_open(&s, &o);
	t = ki_table_var_of(m, "sums");
	put(&s, CALLED, sn,
	    ki_stmt_table(sn, KI_TABLE_LOG2, &(struct ki_row_value){&t, 0, key, 1},
			  sys_arg(sn, 1)));
	plan_apply(s.plan, s.t);
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&thread, NULL, call_for_ever, (void *)i);
	while (!ki_table_used(m))
		usleep(1000);
	child_ready();
}

static struct ki_info info(int fd)
{
	struct ki_info i = {.size = sizeof(i)};

	if (ioctl(fd, KI_IOC_INFO, &i))
		die("info", strerror(errno));
	return i;
}

static int most_tables(void)
{
	int fd = device_open(), err, n = take_all(fd, &err);

	close(fd);
	return n;
}

/* Also when what was closed before is given back later. */
static int soon_most_tables(void)
{
	int n = most_tables();

	for (int i = 0; i < 1200 && n != tables_fit(); i++) {
		usleep(100000);
		n = most_tables();
	}
	return n;
}

/* No window and no memory is left; a session's table would take twice that of one of these. */
static void test_killed(void)
{
	unsigned int killed = 0, with = UINT32_MAX, left;
	int fd = device_open(), before = soon_most_tables(), after = 0;

	for (int i = 0; i < 5; i++) {
		pid_t pid = child_begin(be_killed);
		unsigned int windows = info(fd).windows;

		with = windows < with ? windows : with;
		killed += child_kill(pid);
	}
	for (int i = 0; i < 1200 && (info(fd).windows || after != before); i++) {
		usleep(100000);
		after = most_tables();
	}
	left = info(fd).windows;
	report("killed while it counts", killed == 5 && with && !left && before && after == before,
	       "%u of 5; %u windows with it, %u without; room for %d tables before and %d after",
	       killed, with, left, before, after);
	close(fd);
}

void test_shared(void)
{
	test_associative();
	test_contended();
	test_killed();
}
