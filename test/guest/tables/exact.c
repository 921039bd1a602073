// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of the CPUs: nothing missing, nothing double, each number right; beside a reader; when
 * they are full; with interrupts that work on the same rows.
 */
#include "tables.h"

#include <math.h>
#include <string.h>

enum { V_STATS, V_SUM = 6, V_LOG2 = 7, V_LINEAR = 7 + 65, VALUES = V_LINEAR + 12 };

static const struct ki_linear linear = {.low = 100, .high = 1100, .step = 100};

static void key_of(struct ki_snippet *s, struct ki_node **key)
{
	key[0] = sys_arg(s, 0);
	key[1] = ki_expr_binary(s, KI_MOD, sys_arg(s, 1), ki_expr_const(s, KI_U64, 16));
	key[2] = ki_expr_const(s, KI_I64, -5);
}

static struct ki_table_map *open_all(struct session *s, uint32_t rows)
{
	uint8_t merge[VALUES] = {0};
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 3, .values = VALUES, .rows = rows, .merge = merge};
	struct ki_node *key[3], *list = NULL;
	struct ki_snippet *sn = snippet_new();
	struct ki_table_map *m;
	struct ki_table_var t;

	session_open(s);
	ki_table_stats_merge(merge);
	m = table_open(s, &o);
	t = ki_table_var_of(m, "calls");
	key_of(sn, key);
	list = ki_stmt_append(sn, list,
			      ki_stmt_table(sn, KI_TABLE_STATS,
					    &(struct ki_row_value){&t, V_STATS, key, 3},
					    sys_arg(sn, 1)));
	key_of(sn, key);
	list = ki_stmt_append(sn, list,
			      ki_stmt_table(sn, KI_TABLE_ADD,
					    &(struct ki_row_value){&t, V_SUM, key, 3},
					    sys_arg(sn, 0)));
	key_of(sn, key);
	list = ki_stmt_append(sn, list,
			      ki_stmt_table(sn, KI_TABLE_LOG2,
					    &(struct ki_row_value){&t, V_LOG2, key, 3},
					    sys_arg(sn, 1)));
	key_of(sn, key);
	list = ki_stmt_append(sn, list,
			      ki_stmt_table_linear(sn, &(struct ki_row_value){&t, V_LINEAR, key, 3},
						   &linear, sys_arg(sn, 1)));
	put(s, CALLED, sn, list);
	plan_apply(s->plan, s->t);
	return m;
}

/* What the calls `first` to `last` - 1 of a thread with that remainder make of a row. */
static void model(uint64_t *v, unsigned int who, unsigned int rest, uint64_t n)
{
	unsigned __int128 squares = 0;

	memset(v, 0, VALUES * sizeof(*v));
	v[2] = rest;
	for (uint64_t i = rest; i < n; i += 16) {
		v[0]++;
		v[1] += i;
		v[3] = i;
		squares += (unsigned __int128)i * i;
		v[V_SUM] += who;
		v[V_LOG2 + (i ? 64 - __builtin_clzll(i) : 0)]++;
		v[V_LINEAR + (i < 100 ? 0 : i >= 1100 ? 11 : i / 100)]++;
	}
	v[4] = (uint64_t)squares;
	v[5] = (uint64_t)(squares >> 64);
}

static unsigned int wrong_rows(const struct ki_table_reading *r, unsigned int threads,
			       uint64_t each)
{
	unsigned int wrong = r->n != threads * 16u;
	uint64_t want[VALUES];

	for (unsigned int who = 0; who < threads; who++)
		for (unsigned int rest = 0; rest < 16; rest++) {
			const uint64_t key[] = {who, rest, (uint64_t)-5};
			const uint64_t *v = ki_table_find(r, key);

			model(want, who, rest, each);
			wrong += !v || memcmp(v, want, sizeof(want)) != 0;
		}
	return wrong;
}

static void test_wandering(void)
{
	const uint64_t each = 16000;
	struct ki_table_reading *r;
	struct ki_table_map *m;
	unsigned int wrong;
	struct session s;

	m = open_all(&s, 512);
	crowd(8, each, false);
	if (ki_table_read(m, &r, NULL))
		die("read", "fails");
	wrong = wrong_rows(r, 8, each);
	report("8 threads that wander", !wrong && !r->lost,
	       "%zu keys, %u wrong, %llu rows of all CPUs, %llu lost", r->n, wrong,
	       (ull)ki_table_used(m), (ull)r->lost);
	ki_table_sort(r, 1, true);
	report("sorted and computed",
	       ki_table_values(r, 0)[1] >= ki_table_values(r, r->n - 1)[1] &&
		       fabs(ki_table_mean(ki_table_values(r, 0)) - 7999.5) < 8 &&
		       fabs(ki_table_deviation(ki_table_values(r, 0)) - 4618.8) < 1,
	       "mean %.1f, deviation %.1f", ki_table_mean(ki_table_values(r, 0)),
	       ki_table_deviation(ki_table_values(r, 0)));
	ki_table_reading_free(r);
	ki_table_map_free(m);
	session_close(&s);
}

/* ---- a table that is full ---- */

static struct ki_table_map *open_sum(struct session *s, uint32_t rows, bool shared)
{
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 1, .values = 1, .rows = rows, .shared = shared};
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[] = {sys_arg(sn, 1)};
	struct ki_table_map *m;
	struct ki_table_var t;

	session_open(s);
	m = table_open(s, &o);
	t = ki_table_var_of(m, "sums");
	put(s, CALLED, sn,
	    ki_stmt_table(sn, KI_TABLE_ADD, &(struct ki_row_value){&t, 0, key, 1},
			  ki_expr_const(sn, KI_I64, 1)));
	plan_apply(s->plan, s->t);
	return m;
}

/* The first 64 of 100 keys have a place; the calls of all others are lost. */
static void test_full(bool shared)
{
	struct ki_table_reading *r;
	struct ki_table_map *m;
	unsigned int wrong = 0;
	struct session s;

	m = open_sum(&s, 64, shared);
	on_cpu(0);
	for (int round = 0; round < 50; round++)
		calls(1, 0, 100);
	on_cpu(-1);
	if (ki_table_read(m, &r, NULL))
		die("read", "fails");
	for (size_t i = 0; i < r->n; i++)
		wrong += *ki_table_key(r, i) != i || *ki_table_values(r, i) != 50;
	report(shared ? "full, shared" : "full",
	       r->n == 64 && ki_table_used(m) == 64 && !wrong && r->lost == 50 * 36,
	       "%zu rows, %u wrong, %llu lost of %d", r->n, wrong, (ull)r->lost, 50 * 100);
	ki_table_reading_free(r);
	ki_table_map_free(m);
	session_close(&s);
}

/* ---- interrupts ---- */

static volatile bool over;

/* Another one each millisecond or so; not more than there is room for. */
static struct ki_node *time_key(struct ki_snippet *sn)
{
	struct ki_node *time = ki_expr_binary(sn, KI_SHR, ki_expr_fact(sn, KI_FACT_TSC),
					      ki_expr_const(sn, KI_U64, 22));

	return ki_expr_binary(sn, KI_AND, time, ki_expr_const(sn, KI_U64, 1023));
}

/* Both count in the same rows, whose keys change now and then; beside them a reader. */
static void put_both(struct session *s, struct ki_table_map *m, uint32_t counter)
{
	const struct ki_var timers = {.kind = KI_VAR_CPU, .type = KI_U64, .first = counter};
	struct ki_table_var t = ki_table_var_of(m, "both");
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[] = {time_key(sn)}, *list;

	put(s, CALLED, sn,
	    ki_stmt_table(sn, KI_TABLE_STATS, &(struct ki_row_value){&t, 0, key, 1},
			  ki_expr_const(sn, KI_I64, 3)));
	sn = snippet_new();
	list = ki_stmt_append(
		sn, NULL,
		ki_stmt_update(sn, KI_UPDATE_ADD, &timers, NULL, ki_expr_const(sn, KI_I64, 1)));
	key[0] = time_key(sn);
	list = ki_stmt_append(sn, list,
			      ki_stmt_table(sn, KI_TABLE_STATS,
					    &(struct ki_row_value){&t, 0, key, 1},
					    ki_expr_const(sn, KI_I64, 5)));
	put_all(s, "hrtimer_interrupt", sn, list);
}

/* All numbers of all rows; false: a row cannot be. */
static bool add_up(const struct ki_table_map *m, uint64_t *sum)
{
	const uint64_t slack = 6ull * cpu_count(); /* of changes in the middle of others */
	struct ki_table_reading *r;
	bool good = true;

	memset(sum, 0, 6 * sizeof(*sum));
	if (ki_table_read(m, &r, NULL))
		return false;
	for (size_t i = 0; i < r->n; i++) {
		const uint64_t *v = ki_table_values(r, i);

		for (int k = 0; k < 6; k++)
			sum[k] += v[k];
		good &= (v[2] == 3 || v[2] == 5 || !v[0] || !v[1]) && v[0] * 3 <= v[1] + slack;
	}
	ki_table_reading_free(r);
	return good;
}

static void *read_often(void *arg)
{
	uint64_t sum[6], before = 0, *rounds = arg;

	for (; !over; ++*rounds) {
		if (!add_up(rounds[1] ? (void *)(uintptr_t)rounds[1] : NULL, sum) ||
		    sum[0] < before)
			rounds[2]++;
		before = sum[0];
	}
	return NULL;
}

/* false: there were so few timers, or readings, that it says little. */
static bool both_at_once(bool last)
{
	const unsigned int cpus = cpu_count();
	const uint64_t each = 60000;
	uint8_t merge[6];
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 1, .values = 6, .rows = 16384, .merge = merge};
	pthread_t reader;
	struct ki_counter_map *counters;
	uint64_t sum[6], timers, reading[3] = {0}, all;
	struct ki_table_map *m;
	struct session s;
	uint32_t counter;
	bool good, many;

	session_open(&s);
	ki_table_stats_merge(merge);
	m = table_open(&s, &o);
	if (ki_counters_take(s.t, 1, &counter, NULL) || ki_counter_map_new(s.t, &counters, NULL))
		die("counters", "none");
	put_both(&s, m, counter);
	plan_apply(s.plan, s.t);
	over = false;
	reading[1] = (uintptr_t)m;
	timers_begin();
	pthread_create(&reader, NULL, read_often, reading);
	crowd(cpus, each, true);
	timers_end();
	over = true;
	pthread_join(reader, NULL);
	ki_plan_remove(s.plan, s.t, NULL);
	timers = ki_counter_read(counters, counter);
	add_up(m, sum);
	all = timers + cpus * each;
	good = sum[0] == all && sum[1] == 5 * timers + 3 * cpus * each &&
	       sum[4] == 25 * timers + 9 * cpus * each && !ki_table_lost(m);
	many = timers > 300 && reading[0] > 3;
	if (good && !reading[2] && !many && !last)
		goto close;
	report("timers and calls in the same rows", good && timers > 300,
	       "%llu timers and %llu calls: %llu counted, %llu lost", (ull)timers,
	       (ull)(cpus * each), (ull)sum[0], (ull)ki_table_lost(m));
	report("a reader beside", reading[0] > 3 && !reading[2], "%llu readings, %llu wrong",
	       (ull)reading[0], (ull)reading[2]);
	many = true;
close:
	ki_counter_map_free(counters);
	ki_table_map_free(m);
	session_close(&s);
	return many;
}

static void test_timers(void)
{
	for (int i = 9; !both_at_once(!i); i--)
		;
}

void test_exact(void)
{
	test_wandering();
	test_full(false);
	test_full(true);
	test_timers();
}
