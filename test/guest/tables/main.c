// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables [cost]: prints a line for each case, "ok NAME: ..." or "not ok NAME: ..."; exits 0 if all
 * are ok.
 */
#include "tables.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failed;

void die(const char *what, const char *why)
{
	printf("not ok %s: %s\n", what, why);
	exit(2);
}

void report(const char *name, bool good, const char *fmt, ...)
{
	va_list ap;

	failed |= !good;
	printf("%s %s: ", good ? "ok" : "not ok", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* ---- sessions ---- */

void session_open(struct session *s)
{
	struct ki_err err = {0};

	if (ki_target_open_live(&s->t, &err) || ki_plan_new(&s->plan))
		die("open", err.msg);
}

void session_close(struct session *s)
{
	ki_plan_free(s->plan);
	ki_target_close(s->t);
}

struct ki_table_map *table_open(struct session *s, const struct ki_table_options *o)
{
	struct ki_table_map *m;
	struct ki_err err = {0};

	if (ki_table_open(s->t, o, &m, &err))
		die("table", err.msg);
	return m;
}

struct ki_snippet *snippet_new(void)
{
	struct ki_snippet *sn;

	if (ki_snippet_new(&sn))
		die("snippet", "no memory");
	return sn;
}

static void put_at(struct session *s, const struct ki_function *fn, const struct ki_spans *spans,
		   const struct ki_place *place, struct ki_snippet *sn)
{
	struct ki_site_regs site;
	struct ki_err err = {0};
	uint32_t id;

	ki_place_site(fn, place, NULL, &site);
	if (ki_plan_add_snippet(s->plan, fn, spans, place, 0, sn, &site, &id, &err))
		die(fn->symbol->name, err.msg);
}

void put(struct session *s, const char *function, struct ki_snippet *sn, struct ki_node *stmt)
{
	const struct ki_symbol *sym = ki_target_symbol_named(s->t, "", function, NULL);
	const struct ki_point point = {.kind = KI_POINT_ENTRY};
	struct ki_err err = {0};
	struct ki_place *places;
	struct ki_function *fn;
	struct ki_spans spans;
	size_t n;

	ki_snippet_body(sn, stmt);
	if (!sym || ki_function_analyze(s->t, sym, &fn, &err) || ki_spans_find(fn, &spans, &err) ||
	    ki_point_places(fn, &spans, &point, &places, &n, &err))
		die(function, err.msg);
	for (size_t i = 0; i < n; i++)
		put_at(s, fn, &spans, &places[i], sn);
	free(places);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_snippet_free(sn);
}

void apply(struct session *s)
{
	struct ki_err err = {0};

	if (ki_plan_apply(s->plan, s->t, false, &err))
		die("apply", err.msg);
}

/* Where struct pt_regs has the arguments of a system call. */
struct ki_node *sys_arg(struct ki_snippet *s, unsigned int n)
{
	static const uint8_t off[] = {112, 104, 96};

	return ki_expr_load(
		s, KI_U64,
		ki_expr_binary(s, KI_ADD, ki_expr_param(s, 0), ki_expr_const(s, KI_I64, off[n])));
}

/* ---- calls ---- */

void calls(unsigned int who, uint64_t first, uint64_t n)
{
	for (; n--; first++)
		syscall(SYS_sched_get_priority_max, (uint64_t)who, first);
}

void other_calls(unsigned int who, uint64_t first, uint64_t n)
{
	for (; n--; first++)
		syscall(SYS_sched_get_priority_min, (uint64_t)who, first);
}

unsigned int cpu_count(void)
{
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

void on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("affinity", "it cannot be set");
}

struct member {
	pthread_t thread;
	unsigned int who;
	uint64_t each;
	bool pinned;
};

static void *be_member(void *arg)
{
	struct member *m = arg;

	for (uint64_t i = 0; i < m->each; i += 1000) {
		uint64_t n = m->each - i < 1000 ? m->each - i : 1000;

		on_cpu((m->who + (m->pinned ? 0 : (unsigned int)(i / 1000))) % cpu_count());
		calls(m->who, i, n);
	}
	return NULL;
}

void crowd(unsigned int n, uint64_t each, bool pinned)
{
	struct member m[MAX];

	for (unsigned int i = 0; i < n; i++) {
		m[i] = (struct member){.who = i, .each = each, .pinned = pinned};
		if (pthread_create(&m[i].thread, NULL, be_member, &m[i]))
			die("threads", "none can be made");
	}
	for (unsigned int i = 0; i < n; i++)
		pthread_join(m[i].thread, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "cost")) {
		test_cost();
		return failed;
	}
	test_exact();
	test_shared();
	test_hostile();
	return failed;
}
