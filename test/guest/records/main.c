// SPDX-License-Identifier: GPL-2.0-only
/*
 * records [cost]: prints a line for each case, "ok NAME: ..." or "not ok NAME: ..."; exits 0 if all
 * are ok.
 */
#include "records.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- what is recorded ---- */

static struct ki_node *record_call(struct ki_snippet *s, uint32_t ring)
{
	struct ki_node *v[] = {sys_arg(s, 0), sys_arg(s, 1), ki_expr_fact(s, KI_FACT_CPU),
			       sys_arg(s, 2)};

	return only_mine(s, ki_stmt_record(s, ring, ID_CALL, v, 4));
}

static struct ki_node *record_other(struct ki_snippet *s, uint32_t ring, uint32_t counter)
{
	const struct ki_var n = {.kind = KI_VAR_CPU, .type = KI_U64, .first = counter};
	struct ki_node *v[] = {ki_expr_var(s, &n), ki_expr_fact(s, KI_FACT_CPU)};
	struct ki_node *list = ki_stmt_append(
		s, NULL, ki_stmt_update(s, KI_UPDATE_ADD, &n, NULL, ki_expr_const(s, KI_I64, 1)));

	return ki_stmt_append(s, list, ki_stmt_record(s, ring, ID_TIMER, v, 2));
}

void session_open(struct session *s, const struct ki_ring_options *o, const char *another)
{
	struct ki_snippet *sn = snippet_new();
	struct ki_err err = {0};
	uint32_t counter;

	if (ki_target_new_live(&s->t, &err) || ki_ring_map_new(s->t, o, &s->ring, &err) ||
	    ki_counters_take(s->t, 1, &counter, &err))
		die("open", err.msg);
	s->plan = plan_new();
	ki_snippet_body(sn, record_call(sn, ki_ring_number(s->ring)));
	entry_put(s->t, s->plan, CALLED, sn, NULL);
	if (another) {
		sn = snippet_new();
		ki_snippet_body(sn, record_other(sn, ki_ring_number(s->ring), counter));
		entry_put(s->t, s->plan, another, sn, NULL);
	}
	plan_apply(s->plan, s->t);
}

void session_close(struct session *s)
{
	ki_plan_free(s->plan);
	ki_ring_map_free(s->ring);
	ki_target_free(s->t);
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
	for (int i = 0; i < 6000 && rings(t) != n; i++)
		usleep(20000);
	return rings(t);
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

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "cost")) {
		test_cost();
		return report_status();
	}
	test_exact();
	test_timers();
	test_sessions();
	test_hostile();
	return report_status();
}
