// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding one task still while its stack is read, and no other.
 *
 * A task that does not run is held as live patching does it (task_call_func): its pi_lock keeps it
 * from being woken, and its run queue's lock, if it is on one, from being chosen. A task that runs
 * is asked where it runs: its CPU gets an interrupt, and if it is still the one that was
 * interrupted, it looks at itself. If it has gone meanwhile, it is tried again.
 *
 * What is called so has interrupts off and may hold these two locks. It must be short, take no
 * lock and wake no task. The asking task holds nothing and sleeps until the interrupt has come. So
 * a CPU whose interrupts are off for long is waited for, but no other one is held.
 *
 * An idle task is asked on its own CPU, whether it runs or not: no other CPU ever runs it.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include "compat.h"
#include "ki.h"
#include "symbols.h"

#define KI_STILL_TRIES 16

struct ki_still {
	struct task_struct *task;
	ki_still_fn call;
	void *arg;
	bool done;
	struct completion over;
	call_single_data_t csd;
};

/* Held. The task that has its CPU while the run queue is locked is what that runs. */
static int call_if_off(struct task_struct *t, void *still)
{
	struct ki_still *s = still;

	if (ki_has_cpu(t))
		return -EBUSY;
	s->call(t, s->arg);
	return 0;
}

/* In the interrupt. */
static void call_if_here(void *still)
{
	struct ki_still *s = still;

	s->done = s->task == current ||
		  (is_idle_task(s->task) && s->task == ki_call(idle_task)(smp_processor_id()));
	if (s->done)
		s->call(s->task, s->arg);
	complete(&s->over);
}

static int ask(struct ki_still *s, int cpu)
{
	INIT_CSD(&s->csd, call_if_here, s);
	init_completion(&s->over);
	if (smp_call_function_single_async(cpu, &s->csd))
		return -EAGAIN; /* that CPU has gone */
	wait_for_completion(&s->over);
	return s->done ? 0 : -EAGAIN;
}

static int call_once(struct ki_still *s)
{
	int err = ki_call(task_call_func)(s->task, call_if_off, s);

	return err ? ask(s, task_cpu(s->task)) : 0;
}

int ki_still_call(struct task_struct *t, ki_still_fn call, void *arg)
{
	struct ki_still s = {.task = t, .call = call, .arg = arg};
	int i, err;

	if (t == current) {
		call(t, arg);
		return 0;
	}
	err = call_once(&s);
	for (i = 1; err && i < KI_STILL_TRIES; i++) {
		usleep_range(20, 100);
		err = call_once(&s);
	}
	return err;
}

int ki_still_idle(int cpu, ki_still_fn call, void *arg)
{
	struct ki_still s = {.task = ki_call(idle_task)(cpu), .call = call, .arg = arg};

	/* A CPU that has gone will run it from its beginning. */
	return ask(&s, cpu) && cpu_online(cpu) ? -EAGAIN : 0;
}
