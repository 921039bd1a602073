// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose words are where: a block for each thread that runs, and for each CPU where the words of the
 * thread are that runs there.
 *
 * The scheduler tells of each switch by its tracepoint, in __schedule: interrupts are off, the run
 * queue is locked, the current task is still the one that goes. From the hook on everything on
 * that CPU is the next thread's, also the rest of __schedule; so what is entered after the hook
 * on one stack and left on the other sees one thread's words. (Only __traceiter_sched_switch,
 * which calls several hooks one after the other, is entered with one thread's and left with the
 * other's.) All that is done here costs the same for any number of words. The block is found in a
 * hash table, and three words of the CPU are written.
 *
 * A chain of the table is followed without a lock. A block in it may be taken out meanwhile and
 * put into another chain, or among the free; then the search goes astray, and does not find a
 * block that is there. It never finds a wrong one. Only the CPU that switches to a thread gives it
 * a block. A block loses its thread only when that will never run again (the kernel frees the
 * task: sched_process_free). So a search that finds nothing looks again under the lock, and
 * searching ends after KI_CHAIN_MAX steps, because astray there may be no end.
 *
 * Our own windows may be in what is called here: in the slow path of the lock, or in what raises
 * an interrupt. A chunk there runs as anywhere: it takes no locks and switches no threads, so it
 * does not come back here. It finds the words of the thread that goes, because all that is called
 * is called before they change. After that come only stores.
 *
 * An NMI may come between the stores. It finds words with the clock of their thread, or no words:
 * they are taken away first, and come back when the clock is right. And a look at a thread's
 * clock from elsewhere (ki_thread_clock) reads `run` before and after: it changes after the
 * clock was written when the thread stops, and after the CPU's offset was when it begins.
 *
 * Events that are counted for threads (event.c) are read first of all, because that calls what may
 * be instrumented. They change hands where the words do. When none is, that costs a load and a
 * test.
 *
 * When a CPU goes down, its last switches are not told. So a thread is taken to have run until now
 * only if it is the one that goes. Before the CPU comes back it belongs to no thread again
 * (on_prepare). Else its idle task would write into the words of the thread that was seen there
 * last.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hash.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include <asm/msr.h>

#include "data/event.h"

#define KI_CHAIN_BITS 13
#define KI_CHAIN_MAX  64

DEFINE_PER_CPU(struct ki_here, ki_here);

static struct ki_thread *ki_chains[1 << KI_CHAIN_BITS];
static struct tracepoint *ki_switched, *ki_freed;
static bool ki_started;
static int ki_preparing; /* the state of hotplug */

/* ---- which block ---- */

static __always_inline struct ki_thread **chain_of(const struct task_struct *task)
{
	return &ki_chains[hash_ptr(task, KI_CHAIN_BITS)];
}

static __always_inline struct ki_thread *look(const struct task_struct *task)
{
	struct ki_thread *t = READ_ONCE(*chain_of(task));
	u32 n;

	for (n = 0; t && n < KI_CHAIN_MAX; n++) {
		if (READ_ONCE(t->task) == task)
			return t;
		t = READ_ONCE(t->next);
	}
	return NULL;
}

/* Under the lock: where the pointer to the task's block stands, or that which ends the chain. */
static __always_inline struct ki_thread **place_of(const struct task_struct *task)
{
	struct ki_thread **at = chain_of(task);

	while (*at && (*at)->task != task)
		at = &(*at)->next;
	return at;
}

static noinline notrace struct ki_thread *look_again(struct task_struct *task)
{
	struct ki_thread *t;
	unsigned long flags;

	raw_spin_lock_irqsave(&ki_pool_lock, flags);
	t = *place_of(task);
	if (!t) {
		t = ki_pool_take();
		if (t) {
			struct ki_thread **chain = chain_of(task);

			t->clock = 1;
			WRITE_ONCE(t->task, task);
			WRITE_ONCE(t->next, *chain);
			smp_store_release(chain, t);
		}
	}
	raw_spin_unlock_irqrestore(&ki_pool_lock, flags);
	if (!t)
		raw_cpu_inc(ki_here.wordless);
	return t;
}

/* A task's block; a new one if it has none; NULL: there are none. */
static __always_inline struct ki_thread *find(struct task_struct *task)
{
	struct ki_thread *t = look(task);

	return likely(t) ? t : look_again(task);
}

/* ---- switches ---- */

static __always_inline void set_run(struct ki_thread *t, u32 cpu)
{
	barrier();
	WRITE_ONCE(t->run, (((t->run >> KI_RUN_BITS) + 1) << KI_RUN_BITS) | cpu);
	barrier();
}

static __always_inline void leave(const struct ki_here *here, u64 now)
{
	struct ki_thread *t = here->thread;

	WRITE_ONCE(t->clock, now - here->clock);
	set_run(t, 0);
}

/* from: whose events end here; NULL: no thread's. */
static __always_inline void enter(struct ki_here *here, struct ki_thread *t, u64 now, u32 events,
				  struct ki_thread *from)
{
	WRITE_ONCE(here->words, NULL);
	barrier();
	if (unlikely(events))
		ki_events_change(events, from, t);
	WRITE_ONCE(here->clock, t ? now - t->clock : 0);
	here->thread = t;
	if (!t)
		return;
	set_run(t, raw_smp_processor_id() + 1);
	WRITE_ONCE(here->words, t->words);
}

static notrace void on_switch(void *unused, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	struct ki_here *here = raw_cpu_ptr(&ki_here);
	struct ki_thread *t = find(next), *from = NULL;
	u32 events = READ_ONCE(ki_events_owned);
	u64 now;

	if (unlikely(events))
		ki_events_count(events);
	now = rdtsc();
	if (here->thread && here->thread->task == prev) {
		leave(here, now);
		from = here->thread;
	}
	enter(here, t, now, events, from);
}

/* Called on each CPU once, for who runs there since before the hook was. */
static void on_start(void *unused)
{
	struct ki_here *here = raw_cpu_ptr(&ki_here);

	if (!here->thread)
		enter(here, find(current), rdtsc(), 0, NULL);
}

/* Runs elsewhere, before that CPU runs. The thread may have gone on elsewhere meanwhile. */
static int on_prepare(unsigned int cpu)
{
	struct ki_here *here = per_cpu_ptr(&ki_here, cpu);
	struct ki_thread *t = here->thread;
	u64 run = t ? READ_ONCE(t->run) : 0;

	here->words = NULL;
	here->clock = 0;
	here->thread = NULL;
	if ((run & ((1 << KI_RUN_BITS) - 1)) == cpu + 1)
		cmpxchg(&t->run, run, ((run >> KI_RUN_BITS) + 1) << KI_RUN_BITS);
	return 0;
}

static notrace void on_freed(void *unused, struct task_struct *task)
{
	struct ki_thread *t, **at;
	unsigned long flags;

	raw_spin_lock_irqsave(&ki_pool_lock, flags);
	at = place_of(task);
	t = *at;
	if (t) {
		WRITE_ONCE(*at, t->next);
		WRITE_ONCE(t->task, NULL);
	}
	raw_spin_unlock_irqrestore(&ki_pool_lock, flags);
	if (!t)
		return;
	memset(t->words, 0, KI_THREAD_WORDS * sizeof(u64));
	raw_spin_lock_irqsave(&ki_pool_lock, flags);
	ki_pool_give(t);
	raw_spin_unlock_irqrestore(&ki_pool_lock, flags);
}

u64 ki_thread_clock(const struct ki_thread *t)
{
	u64 run, clock;
	u32 cpu;

	do {
		run = smp_load_acquire(&t->run);
		cpu = run & ((1 << KI_RUN_BITS) - 1);
		clock = READ_ONCE(t->clock);
		if (cpu && cpu_online(cpu - 1))
			clock = rdtsc_ordered() - READ_ONCE(per_cpu_ptr(&ki_here, cpu - 1)->clock);
		smp_rmb();
	} while (READ_ONCE(t->run) != run);
	return clock;
}

u64 ki_threads_wordless(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu (cpu)
		sum += READ_ONCE(per_cpu_ptr(&ki_here, cpu)->wordless);
	return sum;
}

/* ---- beginning and end ---- */

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_free"))
		ki_freed = tp;
	if (!strcmp(tp->name, "sched_switch"))
		ki_switched = tp;
}

int ki_threads_init(void)
{
	/* The compiler compares them with what the kernel's headers say. */
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_process_free(on_freed);
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!ki_freed || !ki_switched) {
		pr_err("kerninst: this kernel does not say when tasks are switched or freed: not supported\n");
		return -ENOENT;
	}
	ki_preparing = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "kerninst:prepare",
						 on_prepare, NULL);
	return ki_preparing < 0 ? ki_preparing : 0;
}

void ki_threads_exit(void)
{
	cpuhp_remove_state_nocalls(ki_preparing);
}

/* No CPU is in a hook any more when this returns. */
static void unregister(void)
{
	tracepoint_probe_unregister(ki_switched, on_switch, NULL);
	tracepoint_probe_unregister(ki_freed, on_freed, NULL);
	tracepoint_synchronize_unregister();
}

/* CPUs do not come meanwhile: on_prepare looks at blocks that go here. */
static void clear(void)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu (cpu) {
		struct ki_here *here = per_cpu_ptr(&ki_here, cpu);

		here->words = NULL;
		here->clock = 0;
		here->thread = NULL;
	}
	memset(ki_chains, 0, sizeof(ki_chains));
	ki_pool_stop();
	cpus_read_unlock();
}

int ki_threads_start(void)
{
	int err;

	lockdep_assert_held(&ki_lock);
	if (ki_started)
		return 0;
	err = ki_pool_start();
	if (err)
		return err;
	/* No block may belong to a task of which we are not told that it is freed. */
	err = tracepoint_probe_register(ki_freed, on_freed, NULL);
	if (!err) {
		err = tracepoint_probe_register(ki_switched, on_switch, NULL);
		if (err)
			tracepoint_probe_unregister(ki_freed, on_freed, NULL);
	}
	if (err) {
		tracepoint_synchronize_unregister();
		clear();
		return err;
	}
	on_each_cpu(on_start, NULL, 1);
	ki_started = true;
	return 0;
}

void ki_threads_stop(void)
{
	lockdep_assert_held(&ki_lock);
	if (!ki_started)
		return;
	unregister();
	clear();
	ki_started = false;
}
