// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that sleep in a fault, or in a function that returns to us: to a return trampoline, or to a
 * patch that is laid out (lay.c), which makes its calls itself.
 *
 * A displaced instruction that has an exception row may fault in the patch, and the task sleeps
 * there until its page is brought in. That is seconds, if the page is on a slow disk, or for ever,
 * if another process must provide it (userfaultfd). Then it comes back to the patch. The wait
 * (quiesce.c) does not cover it, because to sleep is just what that wait waits for.
 *
 * So before a patch with such an instruction is given back, all tasks' stacks are looked at: each
 * by itself, at any moment, and no two at the same time (still.c). That is enough. After the wait
 * nothing leads into the patch any more, so the tasks in it can only become fewer. One that is seen
 * outside of it stays outside, whatever it does later; one that is inside has its address on the
 * stack, in the registers that the fault saved, whether it sleeps, is being woken, or runs. The
 * same holds for return trampolines (returns.c): who is not on the way, nor in an old patch from
 * where one sets out, will not be on the way again.
 *
 * No other task is stopped meanwhile. One task at a time is held for the length of its stack.
 * KI_LOOK_FRAMES frames of it are unwound, and the rest is read word by word. What was found is
 * only noted there, in an array of fixed size, and handed on when the task has been let go.
 *
 * Which tasks there are. They are looked at by their numbers, in ascending order. A new one was
 * never in the patch, wherever its number is. A number goes from one task to another only when a
 * thread executes a program and takes its process's number; it may so come to a number that has
 * been passed. That thread is the process from then on, so all processes are looked at once more,
 * when those that were just changing numbers have (RCU: numbers are changed with the tasks' list
 * locked). A task that executes a program a second time meanwhile has the number already, and a
 * thread that it has made meanwhile is new.
 *
 * The address of a patch is on a stack where an exception left it. Of a patch that is laid out it
 * is there also where a call left it. So it is found where the unwinder says that registers were
 * saved, or that a function returns. If the unwinder loses its way every word of that stack
 * counts, which may be too careful, but only delays. It also does so where it seems to have come
 * to an end, but not in user space or where threads begin. 6.1 says that stacks end in thunks, and
 * in what gives taken return addresses back, and a task may be preempted in them. The registers of
 * user space are never looked at: a program may have put any address there.
 *
 * The same look tells whether a task will return to a place in ki_returned (returns.c). A return
 * probe or the function graph tracer may also have taken such an address from the stack. So it may
 * one in a patch that is laid out. It left its own there. The unwinder knows whose it was. Where
 * it does not, that may be any of ours: it does not tell of a task that was preempted, nor of one
 * that is just about to get the address back.
 */
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <asm/unwind.h>

#include "ki.h"
#include "symbols.h"

#define KI_LOOK_TASKS  64 /* between two pauses */
#define KI_LOOK_FRAMES 96 /* what is above them is read as words */
#define KI_LOOK_NOTES  32 /* of one task */

/* A look at one task; its notes are written while the task is held. */
struct ki_look {
	unsigned long notes[KI_LOOK_NOTES];
	u32 n;
	bool more;		       /* than there is room for */
	struct module *const *modules; /* in which tasks are looked for, too */
	u32 nmodules;
};

/* The walk over all tasks. */
struct ki_walk {
	ki_faults_fn found;
	void *arg;
	struct ki_look look;
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

static void note(struct ki_look *l, unsigned long ip)
{
	u32 i;

	for (i = 0; i < l->n; i++)
		if (l->notes[i] == ip)
			return;
	if (l->n < KI_LOOK_NOTES)
		l->notes[l->n++] = ip;
	else
		l->more = true;
}

static bool is_in_modules(const struct ki_look *l, unsigned long addr)
{
	u32 i;

	for (i = 0; i < l->nmodules; i++)
		if (within_module(addr, l->modules[i]))
			return true;
	return false;
}

static void look_at_address(struct ki_look *l, unsigned long addr)
{
	if (ki_heap_holds(addr) || is_in_modules(l, addr))
		note(l, addr);
	else if (is_in(ki_takers, ARRAY_SIZE(ki_takers), addr))
		note(l, KI_FAULTS_ANYWHERE);
}

/* Of one that runs (it is in an interrupt of ours) all words, if that is not on its own stack. */
static unsigned long *lowest_word(struct task_struct *t)
{
	unsigned long *here = __builtin_frame_address(0);

	if (t != current)
		return (unsigned long *)t->thread.sp;
	return object_is_on_stack(here) ? here : end_of_stack(t);
}

static void look_at_words(struct ki_look *l, struct task_struct *t)
{
	unsigned long *word = lowest_word(t);
	/* After it lies what the user's program left in its registers: anything. */
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
static bool trace(struct ki_look *l, struct task_struct *t)
{
	struct unwind_state state;
	unsigned long addr = 0;
	bool user = false, thunk = false;
	u32 frames = 0;

	unwind_start(&state, t, NULL, NULL);
	while (!unwind_done(&state) && !(user = is_in_user_space(&state))) {
		if (++frames > KI_LOOK_FRAMES)
			return false;
		addr = unwind_get_return_address(&state);
		look_at_address(l, addr);
		thunk |= addr - ki_thunks.start < ki_thunks.size;
		unwind_next_frame(&state);
	}
	/* Idle tasks begin each in its own place, and leave the CPU in one. */
	return !thunk && !unwind_error(&state) &&
	       (user || is_idle_task(t) || is_in(ki_births, ARRAY_SIZE(ki_births), addr));
}

/* The unwinder of 6.1 warns of another task with taken return addresses that is about to run. */
static bool warns(const struct task_struct *t)
{
#ifdef CONFIG_RETHOOK
	return t != current && !READ_ONCE(t->__state) && t->rethooks.first;
#else
	return false;
#endif
}

/* The task does not run meanwhile, or it is we who do, perhaps in an interrupt. */
static void look_at_stack(struct task_struct *t, void *look)
{
	if (warns(t) || !trace(look, t))
		look_at_words(look, t);
}

void ki_sleeper_note(struct ki_sleeper *s, const struct task_struct *t)
{
	s->pid = t ? task_pid_nr((struct task_struct *)t) : 0;
	strscpy_pad(s->comm, t ? t->comm : "", sizeof(s->comm));
}

static void hand_on(struct ki_walk *w, const struct task_struct *t, bool seen)
{
	u32 i;

	for (i = 0; i < w->look.n; i++)
		w->found(w->arg, w->look.notes[i], t);
	if (w->look.more || !seen)
		w->found(w->arg, KI_FAULTS_UNKNOWN, t);
	w->look.n = 0;
	w->look.more = false;
}

static void look_at_idle(struct ki_walk *w)
{
	int cpu;

	for_each_online_cpu (cpu)
		hand_on(w, NULL, !ki_still_idle(cpu, look_at_stack, &w->look));
}

static void look_at_task(struct ki_walk *w, struct task_struct *t)
{
	if (!try_get_task_stack(t))
		return; /* it has ended, and its stack is gone */
	hand_on(w, t, !ki_still_call(t, look_at_stack, &w->look));
	ki_call(put_task_stack)(t);
}

/* The task of the first number from *next on, which is set after it; false: there are none. */
static bool take_next(int *next, enum pid_type kind, struct task_struct **task)
{
	struct pid *pid;

	rcu_read_lock();
	pid = ki_call(find_ge_pid)(*next, &init_pid_ns);
	*task = pid ? pid_task(pid, kind) : NULL;
	if (*task)
		get_task_struct(*task);
	if (pid)
		*next = pid_nr(pid) + 1;
	rcu_read_unlock();
	return pid;
}

static void look_at_numbers(struct ki_walk *w, enum pid_type kind)
{
	struct task_struct *t;
	int next = 0;
	u32 n = 0;

	while (take_next(&next, kind, &t)) {
		if (t) {
			look_at_task(w, t);
			put_task_struct(t);
		}
		if (++n % KI_LOOK_TASKS)
			cond_resched();
		else
			usleep_range(100, 300); /* others' turn */
	}
}

void ki_faults_find(ki_faults_fn found, void *arg, struct module *const *modules, u32 nmodules)
{
	struct ki_walk walk = {
		.found = found, .arg = arg, .look = {.modules = modules, .nmodules = nmodules}};

	look_at_idle(&walk);
	look_at_numbers(&walk, PIDTYPE_PID);
	synchronize_rcu();
	look_at_numbers(&walk, PIDTYPE_TGID);
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
