// SPDX-License-Identifier: GPL-2.0-only
/*
 * kprobes that come to functions with windows.
 *
 * A kprobe that is registered looks at the function as it stands. Of what our springboards have
 * displaced it sees either nothing or what is left after them, and draws two wrong conclusions:
 *
 *   - what stands after a springboard in its window, or in a window without one, looks like code.
 * A kprobe there would never be hit, and no tool would be told.
 *   - branches that run in our patches are not seen. So an optimized kprobe, a jump over five
 *     bytes, may be put over an instruction that one of them leads to: the kernel would jump into
 *     the middle of it.
 *
 * kprobes do not ask. But the two functions that prepare them are called with kprobe_mutex held,
 * have an ftrace site, and may fail. We stand in front of them and let them fail. The first fails
 * with -EBUSY where the kprobe would not be hit. The second fails with -EILSEQ (the kprobe stays a
 * breakpoint) in a function that has windows. Windows come and go with kprobe_mutex held, from the
 * look at the text until they are recorded, so here no other lock is needed.
 *
 * In the heap there is none at all: what stands in a patch comes and goes, and a patch must be free
 * to be changed where it stands (mute.c).
 *
 * A kprobe on a springboard is in order: it runs before the patch, and delays its removal. Unless
 * control also comes to the window's beginning inside the patch, by a loop or from another window
 * of its group: there it would miss these.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>

#include "ki.h"
#include "symbols.h"

static struct mutex *kprobe_lock(void)
{
	static struct mutex *m;

	if (!m)
		m = (struct mutex *)ki_symbol("kprobe_mutex");
	return m;
}

void ki_probes_hold(void)
{
	mutex_lock(kprobe_lock());
}

void ki_probes_release(void)
{
	mutex_unlock(kprobe_lock());
}

/* What the kernel calls instead. */
static int refuse_probe(struct kprobe *p)
{
	return -EBUSY;
}

static int refuse_optimizing(struct optimized_kprobe *op, struct kprobe *unused)
{
	return -EILSEQ;
}

/* Does control come to a window's beginning inside the patch? */
static bool entered_inside(const struct ki_win *w)
{
	struct ki_copy c;
	u8 i;

	for (i = 0; i < w->ncopy; i++) {
		if (!(w->flow[i] & KI_FLOW_DIRECT))
			continue;
		ki_win_copy(w, i, &c);
		if (c.fix[c.nfix - 1].target == w->addr)
			return true;
	}
	return w->group->n > 1;
}

static struct ki_win *window_touching(unsigned long start, unsigned long end)
{
	lockdep_assert_held(kprobe_lock());
	return ki_win_find(start, end);
}

/* Would a kprobe there not be hit each time? */
static bool hidden(unsigned long addr)
{
	struct ki_win *w = window_touching(addr, addr + 1);

	if (ki_heap_holds(addr))
		return true;
	return w && (w->addr != addr || !w->boarded || entered_inside(w));
}

static bool in_spliced_function(unsigned long addr)
{
	unsigned long size, off;

	if (!ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return true;
	return window_touching(addr - off, addr - off + size);
}

static void before_probe(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	struct kprobe *p = (struct kprobe *)regs->di;

	if (hidden((unsigned long)p->addr))
		regs->ip = (unsigned long)refuse_probe;
}

static void before_optimizing(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	struct optimized_kprobe *op = (struct optimized_kprobe *)regs->di;

	if (in_spliced_function((unsigned long)op->kp.addr))
		regs->ip = (unsigned long)refuse_optimizing;
}

/* Permanent: ftrace cannot be switched off while we depend on it. */
#define KI_GUARD_FLAGS (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT)

static struct ki_guard {
	const char *name;
	struct ftrace_ops ops;
} ki_guards[] = {
	{"arch_prepare_kprobe", {.func = before_probe, .flags = KI_GUARD_FLAGS}},
	{"arch_prepare_optimized_kprobe", {.func = before_optimizing, .flags = KI_GUARD_FLAGS}},
};

static int guard_begin(struct ki_guard *g)
{
	unsigned long size, off, addr = ki_symbol(g->name);
	int err = -ENOENT;

	if (addr && ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		addr = ki_call(ftrace_location_range)(addr, addr + size - 1);
	if (addr)
		err = ftrace_set_filter_ip(&g->ops, addr, 0, 0);
	if (!err)
		err = register_ftrace_function(&g->ops);
	if (err)
		pr_err("kerninst: ftrace does not let us stand before %s (%d): is it switched off?\n",
		       g->name, err);
	return err;
}

static void guard_end(struct ki_guard *g)
{
	unregister_ftrace_function(&g->ops);
	ftrace_free_filter(&g->ops);
}

/*
 * A new user of ftrace is put at the head of the kernel's list before any text is changed for it
 * (register_ftrace_function). So if the list holds the guards alone now, nothing else uses ftrace
 * as long as its head is a guard.
 */
bool ki_probes_alone(unsigned long *list, unsigned long *first)
{
	const struct ftrace_ops *end = (void *)ki_symbol("ftrace_list_end"), *at;
	size_t i = ARRAY_SIZE(ki_guards);

	*list = ki_symbol("ftrace_ops_list");
	*first = (unsigned long)&ki_guards[i - 1].ops;
	if (!*list || !end)
		return false;
	at = READ_ONCE(*(struct ftrace_ops **)*list);
	while (i-- && at == &ki_guards[i].ops)
		at = rcu_dereference_raw(at->next);
	return at == end;
}

int ki_probes_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ki_guards); i++) {
		err = guard_begin(&ki_guards[i]);
		if (!err)
			continue;
		ftrace_free_filter(&ki_guards[i].ops);
		while (i--)
			guard_end(&ki_guards[i]);
		return err;
	}
	pr_info("kerninst: it watches kprobes by ftrace, which cannot be switched off meanwhile\n");
	return 0;
}

void ki_probes_exit(void)
{
	size_t i = ARRAY_SIZE(ki_guards);

	while (i--)
		guard_end(&ki_guards[i]);
}
