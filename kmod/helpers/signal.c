// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper SIGNAL: signals to the current process.
 *
 * A signal takes locks, and wakes a task. A chunk may run while these locks are held, in an
 * interrupt, in an NMI. So it is only noted here, for the CPU, and an interrupt is raised on this
 * CPU (irq_work, which needs nothing but that). It comes as soon as interrupts are on, so before
 * the task is back in its program, and sends what is noted. In a kernel whose locks sleep (RT) a
 * thread of the kernel's does so, which goes before ordinary tasks.
 *
 * What is noted is a ring. Who notes may be interrupted by another that notes, which is over before
 * the first goes on. A place is reserved by one cmpxchg, and is whole when its process stands
 * there; that is written last. Who sends stops at a place that is not whole: who is about to fill
 * it raises an interrupt when it has.
 *
 * The process is held by its struct pid: nothing is kept of a task that ends, and a number that
 * another process has by then leads to no process.
 *
 * Chunks may stand in what sending calls, and in what interrupts call. If each signal led to the
 * next, the CPU would do nothing else. So nothing is noted in an interrupt that is sending just
 * now, and in interrupts no more than KI_BURST between two ticks.
 */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "helpers/signal.h"
#include "uapi/kerninst.h"

#define KI_NOTED 64 /* a power of two */
#define KI_BURST 64

static_assert(KI_SIGNALS == _NSIG);

struct ki_noted {
	struct pid *to; /* NULL: it is not whole */
	int number;
};

struct ki_outbox {
	struct irq_work work;
	u32 head, tail; /* they only grow */
	bool sending;	/* in an interrupt */
	unsigned long moment;
	u32 burst; /* noted in interrupts, in this moment */
	struct ki_noted noted[KI_NOTED];
};

static DEFINE_PER_CPU(struct ki_outbox, ki_outbox);

static __always_inline bool is_reached(u64 number)
{
	return number && number <= KI_SIGNALS && !(current->flags & (PF_KTHREAD | PF_EXITING)) &&
	       !is_global_init(current);
}

static __always_inline bool is_too_much(struct ki_outbox *b)
{
	u8 level = interrupt_context_level();
	unsigned long now = READ_ONCE(jiffies);

	if (level < 2)
		return false;
	if (b->moment != now) {
		b->moment = now;
		b->burst = 0;
	}
	return (level == 2 && READ_ONCE(b->sending)) || b->burst++ >= KI_BURST;
}

static __always_inline struct ki_noted *reserve(struct ki_outbox *b)
{
	u32 at;

	do {
		at = READ_ONCE(b->head);
		if (at - READ_ONCE(b->tail) >= KI_NOTED)
			return NULL;
	} while (cmpxchg_local(&b->head, at, at + 1) != at);
	return &b->noted[at % KI_NOTED];
}

/* A CPU that goes has run its work for the last time. */
notrace u64 ki_signal_send(u64 number)
{
	struct ki_outbox *b = raw_cpu_ptr(&ki_outbox);
	struct ki_noted *n;

	if (!is_reached(number))
		return 1;
	if (!cpu_online(raw_smp_processor_id()) || is_too_much(b))
		return 0;
	n = reserve(b);
	if (!n)
		return 0;
	n->number = (int)number;
	barrier();
	WRITE_ONCE(n->to, get_pid(task_tgid(current)));
	irq_work_queue(&b->work);
	return 1;
}

static void send_noted(struct irq_work *work)
{
	struct ki_outbox *b = container_of(work, struct ki_outbox, work);
	struct ki_noted *n;
	struct pid *to;
	int number;

	WRITE_ONCE(b->sending, in_hardirq());
	while (n = &b->noted[b->tail % KI_NOTED], to = READ_ONCE(n->to)) {
		number = n->number;
		WRITE_ONCE(n->to, NULL);
		barrier();
		WRITE_ONCE(b->tail, b->tail + 1);
		kill_pid(to, number, 1);
		put_pid(to);
	}
	WRITE_ONCE(b->sending, false);
}

int ki_signals_init(void)
{
	int cpu;

	for_each_possible_cpu (cpu)
		init_irq_work(&per_cpu(ki_outbox, cpu).work, send_noted);
	return 0;
}

void ki_signals_exit(void)
{
	int cpu;

	for_each_possible_cpu (cpu)
		irq_work_sync(&per_cpu(ki_outbox, cpu).work);
}
