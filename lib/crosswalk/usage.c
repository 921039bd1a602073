// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is searched: time, the threads' CPU time, or one of the events that the kernel counts for
 * each thread. How much of it a thread has used says /proc, or perf_event_open.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>

#include "crosswalk/walk.h"
#include "metric/events.h"
#include "metric/table.h"

static int no_kernel(const char *name, struct ki_err *err)
{
	return ki_err_set(err, -EOPNOTSUPP, 0,
			  "--metric %s: functions of a program get it by the driver, which the "
			  "search does not have; cpu and wall do without it",
			  name);
}

/* What grows while a function goes on, and can be counted of a thread beside it. */
static bool is_searchable(const struct ki_metric *m)
{
	const struct ki_metric_row *r = ki_metric_row(m);

	return m->form == KI_FORM_TOTAL && m->lasts && r->source != SOURCE_NONE &&
	       r->source != SOURCE_WALL && r->source != SOURCE_OWN && !r->other;
}

static int take_event(struct ki_crosswalk *w, const char *name, struct ki_err *err)
{
	struct ki_err why = {0};

	w->metric = ki_metric_find(name);
	if (!w->metric && !ki_metric_new(name, &w->named, NULL))
		w->metric = w->named;
	if (!w->metric || !is_searchable(w->metric))
		return ki_err_set(err, -EINVAL, 0,
				  "--metric %s: wall, cpu, or what grows while a function goes on "
				  "is searched: faults, switches, llc-misses, ...",
				  name);
	if (ki_metric_check(w->metric, &why))
		return ki_err_set(err, -EOPNOTSUPP, 0,
				  "--metric %s: it is not counted on this machine (%s); kerninst "
				  "metrics says what is",
				  name, why.msg);
	return w->kernel ? 0 : no_kernel(name, err);
}

int ki_crosswalk_take_metric(struct ki_crosswalk *w, struct ki_err *err)
{
	const char *name = w->o.metric ? w->o.metric : "wall";
	int ret = 0;

	w->what = KI_WHAT_EVENT;
	if (!strcmp(name, "wall")) {
		w->what = KI_WHAT_WALL;
		w->metric = ki_metric_find("walltime");
	} else if (!strcmp(name, "cpu")) {
		w->what = KI_WHAT_CPU;
		w->metric = ki_metric_find("vtime");
	} else {
		ret = take_event(w, name, err);
	}
	/* Else it is timed in the process, which knows neither. */
	w->told = w->kernel && (w->what != KI_WHAT_WALL || w->o.threads);
	w->untimed = !w->kernel && (w->what != KI_WHAT_WALL || w->o.threads);
	return ret;
}

/* ---- of a thread ---- */

char *ki_crosswalk_read_text(pid_t pid, pid_t tid, const char *name)
{
	char path[64], *text = calloc(1, KI_CROSSWALK_TEXT);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	f = text ? fopen(path, "re") : NULL;
	if (f) {
		text[fread(text, 1, KI_CROSSWALK_TEXT - 1, f)] = '\0';
		fclose(f);
	}
	return text;
}

/* Field n of a thread's stat, n from 3 on: the second is its name, in parentheses. "": none. */
static const char *stat_field(const char *text, unsigned int n)
{
	const char *at = text ? strrchr(text, ')') : NULL;

	for (unsigned int i = 2; at && i < n; i++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : "";
}

bool ki_crosswalk_is_running(const struct ki_crosswalk *w, pid_t tid)
{
	char *text = ki_crosswalk_read_text(w->pid, tid, "stat");
	const bool running = *stat_field(text, 3) == 'R';

	free(text);
	return running;
}

static uint64_t faults_of(const struct ki_crosswalk *w, pid_t tid, bool minor)
{
	char *text = ki_crosswalk_read_text(w->pid, tid, "stat");
	uint64_t n = strtoull(stat_field(text, 12), NULL, 10);

	if (minor)
		n += strtoull(stat_field(text, 10), NULL, 10);
	free(text);
	return n;
}

static uint64_t number_after(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t switches_of(const struct ki_crosswalk *w, pid_t tid, bool given_up)
{
	char *text = ki_crosswalk_read_text(w->pid, tid, "status");
	uint64_t n = number_after(text, "\nnonvoluntary_ctxt_switches:");

	if (given_up)
		n += number_after(text, "\nvoluntary_ctxt_switches:");
	free(text);
	return n;
}

/* ---- events of perf ---- */

static int open_event(const struct ki_crosswalk *w, pid_t tid)
{
	const struct ki_metric_row *r = ki_metric_row(w->metric);
	const struct ki_event_ask ask = {r->event, r->sides, r->raw};
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .exclude_user = r->sides == KI_EVENT_KERNEL,
				       .exclude_kernel = r->sides == KI_EVENT_USER};
	struct ki_event_spec spec;

	if (ki_event_spec_asked(&ask, &spec, NULL))
		return -1;
	attr.type = spec.type;
	attr.config = spec.config;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int descriptor_of(struct ki_crosswalk *w, pid_t tid)
{
	struct ki_crosswalk_counter c = {.tid = tid};

	for (size_t i = 0; i < w->counters.n; i++)
		if (w->counters.v[i].tid == tid)
			return w->counters.v[i].fd;
	if (ki_vec_reserve(&w->counters, 1))
		return -1;
	c.fd = open_event(w, tid);
	w->counters.v[w->counters.n++] = c;
	return c.fd;
}

static uint64_t events_of(struct ki_crosswalk *w, pid_t tid)
{
	const int fd = descriptor_of(w, tid);
	uint64_t n = 0;

	return fd >= 0 && read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

void ki_crosswalk_usage_free(struct ki_crosswalk *w)
{
	for (size_t i = 0; i < w->counters.n; i++)
		if (w->counters.v[i].fd >= 0)
			close(w->counters.v[i].fd);
	ki_vec_free(&w->counters);
	ki_metric_free(w->named);
}

uint64_t ki_crosswalk_used(struct ki_crosswalk *w, pid_t tid)
{
	switch (ki_metric_row(w->metric)->source) {
	case SOURCE_FAULTS:
		return faults_of(w, tid, true);
	case SOURCE_MAJOR_FAULTS:
		return faults_of(w, tid, false);
	case SOURCE_SWITCHES:
		return switches_of(w, tid, true);
	case SOURCE_PREEMPTIONS:
		return switches_of(w, tid, false);
	case SOURCE_EVENT:
		return events_of(w, tid);
	default:
		return 0; /* time */
	}
}
