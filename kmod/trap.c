// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a breakpoint of ours sends the CPU.
 *
 * While a window is being written, its first byte is an int3. Whoever comes by is sent into the
 * patch: the patch does what the original does, so nobody waits and nothing is emulated.
 *
 * The table is published before the first breakpoint is written and retired after the last one
 * has gone. The handler runs with interrupts off and looks at the table without a lock: a CPU in
 * it delays the round of interrupts after the retirement (text.c), so behind that round nobody
 * holds the table, and it can be freed.
 *
 * Everything that runs between the breakpoint and this handler must never carry a breakpoint
 * itself: the kernel's own list (noinstr, kprobes' blacklist) plus KI_R_TRAP_PATH of reserved.c.
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "ki.h"

static const struct ki_traps *ki_traps;

static unsigned long trap_via(unsigned long addr)
{
	const struct ki_traps *t = smp_load_acquire(&ki_traps);
	u32 lo = 0, hi = t ? t->n : 0;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (t->v[mid].addr == addr)
			return t->v[mid].via;
		if (t->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

static int ki_trap_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	unsigned long via;

	if (val != DIE_INT3 || user_mode(args->regs))
		return NOTIFY_DONE;
	via = trap_via(args->regs->ip - 1);
	if (!via)
		return NOTIFY_DONE;
	args->regs->ip = via;
	return NOTIFY_STOP;
}

static struct notifier_block ki_trap_block = {
	.notifier_call = ki_trap_notify,
	.priority = INT_MAX,
};

void ki_trap_publish(const struct ki_traps *t)
{
	smp_store_release(&ki_traps, t);
}

int ki_trap_init(void)
{
	return register_die_notifier(&ki_trap_block);
}

void ki_trap_exit(void)
{
	unregister_die_notifier(&ki_trap_block);
}
