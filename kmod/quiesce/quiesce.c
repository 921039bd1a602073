// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting until no task can be inside a piece of text any more.
 *
 * A task can be preempted anywhere, and it may be interrupted anywhere and the interrupt's code
 * runs on its stack. Once every task has switched away of its own will, or has been in user mode,
 * none can be where it was. synchronize_rcu_tasks waits for exactly that, for all tasks but the
 * idle ones. An idle task that has been interrupted runs the interrupt's code. Where an interrupt
 * of ours meets the idle task, a piece of work is run on that CPU: the idle task must be left for
 * it to run. Where it meets another task the idle one has been left already; nothing is asked of
 * that CPU, which a realtime task may keep for itself for ever. Such a task may also come when the
 * work has been asked for and not begun. Then the work stays where it is, but the idle task has
 * been left, which the next interrupt sees: so the wait for the work is a short one, again and
 * again, with a look in between. A CPU that goes leaves its idle task for the thread that takes it
 * down; so it need not be kept from going.
 *
 * It is no help against code that sleeps and comes back to a return address: therefore none points
 * into a patch, but into those that are laid out, for which stacks are looked at (faults.c).
 */
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "ki.h"

#define KI_VISIT_MS 20 /* between two looks at the CPUs that have not been visited */

struct ki_visit {
	struct work_struct work;
	int cpu;
};

static struct ki_visit __percpu *ki_visits;
static DEFINE_MUTEX(ki_visiting);
static struct cpumask ki_idle; /* whose idle task has not been left since; of who has ki_visiting */
static DECLARE_WAIT_QUEUE_HEAD(ki_visited);
static atomic64_t ki_waits;
static atomic64_t ki_waits_done; /* the number of the last that has ended */
static atomic64_t ki_waited_ns;

/* What was asked of a CPU that has gone is done elsewhere, and says nothing. */
static void visit(struct work_struct *work)
{
	int cpu = container_of(work, struct ki_visit, work)->cpu;

	if (raw_smp_processor_id() != cpu)
		return;
	cpumask_clear_cpu(cpu, &ki_idle);
	wake_up(&ki_visited);
}

static void note_idle(void *unused)
{
	if (is_idle_task(current))
		cpumask_set_cpu(smp_processor_id(), &ki_idle);
}

static void note_left(void *unused)
{
	if (!is_idle_task(current))
		cpumask_clear_cpu(smp_processor_id(), &ki_idle);
}

static void ask_for_visits(void)
{
	int cpu;

	for_each_cpu(cpu, &ki_idle) schedule_work_on(cpu, &per_cpu_ptr(ki_visits, cpu)->work);
}

/* One that has gone and come again meanwhile may have lost its work. */
static void look_again(void)
{
	int cpu;

	on_each_cpu_mask(&ki_idle, note_left, NULL, true);
	for_each_cpu(cpu, &ki_idle) if (!cpu_online(cpu)) cpumask_clear_cpu(cpu, &ki_idle);
	ask_for_visits();
}

static void visit_idle_cpus(void)
{
	mutex_lock(&ki_visiting);
	cpumask_clear(&ki_idle);
	on_each_cpu(note_idle, NULL, 1);
	ki_step("idle tasks noted");
	ask_for_visits();
	while (!wait_event_timeout(ki_visited, cpumask_empty(&ki_idle),
				   msecs_to_jiffies(KI_VISIT_MS)))
		look_again();
	mutex_unlock(&ki_visiting);
}

void ki_quiesce(void)
{
	u64 number = atomic64_inc_return(&ki_waits), done, begun = ktime_get_ns();

	synchronize_rcu_tasks();
	visit_idle_cpus();
	atomic64_add(ktime_get_ns() - begun, &ki_waited_ns);
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

u32 ki_quiesce_waited(void)
{
	return div_u64(atomic64_read(&ki_waited_ns), NSEC_PER_MSEC);
}

int ki_quiesce_init(void)
{
	int cpu;

	ki_visits = alloc_percpu(struct ki_visit);
	if (!ki_visits)
		return -ENOMEM;
	for_each_possible_cpu (cpu) {
		struct ki_visit *v = per_cpu_ptr(ki_visits, cpu);

		INIT_WORK(&v->work, visit);
		v->cpu = cpu;
	}
	return 0;
}

/* Work that has not begun never does. */
void ki_quiesce_exit(void)
{
	int cpu;

	for_each_possible_cpu (cpu)
		cancel_work_sync(&per_cpu_ptr(ki_visits, cpu)->work);
	free_percpu(ki_visits);
}
