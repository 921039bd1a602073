// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that sleep in a fault, or in a function that returns to us.
 *
 * A displaced instruction that has an exception row may fault in the patch, and the task sleeps
 * there until its page is brought in: seconds, if the page is on a slow disk, or for ever, if it
 * is another process that must provide it (userfaultfd). Then it comes back to the patch. The
 * wait (quiesce.c) does not cover it, because to sleep is just what that wait waits for.
 *
 * So before a patch with such an instruction is given back, all tasks' stacks are looked at. All
 * CPUs are stopped for it: then every task either is in such a fault, and its stack says so, or is
 * not in the patch at all, and cannot come there any more. Because it cannot, a task need be seen
 * only once, whenever that is, and the CPUs are stopped for a few tasks at a time: each takes some
 * microseconds, and there may be thousands. Threads are looked at by their numbers: new ones were
 * never there, and one that executes a program takes its process's number: so all of these are
 * looked at once more.
 *
 * The address of a patch is on a stack only where an exception left it, since no return address
 * ever points there; so it is found where the unwinder says that registers were saved. If the
 * unwinder loses its way every word of that stack counts, which may be too careful, but only
 * delays. It also does so where it seems to have come to an end, but not in user space or where
 * threads begin: 6.1 says of thunks, and of what gives taken return addresses back, that stacks end
 * there, and a task may be preempted in them. The registers of user space are never looked at: a
 * program may have put any address there.
 *
 * The same look tells whether somebody will return to a place in ki_returned (returns.c). Such an
 * address may also have been taken from the stack by a return probe or the function graph tracer,
 * which left its own there. The unwinder knows whose it was; where it does not (of a task that was
 * preempted it does not tell, nor of one that is just about to get the address back), that may be
 * any of ours.
 */
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>
#include <asm/unwind.h>

#include "ki.h"
#include "symbols.h"

#define KI_LOOK_TASKS 32 /* while all CPUs stand still: a fraction of a millisecond */

struct ki_look {
	unsigned long start, end;
	enum pid_type kind; /* of numbers */
	int next;	    /* the first that has not been looked at */
	bool done;
	void (*found)(void *arg, unsigned long ip);
	void *arg;
};

/* A function of this kernel, if it has one of that name. */
struct ki_place {
	const char *name;
	unsigned long start, size;
};

/* What others leave in place of the return addresses that they take. */
static struct ki_place ki_takers[] = {
	{"return_to_handler"},
	{"arch_rethook_trampoline"},
	{"__kretprobe_trampoline"},
};
/* Where threads begin. */
static struct ki_place ki_births[] = {
	{"ret_from_fork"},
	{"ret_from_fork_asm"},
};

/* Retpolines: the unwinder of 6.1 takes the half of one for the end of the stack, or a function. */
static struct ki_place ki_thunks;

static bool is_in(const struct ki_place *v, size_t n, unsigned long addr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (addr - v[i].start < v[i].size)
			return true;
	return false;
}

static void look_at_address(const struct ki_look *l, unsigned long addr)
{
	if (addr >= l->start && addr < l->end)
		l->found(l->arg, addr);
	else if (is_in(ki_takers, ARRAY_SIZE(ki_takers), addr))
		l->found(l->arg, KI_FAULTS_ANYWHERE);
}

static void look_at_words(const struct ki_look *l, struct task_struct *t)
{
	unsigned long *word = (unsigned long *)t->thread.sp;
	/* Behind it lies what the user's program left in its registers: anything. */
	unsigned long *end = (unsigned long *)task_pt_regs(t);

	/* A kernel with KASAN guards what lies between another function's variables. */
	for (; word < end; word++)
		look_at_address(l, READ_ONCE_NOCHECK(*word));
}

static bool is_in_user_space(struct unwind_state *state)
{
	const struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return regs && user_mode((struct pt_regs *)regs);
}

/* Can the unwinder be believed? found() is called for what it sees, in any case. */
static bool trace(const struct ki_look *l, struct task_struct *t)
{
	struct unwind_state state;
	unsigned long addr = 0;
	bool user = false, thunk = false;

	unwind_start(&state, t, NULL, NULL);
	while (!unwind_done(&state) && !(user = is_in_user_space(&state))) {
		addr = unwind_get_return_address(&state);
		look_at_address(l, addr);
		thunk |= addr - ki_thunks.start < ki_thunks.size;
		unwind_next_frame(&state);
	}
	/* Idle tasks begin each in its own place, and leave the CPU in one. */
	return !thunk && !unwind_error(&state) &&
	       (user || is_idle_task(t) || is_in(ki_births, ARRAY_SIZE(ki_births), addr));
}

/* The unwinder of 6.1 warns of a task with taken return addresses that is in the middle of running.
 */
static bool warns(const struct task_struct *t)
{
#ifdef CONFIG_RETHOOK
	return !READ_ONCE(t->__state) && t->rethooks.first;
#else
	return false;
#endif
}

static void look_at_stack(const struct ki_look *l, struct task_struct *t)
{
	if (warns(t) || !trace(l, t))
		look_at_words(l, t);
}

/* On one CPU, while all others stand still: no task but this one runs. */
static int look_at_idle(void *arg)
{
	int cpu;

	for_each_online_cpu (cpu)
		look_at_stack(arg, ki_call(idle_task)(cpu));
	return 0;
}

/* The same, at those of the next few numbers. */
static int look_at_some(void *arg)
{
	struct ki_look *l = arg;
	struct task_struct *t;
	struct pid *pid = NULL;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < KI_LOOK_TASKS; i++) {
		pid = ki_call(find_ge_pid)(l->next, &init_pid_ns);
		if (!pid)
			break;
		l->next = pid_nr(pid) + 1;
		t = pid_task(pid, l->kind);
		/* A dead task's stack may be gone; one that is there stays while nobody runs. */
		if (t && t != current && refcount_read(&t->stack_refcount))
			look_at_stack(l, t);
	}
	rcu_read_unlock();
	l->done = !pid;
	return 0;
}

static void look_at_numbers(struct ki_look *l, enum pid_type kind)
{
	l->kind = kind;
	l->next = 0;
	for (l->done = false; !l->done; usleep_range(100, 300)) /* others' turn */
		stop_machine(look_at_some, l, NULL);
}

void ki_faults_find(void (*found)(void *arg, unsigned long ip), void *arg)
{
	struct ki_look look = {.found = found, .arg = arg};
	struct ki_info heap;

	ki_heap_info(&heap);
	look.start = (unsigned long)ki_returned;
	look.end = heap.heap_end;
	stop_machine(look_at_idle, &look, NULL);
	look_at_numbers(&look, PIDTYPE_PID);
	look_at_numbers(&look, PIDTYPE_TGID);
}

static void find_places(struct ki_place *v, size_t n)
{
	unsigned long off;
	size_t i;

	for (i = 0; i < n; i++) {
		v[i].start = ki_symbol(v[i].name);
		if (v[i].start)
			ki_call(kallsyms_lookup_size_offset)(v[i].start, &v[i].size, &off);
	}
}

int ki_faults_init(void)
{
	find_places(ki_takers, ARRAY_SIZE(ki_takers));
	find_places(ki_births, ARRAY_SIZE(ki_births));
	ki_thunks.start = ki_symbol("__indirect_thunk_start");
	ki_thunks.size = ki_symbol("__indirect_thunk_end") - ki_thunks.start;
	return 0;
}
