// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a breakpoint of ours sends the CPU.
 *
 * While a window is being written, its first byte is an int3; where there is no room for a jump,
 * it stays one. A CPU that comes by is sent into the patch. The patch does what the original does,
 * so no CPU waits. Nothing is emulated but the return of a return trampoline that leads nowhere
 * any more (returns.c). Inside a springboard, at the places of filled ones (fill.c), there may be
 * an invalid opcode instead of an int3.
 *
 * One table holds all breakpoints, those that stay and those of the change in progress. It is
 * published before the first breakpoint is written. The next one, without what was only meanwhile,
 * is published after the last one of these has gone. The handler runs with interrupts off and
 * looks at the table without a lock. A CPU in it delays the round of interrupts after a
 * publication (text.c). So after that round no CPU holds the table before, and it can be freed.
 *
 * Everything that runs between the breakpoint and this handler must never carry a breakpoint
 * itself: the kernel's own list (noinstr, kprobes' blacklist) plus KI_R_TRAP_PATH of reserved.c.
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <asm/text-patching.h>
#include <asm/trapnr.h>

#include "array.h"
#include "ki.h"
#include "yield.h"

/* A change of the table: what was, what is meanwhile, what will be. */
struct ki_trap_change {
	struct ki_traps *before, *during, *after;
};

static struct ki_traps *ki_traps; /* NULL: none */

static const struct ki_trap *find_trap(unsigned long addr)
{
	const struct ki_traps *t = smp_load_acquire(&ki_traps);
	u32 lo = 0, hi = t ? t->n : 0;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (t->v[mid].addr == addr)
			return &t->v[mid];
		if (t->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static atomic64_t ki_late;

u64 ki_trap_late(void)
{
	return atomic64_read(&ki_late);
}

/*
 * An invalid opcode, where none stands any more: the ud2 of a warning has become the first byte of
 * a springboard since it was executed, and the kernel did not find the warning. (It looks twice,
 * the second time with interrupts let in.) Once more, then: what stands there now raises none.
 */
static bool was_rewritten(unsigned long addr)
{
	u8 now = READ_ONCE(*(const u8 *)addr);

	return now == KI_INT3 || now == KI_JMP || now == KI_JMP_SHORT;
}

/*
 * A breakpoint that has gone, met by a CPU that has been told so: no CPU does that, but QEMU's
 * emulated ones do, rarely, at places that others write (text.c says how). Kernels before 6.8 do
 * not ask us: they execute it once more (kprobe_int3_handler).
 */
static bool is_stale(unsigned long addr)
{
	return READ_ONCE(*(const u8 *)addr) != KI_INT3;
}

/* Not memcmp(), which is no reserved text: a kernel may have it called and not inlined. */
static bool stands_there(const u8 *at, const u8 *bytes, size_t len)
{
	while (len && *at == *bytes) {
		at++;
		bytes++;
		len--;
	}
	return !len;
}

/*
 * What stands there now is done here, as far as it is what others write at such places: executed
 * once more, the same stale breakpoint could be met for ever. (A writer of that place has to wait
 * for this CPU, whose interrupts are off.)
 */
static void pass_stale(struct pt_regs *regs, unsigned long addr)
{
	static const u8 nop2[] = {0x66, 0x90}, nop5[] = {BYTES_NOP5};
	const u8 *at = (const u8 *)addr;

	switch (*at) {
	case JMP8_INSN_OPCODE:
		int3_emulate_jmp(regs, addr + JMP8_INSN_SIZE + (s8)at[1]);
		break;
	case JMP32_INSN_OPCODE:
		int3_emulate_jmp(regs, addr + JMP32_INSN_SIZE + *(const s32 *)(at + 1));
		break;
	case CALL_INSN_OPCODE:
		int3_emulate_push(regs, addr + CALL_INSN_SIZE);
		int3_emulate_jmp(regs, addr + CALL_INSN_SIZE + *(const s32 *)(at + 1));
		break;
	case RET_INSN_OPCODE:
		int3_emulate_ret(regs);
		break;
	default:
		regs->ip = addr;
		if (stands_there(at, nop2, sizeof(nop2)))
			regs->ip += sizeof(nop2);
		else if (stands_there(at, nop5, sizeof(nop5)))
			regs->ip += sizeof(nop5);
	}
}

static bool is_trampoline(unsigned long addr)
{
	return addr - (unsigned long)ki_returned < KI_RETURNS;
}

static int ki_trap_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	bool opcode = val == DIE_TRAP && args->trapnr == X86_TRAP_UD;
	const struct ki_trap *t;
	unsigned long addr;

	if ((val != DIE_INT3 && !opcode) || user_mode(args->regs))
		return NOTIFY_DONE;
	addr = args->regs->ip - (opcode ? 0 : 1);
	t = find_trap(addr);
	if (opcode && (!t || !t->late))
		return was_rewritten(addr) ? NOTIFY_STOP : NOTIFY_DONE;
	if (!t && !is_trampoline(addr) && !is_stale(addr))
		return NOTIFY_DONE;
	if (t)
		args->regs->ip = t->via;
	else if (is_trampoline(addr))
		int3_emulate_ret(args->regs);
	else
		pass_stale(args->regs, addr);
	if (t && t->late)
		atomic64_inc(&ki_late);
	return NOTIFY_STOP;
}

static struct notifier_block ki_trap_block = {
	.notifier_call = ki_trap_notify,
	.priority = INT_MAX,
};

static int by_address(const void *a, const void *b)
{
	const struct ki_trap *x = a, *y = b;

	ki_yield(); /* sort() lets no other task run */
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Both in order; where both know an address, `news` counts; what leads nowhere is left out. */
static struct ki_traps *merge(const struct ki_traps *olds, const struct ki_traps *news)
{
	u32 i = 0, k = 0, nold = olds ? olds->n : 0;
	struct ki_traps *t = ki_array(1, struct_size(t, v, nold + news->n), GFP_KERNEL);

	if (!t)
		return NULL;
	t->n = 0;
	while (i < nold || k < news->n) {
		bool old = k == news->n || (i < nold && olds->v[i].addr < news->v[k].addr);

		if (!old && i < nold && olds->v[i].addr == news->v[k].addr)
			i++;
		t->v[t->n] = old ? olds->v[i++] : news->v[k++];
		if (t->v[t->n].via)
			t->n++;
		ki_yield();
	}
	return t;
}

/* They mostly come in order, and sorting thousands takes milliseconds. */
static void put_in_order(struct ki_traps *t)
{
	u32 i = 1;

	while (i < t->n && t->v[i - 1].addr <= t->v[i].addr) {
		i++;
		ki_yield();
	}
	if (i < t->n)
		sort(t->v, t->n, sizeof(t->v[0]), by_address, NULL);
}

/* Both come in any order. */
static int change_new(struct ki_traps *more, struct ki_traps *stay, struct ki_trap_change **out)
{
	struct ki_trap_change *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	put_in_order(more);
	put_in_order(stay);
	c->before = ki_traps;
	c->during = merge(ki_traps, more);
	c->after = merge(ki_traps, stay);
	if (!c->during || !c->after) {
		ki_trap_free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

static struct ki_traps *traps_alloc(u32 n)
{
	struct ki_traps *t = ki_array(1, struct_size(t, v, n), GFP_KERNEL);

	if (t)
		t->n = 0;
	return t;
}

/* A breakpoint stands there for good, before or after. */
static bool stays(const struct ki_swap *s)
{
	return s->len <= 1;
}

static u32 count_stays(const struct ki_swap *v, u32 n)
{
	u32 count = 0;

	while (n--) {
		count += stays(&v[n]);
		ki_yield();
	}
	return count;
}

int ki_trap_prepare(const struct ki_swap *v, u32 n, struct ki_trap_change **out)
{
	struct ki_traps *more = traps_alloc(n), *stay = traps_alloc(count_stays(v, n));
	int err = -ENOMEM;
	u32 i;

	for (i = 0; more && stay && i < n; i++) {
		if (v[i].via)
			more->v[more->n++] = (struct ki_trap){v[i].addr, v[i].via, v[i].late};
		ki_yield();
		if (stays(&v[i]))
			stay->v[stay->n++] =
				(struct ki_trap){v[i].addr, v[i].trap ? v[i].via : 0, v[i].late};
	}
	if (more && stay)
		err = change_new(more, stay, out);
	ki_array_free(more);
	ki_array_free(stay);
	return err;
}

void ki_trap_begin(struct ki_trap_change *c)
{
	smp_store_release(&ki_traps, c->during);
}

void ki_trap_end(struct ki_trap_change *c)
{
	smp_store_release(&ki_traps, c->after->n ? c->after : NULL);
}

void ki_trap_free(struct ki_trap_change *c)
{
	if (c->before != ki_traps)
		ki_array_free(c->before);
	if (c->after != ki_traps)
		ki_array_free(c->after);
	ki_array_free(c->during);
	kfree(c);
}

int ki_trap_init(void)
{
	return register_die_notifier(&ki_trap_block);
}

void ki_trap_exit(void)
{
	unregister_die_notifier(&ki_trap_block);
	ki_array_free(ki_traps);
}
