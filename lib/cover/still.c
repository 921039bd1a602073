// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counters that fit together: read while nobody is between two of them.
 *
 * A thread that has passed one probe of a function, and not yet the next one, although nothing can
 * hold it up in between, makes what is computed of the two wrong by one. So does one that came by
 * before the second probe was there. So counters count from when all probes are in, until before
 * the first one is taken out; and at both times what each CPU has counted is read by a thread that
 * runs on this CPU. While it runs there nobody else does, and whoever was there before has gone
 * where threads may go: he sleeps in a call, or was in user mode. Code that nothing can hold up is
 * passed on one CPU, so it does not matter that CPUs are read one after the other. An interrupt may
 * come while a function's counters are read: they are read until they are the same twice.
 *
 * A kernel that switches from a thread wherever it is (full preemption) has no such moments; then
 * nothing is computed.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cover/live.h"

#define CPUS  8192
#define TRIES 1000

struct cpus {
	unsigned long bits[CPUS / 8 / sizeof(unsigned long)];
};

static int run_on(const struct cpus *set)
{
	return sched_setaffinity(0, sizeof(*set), (const cpu_set_t *)(const void *)set);
}

static int where_may_run(struct cpus *set)
{
	memset(set, 0, sizeof(*set));
	return sched_getaffinity(0, sizeof(*set), (cpu_set_t *)(void *)set);
}

static int run_on_cpu(unsigned int cpu)
{
	const unsigned int bits = 8 * sizeof(unsigned long);
	struct cpus set = {0};

	if (cpu >= CPUS)
		return -1;
	set.bits[cpu / bits] = 1ul << cpu % bits;
	return run_on(&set);
}

static bool is_preemptible(void)
{
	struct utsname u;
	char how[64] = "";
	FILE *f;

	if (uname(&u) || !strstr(u.version, "PREEMPT"))
		return false;
	if (!strstr(u.version, "PREEMPT_DYNAMIC"))
		return true;
	f = fopen("/sys/kernel/debug/sched/preempt", "re");
	if (f && !fgets(how, sizeof(how), f))
		*how = 0;
	if (f)
		fclose(f);
	return !strstr(how, "(none)") && !strstr(how, "(voluntary)");
}

bool ki_cover_can_be_still(const struct ki_cover *c)
{
	const struct ki_info *info = ki_target_info(c->t);
	struct cpus before;
	long n = 0;

	if (c->o.mode == KI_COVER_HIT || c->o.every || c->o.when || is_preemptible() ||
	    where_may_run(&before))
		return false;
	for (unsigned int cpu = 0; cpu < info->cpus; cpu++)
		n += !run_on_cpu(cpu);
	run_on(&before);
	return n == sysconf(_SC_NPROCESSORS_ONLN);
}

/* What this CPU has counted in a function is added. */
static void add(const struct ki_cover *c, const struct cover_tree *t, unsigned int cpu)
{
	for (int k = 0; k < TRIES; k++) {
		bool same = true;

		for (uint32_t i = 0; i < t->nslots; i++)
			c->read[i] = ki_counter_read_cpu(c->counters, t->first_slot + i, cpu);
		for (uint32_t i = 0; same && i < t->nslots; i++)
			same = c->read[i] ==
			       ki_counter_read_cpu(c->counters, t->first_slot + i, cpu);
		if (same)
			break;
	}
	for (uint32_t i = 0; i < t->nslots; i++)
		c->now[t->first_slot + i] += c->read[i];
}

void ki_cover_collect(struct ki_cover *c)
{
	struct cpus before;

	if (!c->now || c->ended)
		return;
	memset(c->now, 0, c->nslots * sizeof(*c->now));
	where_may_run(&before);
	for (unsigned int cpu = 0; cpu < ki_target_info(c->t)->cpus; cpu++) {
		run_on_cpu(cpu); /* fails if nothing runs there */
		for (size_t i = 0; i < c->functions.n; i++)
			add(c, &c->functions.v[i].tree, cpu);
	}
	run_on(&before);
}

int ki_cover_begin(struct ki_cover *c, struct ki_err *err)
{
	for (size_t i = 0; i < c->functions.n; i++) {
		const struct cover_tree *t = &c->functions.v[i].tree;

		if (t->first_slot + t->nslots > c->nslots)
			c->nslots = t->first_slot + t->nslots;
	}
	if (!c->nslots)
		return 0;
	c->now = calloc(c->nslots, sizeof(*c->now));
	c->begun = calloc(c->nslots, sizeof(*c->begun));
	c->read = calloc(c->nslots, sizeof(*c->read));
	if (!c->now || !c->begun || !c->read)
		return ki_err_set(err, -ENOMEM, 0, "coverage: out of memory");
	ki_cover_collect(c);
	memcpy(c->begun, c->now, c->nslots * sizeof(*c->begun));
	return 0;
}
