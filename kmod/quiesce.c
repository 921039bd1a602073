// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting until no task can be inside a piece of text any more.
 *
 * A task can be preempted anywhere, and it may be interrupted anywhere and the interrupt's code
 * runs on its stack. Once every task has switched away of its own will, or has been in user
 * mode, none can be where it was. synchronize_rcu_tasks waits for exactly that, for all tasks
 * but the idle ones. An idle task that has been interrupted runs the interrupt's code: where an
 * interrupt of ours meets the idle task, a piece of work is run on that CPU, because the idle
 * task must be left for it to run. Where it meets another task the idle one has been left
 * already; nothing is asked of that CPU, which a realtime task may keep for itself for ever.
 *
 * It is no help against code that sleeps and comes back to a return address: therefore no
 * return address ever points into a patch.
 */
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "ki.h"

static struct work_struct __percpu *ki_visits;
static DEFINE_MUTEX(ki_visiting);
static struct cpumask ki_idle; /* under ki_visiting */
static atomic64_t ki_waits;
static atomic64_t ki_waits_done; /* the number of the last that has ended */

static void visit(struct work_struct *unused)
{
}

static void note_idle(void *unused)
{
	if (is_idle_task(current))
		cpumask_set_cpu(smp_processor_id(), &ki_idle);
}

static void visit_idle_cpus(void)
{
	int cpu;

	mutex_lock(&ki_visiting);
	cpus_read_lock();
	cpumask_clear(&ki_idle);
	on_each_cpu(note_idle, NULL, 1);
	for_each_cpu(cpu, &ki_idle) schedule_work_on(cpu, per_cpu_ptr(ki_visits, cpu));
	for_each_cpu(cpu, &ki_idle) flush_work(per_cpu_ptr(ki_visits, cpu));
	cpus_read_unlock();
	mutex_unlock(&ki_visiting);
}

void ki_quiesce(void)
{
	u64 number = atomic64_inc_return(&ki_waits), done;

	synchronize_rcu_tasks();
	visit_idle_cpus();
	done = atomic64_read(&ki_waits_done);
	while (done < number && !atomic64_try_cmpxchg(&ki_waits_done, &done, number))
		;
}

bool ki_quiesced(u64 since)
{
	return atomic64_read(&ki_waits_done) > since;
}

u64 ki_quiesce_count(void)
{
	return atomic64_read(&ki_waits);
}

int ki_quiesce_init(void)
{
	int cpu;

	ki_visits = alloc_percpu(struct work_struct);
	if (!ki_visits)
		return -ENOMEM;
	for_each_possible_cpu (cpu)
		INIT_WORK(per_cpu_ptr(ki_visits, cpu), visit);
	return 0;
}

void ki_quiesce_exit(void)
{
	free_percpu(ki_visits);
}
