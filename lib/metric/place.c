// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where a measurement is: in the kernel, through the driver, or in a process, through the library's
 * own linker. All else is the same.
 *
 * In a process counters are words that all threads share, so there is one value of each; where each
 * CPU is to be told, a run of them, and the code asks which CPU it is on. Its clock is the time
 * stamp counter, too, and how fast that is is found by comparing it with the kernel's clock of the
 * same source, which knows.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "metric/measure.h"
#include "target/process.h"

#define COMPARED 20000000ll /* nanoseconds */
#define CLOSE	 16	    /* readings, of which the closest counts */

bool ki_measure_in_process(const struct ki_measure *m)
{
	return ki_target_kind(m->t) == KI_TARGET_PROCESS;
}

unsigned int ki_measure_cpus(const struct ki_measure *m)
{
	if (!ki_measure_in_process(m))
		return ki_target_info(m->t)->cpus;
	return m->each_cpu ? (unsigned int)sysconf(_SC_NPROCESSORS_CONF) : 1;
}

bool ki_measure_is_spread(const struct ki_measure *m)
{
	return ki_measure_in_process(m) && m->each_cpu;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* Both clocks at one moment. */
static void read_both(uint64_t *tsc, int64_t *ns)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOSE; i++) {
		uint64_t before = __rdtsc(), after;
		int64_t now = now_ns();

		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		*tsc = before + least / 2;
		*ns = now;
	}
}

static uint32_t compare_clocks(void)
{
	const struct timespec pause = {.tv_nsec = COMPARED};
	uint64_t tsc[2];
	int64_t ns[2];

	read_both(&tsc[0], &ns[0]);
	nanosleep(&pause, NULL);
	read_both(&tsc[1], &ns[1]);
	if (ns[1] <= ns[0])
		return 0;
	return (uint32_t)((double)(tsc[1] - tsc[0]) * 1e6 / (double)(ns[1] - ns[0]) + 0.5);
}

uint32_t ki_measure_khz(struct ki_measure *m, struct ki_err *err)
{
	if (!m->tsc_khz)
		m->tsc_khz =
			ki_measure_in_process(m) ? compare_clocks() : ki_target_info(m->t)->tsc_khz;
	if (!m->tsc_khz)
		ki_err_set(err, -EOPNOTSUPP, 0, "nobody knows how fast the time stamp counter is");
	return m->tsc_khz;
}

int ki_measure_put_in(struct ki_measure *m, struct ki_err *err)
{
	const struct ki_process *process = m->t->own;
	int ret;

	if (ki_measure_in_process(m) && m->sheds)
		ki_plan_sheds(m->plan);
	if (ki_measure_in_process(m))
		return ki_process_new(m->t, m->plan, process->counters, &m->process, err);
	ret = ki_counter_map_new(m->t, &m->map, err);
	if (!ret && m->told_at.n)
		ret = ki_told_begin(m, err);
	return ret ? ret : ki_plan_apply(m->plan, m->t, true, err);
}

int ki_measure_check(struct ki_measure *m, struct ki_err *err)
{
	const struct ki_process *process = m->t->own;

	return ki_measure_in_process(m) ? ki_process_check(m->t, m->plan, process->counters, err)
					: ki_plan_check(m->plan, m->t, err);
}

int ki_measure_take_out(struct ki_measure *m, struct ki_err *err)
{
	int told, ret;

	if (ki_measure_in_process(m))
		return m->process ? ki_process_remove(m->process, err) : 0;
	told = ki_told_end(m, err);
	ret = ki_plan_remove(m->plan, m->t, err);
	return ret ? ret : told;
}

bool ki_measure_is_in(const struct ki_measure *m)
{
	return m->map || m->process;
}

uint64_t ki_measure_counter(const struct ki_measure *m, size_t index, int cpu)
{
	const uint32_t number = m->counters.v[index];

	if (m->process && cpu != KI_ALL_CPUS)
		return ki_process_read(m->process, number + (uint32_t)cpu);
	if (m->process) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < ki_measure_cpus(m); i++)
			sum += ki_process_read(m->process, number + i);
		return sum;
	}
	return cpu == KI_ALL_CPUS ? ki_counter_read(m->map, number)
				  : ki_counter_read_cpu(m->map, number, (unsigned int)cpu);
}

void ki_measure_bare(const struct ki_measure *m, struct ki_code *out, uint32_t counter,
		     bool keep_flags)
{
	if (ki_measure_in_process(m))
		ki_process_count(out, counter, keep_flags);
	else
		ki_snippet_count(out, counter, keep_flags);
}

const struct ki_splice_process *ki_measure_process(const struct ki_measure *m)
{
	return m->process ? m->process : ki_measure_process_of(m, NULL);
}
