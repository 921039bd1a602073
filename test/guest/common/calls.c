// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"

void calls(unsigned int who, uint64_t first, uint64_t n)
{
	for (; n--; first++)
		syscall(SYS_sched_get_priority_max, (uint64_t)who, first, MARK);
}

void other_calls(unsigned int who, uint64_t first, uint64_t n)
{
	for (; n--; first++)
		syscall(SYS_sched_get_priority_min, (uint64_t)who, first, MARK);
}

unsigned int cpu_count(void)
{
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

bool move_to_cpu(pid_t tid, int cpu)
{
	const int cpus = (int)cpu_count();
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < cpus; i++)
		if (cpu < 0 || cpu % cpus == i)
			CPU_SET(i, &set);
	return !sched_setaffinity(tid, sizeof(set), &set);
}

void on_cpu(int cpu)
{
	if (!move_to_cpu(0, cpu))
		die("affinity", "it cannot be set");
}

/* ---- crowds ---- */

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

		on_cpu((int)m.who + (m.crowd->pinned ? 0 : (int)(i / 1000)));
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

		if (!m)
			die("threads", "no memory");
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

/* ---- timers ---- */

static pthread_t sleeper[MAX];
static volatile bool over;

static void *sleep_often(void *cpu)
{
	const struct timespec t = {.tv_nsec = 50000};

	on_cpu((int)(intptr_t)cpu);
	prctl(PR_SET_TIMERSLACK, 1);
	while (!over)
		nanosleep(&t, NULL);
	nanosleep(&t, NULL); /* a timer's interrupt after all that was done before the end */
	return NULL;
}

void timers_begin(void)
{
	over = false;
	for (unsigned int i = 0; i < cpu_count(); i++)
		if (pthread_create(&sleeper[i], NULL, sleep_often, (void *)(intptr_t)i))
			die("threads", "none can be made");
}

void timers_end(void)
{
	over = true;
	for (unsigned int i = 0; i < cpu_count(); i++)
		pthread_join(sleeper[i], NULL);
}
