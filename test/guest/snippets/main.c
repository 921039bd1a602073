// SPDX-License-Identifier: GPL-2.0-only
/*
 * snippets [ROUNDS]: prints a line for each case, "ok NAME" or "not ok NAME: why"; exits 0 if all
 * are ok.
 */
#include "snippets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct ki_target *target;
struct ki_counter_map *counters;
struct ki_global_map *globals;
struct ki_program *program;

uint32_t take_counters(uint32_t n)
{
	struct ki_err err = {0};
	uint32_t first;

	if (ki_counters_take(target, n, &first, &err))
		die("counters", err.msg);
	return first;
}

uint32_t take_globals(uint32_t n)
{
	struct ki_err err = {0};
	uint32_t first;

	if (ki_globals_take(target, n, &first, &err))
		die("globals", err.msg);
	return first;
}

uint32_t take_words(uint32_t n)
{
	struct ki_err err = {0};
	uint32_t first;

	if (ki_words_take(target, n, &first, &err))
		die("words", err.msg);
	return first;
}

void put(struct ki_plan *plan, const char *function, enum ki_point_kind kind,
	 struct ki_snippet *snippet, bool known)
{
	struct spot spot;

	spot_find(&spot, target, function, kind, known ? program : NULL);
	spot_put(&spot, plan, snippet);
	spot_free(&spot);
	ki_snippet_free(snippet);
}

void take_out(struct ki_plan *plan)
{
	struct ki_err err = {0};

	if (ki_plan_remove(plan, target, &err))
		die("remove", err.msg);
	ki_plan_free(plan);
}

void only_here(struct ki_snippet *s, struct ki_node *stmt)
{
	ki_snippet_body(s, only_mine(s, stmt));
}

struct ki_var var(unsigned int kind, uint32_t first, uint32_t count)
{
	return (struct ki_var){
		.kind = (uint8_t)kind, .type = KI_U64, .first = first, .count = count};
}

struct ki_node *add(struct ki_snippet *s, const struct ki_var *v, struct ki_node *value)
{
	return ki_stmt_update(s, KI_UPDATE_ADD, v, NULL, value);
}

static void call_getppid(unsigned int times)
{
	while (times--)
		syscall(SYS_getppid);
}

/* ---- cases ---- */

#define CALLS 2000

/* Only this process's calls are counted, though another one calls meanwhile. */
static void predicate(bool known)
{
	const struct ki_var here = var(KI_VAR_CPU, take_counters(1), 1);
	const struct ki_var all = var(KI_VAR_GLOBAL, take_globals(1), 1);
	struct ki_plan *plan = plan_new();
	struct ki_snippet *s = snippet_new();
	uint64_t n, every;
	pid_t pid;

	only_here(s, add(s, &here, ki_expr_const(s, KI_I64, 1)));
	put(plan, "__x64_sys_getppid", KI_POINT_ENTRY, s, known);
	s = snippet_new();
	ki_snippet_body(s, add(s, &all, ki_expr_const(s, KI_I64, 1)));
	put(plan, "__x64_sys_getppid", KI_POINT_ENTRY, s, known);
	plan_apply(plan, target);
	pid = fork();
	call_getppid(CALLS);
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	take_out(plan);
	n = ki_counter_read(counters, here.first);
	every = ki_global_read(globals, all.first);
	report("predicate", n == CALLS && every >= 2 * CALLS && every < 2 * CALLS + 500,
	       "%llu of this process, %llu in all", (unsigned long long)n,
	       (unsigned long long)every);
}

/* What was asked of vfs_read, what it returned, and how that is distributed. */
static struct ki_node *asking(struct ki_snippet *s, uint32_t first)
{
	const struct ki_var asked = var(KI_VAR_CPU, first, 1), n = var(KI_VAR_CPU, first + 2, 1);
	const struct ki_var hist = var(KI_VAR_CPU, first + 3, KI_LOG2_BUCKETS);
	struct ki_node *list = ki_stmt_append(s, NULL, add(s, &asked, ki_expr_param(s, 2)));

	list = ki_stmt_append(s, list, add(s, &n, ki_expr_const(s, KI_I64, 1)));
	return ki_stmt_append(s, list, ki_stmt_log2(s, &hist, ki_expr_param(s, 2)));
}

static void reads(bool known)
{
	const uint32_t first = take_counters(3 + KI_LOG2_BUCKETS);
	const struct ki_var got = var(KI_VAR_CPU, first + 1, 1);
	uint64_t want[4] = {0}, total = 0, buckets[KI_LOG2_BUCKETS] = {0};
	struct ki_plan *plan = plan_new();
	struct ki_snippet *s = snippet_new();
	static char buf[70000];
	int fd = open("/proc/self/exe", O_RDONLY), zero = open("/dev/zero", O_RDONLY);
	bool same = true;

	only_here(s, asking(s, first));
	put(plan, "vfs_read", KI_POINT_ENTRY, s, known);
	s = snippet_new();
	only_here(s, add(s, &got, ki_expr_fact(s, KI_FACT_RETVAL)));
	put(plan, "vfs_read", KI_POINT_EXIT_AFTER, s, known);
	plan_apply(plan, target);
	for (size_t size = 1; size < sizeof(buf); size = size * 5 / 4 + 1)
		for (int k = 0; k < 2; k++) {
			want[0] += size;
			want[1] += (uint64_t)read(k ? fd : zero, buf, size);
			want[2]++;
			buckets[64 - __builtin_clzll(size)]++;
		}
	take_out(plan);
	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++) {
		uint64_t v = ki_counter_read(counters, first + 3 + i);

		total += v;
		same &= v == buckets[i];
	}
	report("asked", ki_counter_read(counters, first) == want[0], "%llu bytes",
	       (unsigned long long)want[0]);
	report("got", ki_counter_read(counters, first + 1) == want[1], "%llu bytes",
	       (unsigned long long)want[1]);
	report("histogram",
	       same && total == want[2] && total == ki_counter_read(counters, first + 2),
	       "%llu reads", (unsigned long long)total);
	close(fd);
	close(zero);
}

static uint64_t monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Memory is read, a function is called: orig_ax of the saved registers; the clock. */
static void loads_and_calls(bool known)
{
	const struct ki_symbol *sym =
		ki_target_symbol_named(target, "", "ktime_get_mono_fast_ns", NULL);
	const struct ki_var nr = var(KI_VAR_CPU, take_counters(3), 1);
	const struct ki_var when = var(KI_VAR_CPU, nr.first + 1, 1);
	const struct ki_var bad = var(KI_VAR_CPU, nr.first + 2, 1);
	struct ki_plan *plan = plan_new();
	struct ki_snippet *s = snippet_new();
	struct ki_node *list;
	uint64_t before, sum;

	list = ki_stmt_append(s, NULL,
			      add(s, &nr,
				  ki_expr_load(s, KI_U64,
					       ki_expr_binary(s, KI_ADD, ki_expr_param(s, 0),
							      ki_expr_const(s, KI_I64, 120)))));
	list = ki_stmt_append(
		s, list,
		add(s, &when, ki_expr_call(s, KI_U64, sym ? sym->addr : 0, NULL, NULL, 0)));
	list = ki_stmt_append(
		s, list,
		add(s, &bad,
		    ki_expr_load(s, KI_U64, ki_expr_const(s, KI_U64, 0xdead000000000000))));
	only_here(s, list);
	put(plan, "__x64_sys_getppid", KI_POINT_ENTRY, s, known);
	plan_apply(plan, target);
	before = monotonic();
	call_getppid(10);
	sum = ki_counter_read(counters, when.first);
	report("call", sum / 10 > before - 10000000 && sum / 10 < monotonic() + 10000000,
	       "%lld ns later", (long long)(sum / 10 - before));
	take_out(plan);
	report("load", ki_counter_read(counters, nr.first) == 10 * SYS_getppid, "%llu",
	       (unsigned long long)ki_counter_read(counters, nr.first));
	report("bad load", ki_counter_read(counters, bad.first) == 0, "reads 0");
}

int main(int argc, char **argv)
{
	struct ki_err err = {0};

	if (ki_target_new_live(&target, &err) || ki_counter_map_new(target, &counters, &err) ||
	    ki_global_map_new(target, &globals, &err) ||
	    ki_program_new(target, NULL, &program, &err))
		die("open", err.msg);
	for (int known = 0; known < 2; known++) {
		predicate(known);
		reads(known);
		timers(known);
		facts(known);
		loads_and_calls(known);
		minmax(known);
	}
	random_trees(argc > 1 ? (unsigned int)atoi(argv[1]) : 20,
		     argc > 2 ? (unsigned int)atoi(argv[2]) : 30);
	ki_program_free(program);
	ki_global_map_free(globals);
	ki_counter_map_free(counters);
	ki_target_free(target);
	return report_status();
}
