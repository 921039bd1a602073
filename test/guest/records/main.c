// SPDX-License-Identifier: GPL-2.0-only
/*
 * records: prints a line for each case, "ok NAME: ..." or "not ok NAME: ..."; exits 0 if all are
 * ok.
 */
#include "records.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
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

/* ---- what is recorded ---- */

/* Where struct pt_regs has the first, second and third argument of a system call. */
static struct ki_node *sys_arg(struct ki_snippet *s, uint64_t off)
{
	return ki_expr_load(
		s, KI_U64,
		ki_expr_binary(s, KI_ADD, ki_expr_param(s, 0), ki_expr_const(s, KI_I64, off)));
}

static struct ki_node *record_call(struct ki_snippet *s, uint32_t ring)
{
	struct ki_node *v[] = {sys_arg(s, 112), sys_arg(s, 104), ki_expr_fact(s, KI_FACT_CPU),
			       sys_arg(s, 96)};

	return ki_stmt_record(s, ring, ID_CALL, v, 4);
}

static struct ki_node *record_timer(struct ki_snippet *s, uint32_t ring, uint32_t counter)
{
	const struct ki_var n = {.kind = KI_VAR_CPU, .type = KI_U64, .first = counter};
	struct ki_node *v[] = {ki_expr_var(s, &n), ki_expr_fact(s, KI_FACT_CPU)};
	struct ki_node *list = ki_stmt_append(
		s, NULL, ki_stmt_update(s, KI_UPDATE_ADD, &n, NULL, ki_expr_const(s, KI_I64, 1)));

	return ki_stmt_append(s, list, ki_stmt_record(s, ring, ID_TIMER, v, 2));
}

static void put(struct session *s, const char *function, struct ki_snippet *sn)
{
	const struct ki_symbol *sym = ki_target_symbol_named(s->t, "", function, NULL);
	const struct ki_point point = {.kind = KI_POINT_ENTRY};
	struct ki_err err = {0};
	struct ki_place *places;
	struct ki_function *fn;
	struct ki_spans spans;
	uint32_t id;
	size_t n;

	if (!sym || ki_function_analyze(s->t, sym, &fn, &err) || ki_spans_find(fn, &spans, &err) ||
	    ki_point_places(fn, &spans, &point, &places, &n, &err))
		die(function, err.msg);
	for (size_t i = 0; i < n; i++)
		if (ki_plan_add_snippet(s->plan, fn, &spans, &places[i], 0, sn, NULL, &id, &err))
			die(function, err.msg);
	free(places);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_snippet_free(sn);
}

static struct ki_snippet *snippet_new(void)
{
	struct ki_snippet *sn;

	if (ki_snippet_new(&sn))
		die("snippet", "no memory");
	return sn;
}

void session_open(struct session *s, const struct ki_ring_options *o, bool timers)
{
	struct ki_snippet *sn = snippet_new();
	struct ki_err err = {0};
	uint32_t counter;

	if (ki_target_open_live(&s->t, &err) || ki_ring_open(s->t, o, &s->ring, &err) ||
	    ki_plan_new(&s->plan) || ki_counters_take(s->t, 1, &counter, &err))
		die("open", err.msg);
	ki_snippet_body(sn, record_call(sn, ki_ring_number(s->ring)));
	put(s, "__x64_sys_sched_get_priority_max", sn);
	if (timers) {
		sn = snippet_new();
		ki_snippet_body(sn, record_timer(sn, ki_ring_number(s->ring), counter));
		put(s, "hrtimer_interrupt", sn);
	}
	if (ki_plan_apply(s->plan, s->t, false, &err))
		die("apply", err.msg);
}

void session_close(struct session *s)
{
	ki_plan_free(s->plan);
	ki_ring_close(s->ring);
	ki_target_close(s->t);
}

uint32_t rings(struct ki_target *t)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ioctl(ki_target_fd(t), KI_IOC_INFO, &info))
		die("info", "ioctl");
	return info.rings;
}

uint32_t soon_rings(struct ki_target *t, uint32_t n)
{
	for (int i = 0; i < 1500 && rings(t) != n; i++)
		usleep(20000);
	return rings(t);
}

/* ---- who is recorded ---- */

void calls(unsigned int who, uint64_t first, uint64_t n)
{
	for (; n--; first++)
		syscall(SYS_sched_get_priority_max, (uint64_t)who, first, MARK);
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
	struct crowd *crowd;
	unsigned int who;
};

static void *be_member(void *arg)
{
	struct member m = *(struct member *)arg;

	free(arg);
	for (uint64_t i = 0; i < m.crowd->each; i += 1000) {
		uint64_t n = m.crowd->each - i < 1000 ? m.crowd->each - i : 1000;

		on_cpu((m.who + (m.crowd->pinned ? 0 : (unsigned int)(i / 1000))) % cpu_count());
		calls(m.who, i, n);
	}
	__atomic_fetch_add(&m.crowd->over, 1, __ATOMIC_RELEASE);
	return NULL;
}

void crowd_begin(struct crowd *c, unsigned int n, uint64_t each, bool pinned)
{
	*c = (struct crowd){.n = n, .each = each, .pinned = pinned};
	for (unsigned int i = 0; i < n; i++) {
		struct member *m = malloc(sizeof(*m));

		*m = (struct member){c, i};
		if (pthread_create(&c->thread[i], NULL, be_member, m))
			die("threads", "none can be made");
	}
}

void crowd_end(struct crowd *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		pthread_join(c->thread[i], NULL);
}

/* ---- what is read ---- */

static void is_wrong(struct seen *s, const struct ki_record *rec, const uint64_t *v,
		     unsigned int cpu)
{
	if (!s->wrong++)
		snprintf(s->why, sizeof(s->why), "cpu %u id %x words %u: %llx %llx %llx %llx", cpu,
			 rec->id, rec->words, (unsigned long long)v[0], (unsigned long long)v[1],
			 (unsigned long long)v[2], (unsigned long long)v[3]);
}

static void seen_call(struct seen *s, const uint64_t *v)
{
	uint64_t who = v[0], n = v[1];

	if (!s->count[who]++)
		s->first[who] = n;
	else if (n < s->next[who])
		s->twice++;
	else
		s->gaps += n != s->next[who];
	s->next[who] = n + 1;
}

int seen_record(void *arg, const struct ki_record *rec, const uint64_t *v, unsigned int cpu)
{
	struct seen *s = arg;

	s->n++;
	s->late += rec->tsc < s->before || rec->tsc < s->cpu_before[cpu];
	s->before = s->cpu_before[cpu] = rec->tsc;
	if (rec->id == ID_CALL && rec->words == 4 && v[0] < MAX && v[2] == cpu && v[3] == MARK) {
		seen_call(s, v);
	} else if (rec->id == ID_TIMER && rec->words == 2 && v[1] == cpu) {
		s->timer_gaps += v[0] != ++s->timers[cpu];
		s->timers[cpu] = v[0];
	} else {
		is_wrong(s, rec, v, cpu);
	}
	return 0;
}

void seen_begin(struct seen *s)
{
	*s = (struct seen){0};
}

void seen_read(struct seen *s, struct ki_ring_map *r)
{
	int ret;

	s->before = 0;
	ret = ki_ring_read(r, seen_record, s);
	if (ret) {
		s->wrong++;
		snprintf(s->why, sizeof(s->why), "reading: %s", strerror(-ret));
	}
}

int main(void)
{
	test_exact();
	test_timers();
	test_sessions();
	test_hostile();
	return failed;
}
