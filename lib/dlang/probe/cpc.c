// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Probes EVENT-MODE-COUNT: each CPU counts an event of perf, in the kernel, in processes or in
 * both, and the clauses run when it has counted so many. An event that this machine has not, as
 * those of the hardware in most virtual machines, is none.
 */
#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/probe/hook.h"
#include "dlang/probe/probe.h"

/* Names as perf's, the constant's and those of its commands. */
#define HARDWARE(constant, ...)                                                                    \
	{                                                                                          \
		PERF_TYPE_HARDWARE, PERF_COUNT_HW_##constant,                                      \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define SOFTWARE(constant, ...)                                                                    \
	{                                                                                          \
		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##constant,                                      \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define NAMES 3

static const struct event {
	uint32_t type;
	uint64_t config;
	const char *names[NAMES];
} events[] = {
	SOFTWARE(CPU_CLOCK, "perf_count_sw_cpu_clock", "cpu_clock"),
	SOFTWARE(TASK_CLOCK, "perf_count_sw_task_clock", "task_clock"),
	SOFTWARE(PAGE_FAULTS, "perf_count_sw_page_faults", "page_faults", "faults"),
	SOFTWARE(PAGE_FAULTS_MIN, "perf_count_sw_page_faults_min", "minor_faults"),
	SOFTWARE(PAGE_FAULTS_MAJ, "perf_count_sw_page_faults_maj", "major_faults"),
	SOFTWARE(CONTEXT_SWITCHES, "perf_count_sw_context_switches", "context_switches", "cs"),
	SOFTWARE(CPU_MIGRATIONS, "perf_count_sw_cpu_migrations", "cpu_migrations", "migrations"),
	HARDWARE(CPU_CYCLES, "perf_count_hw_cpu_cycles", "cpu_cycles", "cycles"),
	HARDWARE(INSTRUCTIONS, "perf_count_hw_instructions", "instructions"),
	HARDWARE(CACHE_REFERENCES, "perf_count_hw_cache_references", "cache_references"),
	HARDWARE(CACHE_MISSES, "perf_count_hw_cache_misses", "cache_misses"),
	HARDWARE(BRANCH_INSTRUCTIONS, "perf_count_hw_branch_instructions", "branch_instructions",
		 "branches"),
	HARDWARE(BRANCH_MISSES, "perf_count_hw_branch_misses", "branch_misses"),
	HARDWARE(BUS_CYCLES, "perf_count_hw_bus_cycles", "bus_cycles"),
	HARDWARE(STALLED_CYCLES_FRONTEND, "perf_count_hw_stalled_cycles_frontend",
		 "stalled_cycles_frontend"),
	HARDWARE(STALLED_CYCLES_BACKEND, "perf_count_hw_stalled_cycles_backend",
		 "stalled_cycles_backend"),
	HARDWARE(REF_CPU_CYCLES, "perf_count_hw_ref_cpu_cycles", "ref_cycles"),
};
#define EVENTS (sizeof(events) / sizeof(*events))

#define LISTED "-all-1000000000" /* so rare that nobody minds */

static const struct event *event_named(const char *name, size_t n)
{
	for (size_t i = 0; i < EVENTS; i++)
		for (size_t j = 0; j < NAMES && events[i].names[j]; j++)
			if (strlen(events[i].names[j]) == n &&
			    !strncmp(events[i].names[j], name, n))
				return &events[i];
	return NULL;
}

/* "user-", "kernel-" or "all-": what stands behind it; NULL: it is none of these. */
static const char *read_mode(const char *text, struct perf_event_attr *attr)
{
	if (!strncmp(text, "user-", 5)) {
		attr->exclude_kernel = 1;
		return text + 5;
	}
	if (!strncmp(text, "kernel-", 7)) {
		attr->exclude_user = 1;
		return text + 7;
	}
	return !strncmp(text, "all-", 4) ? text + 4 : NULL;
}

bool ki_d_cpc_event(const char *name, struct perf_event_attr *attr)
{
	const size_t n = strcspn(name, "-");
	const struct event *e = event_named(name, n);
	const char *count = e && name[n] ? read_mode(name + n + 1, attr) : NULL;
	char *end;

	if (!count || !isdigit((unsigned char)*count))
		return false;
	attr->type = e->type;
	attr->config = e->config;
	attr->sample_period = strtoull(count, &end, 10);
	return !*end && attr->sample_period && attr->sample_period <= INT64_MAX;
}

static bool machine_has(struct perf_event_attr attr)
{
	int fd;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int found(struct ki_d_match *m, const struct ki_d_provider *self, const char *name)
{
	struct perf_event_attr attr = {0};

	if (!ki_d_cpc_event(name, &attr) || !machine_has(attr))
		return 0;
	return ki_d_found_named(m, self, name, attr.sample_period);
}

int ki_d_find_cpc(struct ki_d_match *m, const struct ki_d_provider *self)
{
	const char *wanted = m->pattern->field[3];
	bool listed = false;
	char name[64];
	int ret = 0;

	if (!ki_d_field_matches(m->pattern->field[1], "") ||
	    !ki_d_field_matches(m->pattern->field[2], ""))
		return 0;
	for (size_t i = 0; !ret && i < EVENTS; i++)
		for (size_t j = 0; !ret && j < NAMES && events[i].names[j]; j++) {
			snprintf(name, sizeof(name), "%s" LISTED, events[i].names[j]);
			if (!ki_d_field_matches(wanted, name))
				continue;
			listed = true;
			ret = found(m, self, name);
		}
	return ret || listed ? ret : found(m, self, wanted);
}
