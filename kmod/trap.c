// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a breakpoint of ours sends the CPU.
 *
 * While a window is being written, its first byte is an int3. Whoever comes by is sent into the
 * patch: the patch does what the original does, so nobody waits and nothing is emulated.
 *
 * The table is published before the first breakpoint is written and retired after the last one
 * has gone and all CPUs have been interrupted (text.c). The handler runs with interrupts off
 * and looks at the table without a lock: a CPU in it delays the interrupt of that last round,
 * so after the round nobody can hold the old table.
 *
 * Everything that runs between the breakpoint and this handler must never carry a breakpoint
 * itself: the kernel's own list (noinstr, kprobes' blacklist) plus KI_R_TRAP_PATH of reserved.c.
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "ki.h"

static const struct ki_trap *ki_traps;
static u32 ki_trap_count;

static unsigned long trap_via(unsigned long addr)
{
	const struct ki_trap *v = smp_load_acquire(&ki_traps);
	u32 lo = 0, hi;

	if (!v)
		return 0;
	hi = READ_ONCE(ki_trap_count);
	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (v[mid].addr == addr)
			return v[mid].via;
		if (v[mid].addr < addr)
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

void ki_trap_publish(const struct ki_trap *v, u32 n)
{
	WRITE_ONCE(ki_trap_count, n);
	smp_store_release(&ki_traps, v);
}

void ki_trap_retire(void)
{
	WRITE_ONCE(ki_traps, NULL);
}

int ki_trap_init(void)
{
	return register_die_notifier(&ki_trap_block);
}

void ki_trap_exit(void)
{
	unregister_die_notifier(&ki_trap_block);
}
