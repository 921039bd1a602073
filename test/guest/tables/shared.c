// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared tables: an associative array whose rows come and go; rows that all CPUs change at once;
 * and that tables go with their sessions.
 */
#include "tables.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long ull;

/* One function leaves a number under the thread's key, the other takes it away and adds it up. */
static void put_pair(struct session *s, struct ki_table_map *left, struct ki_table_map *sums)
{
	struct ki_table_var l = ki_table_var_of(left, "left"), m = ki_table_var_of(sums, "sums");
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[2], *list, *got;

	key[0] = ki_expr_fact(sn, KI_FACT_PID);
	key[1] = sys_arg(sn, 1);
	put(s, FUNCTION, sn, ki_stmt_table(sn, KI_TABLE_SET, &l, 0, key, 2, sys_arg(sn, 1)));
	sn = snippet_new();
	key[0] = ki_expr_fact(sn, KI_FACT_PID);
	key[1] = sys_arg(sn, 1);
	got = ki_expr_table(sn, &l, 0, key, 2);
	key[0] = sys_arg(sn, 0);
	list = ki_stmt_append(sn, NULL, ki_stmt_table(sn, KI_TABLE_ADD, &m, 0, key, 1, got));
	key[0] = ki_expr_fact(sn, KI_FACT_PID);
	key[1] = sys_arg(sn, 1);
	list = ki_stmt_append(sn, list, ki_stmt_table(sn, KI_TABLE_DELETE, &l, 0, key, 2, NULL));
	put(s, OTHER, sn, list);
	apply(s);
}

static void *set_and_take(void *who)
{
	for (uint64_t i = 1; i <= 20000; i++) {
		calls((unsigned int)(uintptr_t)who, i, 1);
		if (i > 20)
			other_calls((unsigned int)(uintptr_t)who, i - 20, 1);
	}
	return NULL;
}

static void test_associative(void)
{
	const struct ki_table_options o = {.keys = 2, .values = 1, .rows = 512, .shared = true};
	const struct ki_table_options sums = {.keys = 1, .values = 1, .rows = 64};
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
	       r->n == 6 && !wrong && !ki_table_lost(left) && ki_table_used(left) == 6 * 20,
	       "%zu sums, %u wrong; %llu rows left, %llu lost", r->n, wrong,
	       (ull)ki_table_used(left), (ull)ki_table_lost(left));
	ki_table_reading_free(r);
	ki_table_close(left);
	ki_table_close(sum);
	session_close(&s);
}

/* All CPUs change one row: what is lost is counted. */
static void test_contended(void)
{
	uint8_t merge[6];
	const struct ki_table_options o = {
		.keys = 1, .values = 6, .rows = 16, .shared = true, .merge = merge};
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
	put(&s, FUNCTION, sn,
	    ki_stmt_table(sn, KI_TABLE_STATS, &t, 0, key, 1, ki_expr_const(sn, KI_I64, -4)));
	apply(&s);
	crowd(cpus, each, true);
	if (ki_table_read(m, &r, NULL) || r->n != 1)
		die("read", "fails");
	v = ki_table_values(r, 0);
	report("one row, all CPUs",
	       v[0] + r->lost == cpus * each && (int64_t)v[1] == -4 * (int64_t)v[0] &&
		       v[4] == 16 * v[0] && !v[5] && r->lost < cpus * each / 10,
	       "%llu done and %llu lost of %llu", (ull)v[0], (ull)r->lost, (ull)(cpus * each));
	ki_table_reading_free(r);
	ki_table_close(m);
	session_close(&s);
}

/* ---- sessions ---- */

static void *call_for_ever(void *unused)
{
	(void)unused;
	for (uint64_t i = 0;; i += 1000)
		calls(3, i, 1000);
	return NULL;
}

static void be_killed(int ready)
{
	const struct ki_table_options o = {.keys = 1, .values = 100, .rows = 4096};
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[] = {sys_arg(sn, 1)};
	struct ki_table_map *m;
	struct ki_table_var t;
	pthread_t thread;
	struct session s;

	session_open(&s);
	m = table_open(&s, &o);
	t = ki_table_var_of(m, "sums");
	put(&s, FUNCTION, sn, ki_stmt_table(sn, KI_TABLE_LOG2, &t, 0, key, 1, sys_arg(sn, 1)));
	apply(&s);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, call_for_ever, NULL);
	usleep(20000);
	if (write(ready, "!", 1) != 1)
		_exit(1);
	pause();
	_exit(1);
}

static void test_killed(void)
{
	int ready[2], status, killed = 0;
	char byte;

	for (int i = 0; i < 5; i++) {
		pid_t pid;

		if (pipe(ready))
			die("pipe", "none");
		pid = fork();
		if (!pid)
			be_killed(ready[1]);
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			die("the session to kill", "it has not begun");
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		killed += WIFSIGNALED(status);
		close(ready[0]);
	}
	report("killed while it counts", killed == 5, "%d of 5", killed);
}

void test_shared(void)
{
	test_associative();
	test_contended();
	test_killed();
}
