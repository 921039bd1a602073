// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only writer of kernel text.
 *
 * How up to five bytes are swapped while any CPU may run them. (The rules are those for
 * cross-modifying code of the Intel SDM, volume 3, section 9.1.3, and the kernel's own
 * text_poke_bp.) For a whole batch:
 *
 *   1. publish where each breakpoint sends the CPU (trap.c)
 *   2. int3 on every first byte;	all CPUs serialize	no CPU enters through the first byte
 *	then inside (fill.c);		all CPUs serialize
 *   3. the wait, if any place needs it (quiesce.c)		no task is between two instructions
 *   4. the other bytes;		all CPUs serialize
 *   5. inside, the byte that stays;	all CPUs serialize
 *	the first bytes;		all CPUs serialize
 *   6. retire the table;		all CPUs serialize	no CPU looks at it
 *
 * Bytes that no CPU executes, a bounce's before its jmp rel8 leads there, get no breakpoint and are
 * written whole in step 4. While a bounce is in use, only its target changes, like a springboard's.
 * Where the springboard is an int3, step 5 writes it again. Where one of ours stands for good
 * (returns.c) nothing is written: only where it leads changes.
 *
 * text_poke compares all that it has written, eight bytes a turn of a loop. While a breakpoint
 * stands in that loop, each of some hundred thousand turns is an exception. So what is in that
 * function comes last in step 2, and goes through steps 4 and 5 before all else does.
 *
 * If we die: nothing between 2 and 5 can fail. All memory is there before 1, every byte was
 * compared before 2, and no step can be interrupted by a signal. A panic in between leaves
 * breakpoints whose handler is in place.
 *
 * If another CPU is here: it either runs the old instructions, or the int3 and then the patch. If
 * an interrupt or NMI is here: the same; the breakpoint path itself is never written to. If a
 * preempted task is here: at the first byte, it will meet the int3 or the new jump, both right. At
 * a later byte that changes, it must have left before step 4: that is the wait. So it is for a
 * task in the tail of a host where a bounce will stand. So it is, too, for one that has taken the
 * jmp rel8 to a bounce that goes. Other bytes after a springboard are never written, so a task
 * may stay there for ever.
 *
 * A window whose first instruction is as long as its springboard has no such inner place and needs
 * no wait; neither does taking a direct springboard out; nor a springboard that traps at its inner
 * places (fill.c). These places are bytes of the jump's distance: while one of them holds its int3
 * the first byte must be no jump, or it leads somewhere else. So they are written after the first
 * bytes when these become breakpoints, and before them at the end. They are never written in one
 * go with them, since nothing says in which order bytes of one go are seen.
 *
 * kprobes keep what stood at their place when they were registered, and write it back or run it
 * later. So no kprobe, armed or not, may be where we write, nor so near before it that its own
 * jump would reach us; they are held from that check until the change is recorded (probes.c). CPUs
 * do not come or go while bytes are written: one that is just starting would miss a round.
 *
 * Writing costs three microseconds however many bytes it is, for the alias mapping that is made and
 * unmade; and there may be thousands of places in a few functions. So neighbouring places are
 * written in one go, with what stands between them as it stands. That is no change: a CPU that
 * executes these bytes meanwhile sees the same before and after, and every writer of text
 * holds text_mutex. The patches in the heap are written so too, at the latest before anything leads
 * to them.
 *
 * QEMU's emulated CPUs translate what they execute, and a write first drops what was translated and
 * then writes. A CPU that translates the same place meanwhile keeps the old byte, for all of them
 * and for ever. Before 6.8 the kernel's own handler sends one that has met a breakpoint there to it
 * again and again; if interrupts are off there, it never answers. So there the other CPUs are held
 * while first bytes are written, and no CPU translates anything.
 *
 * text_mutex is held while bytes are written, not over the wait: static branches elsewhere can
 * be switched meanwhile. They cannot be in our windows (reserved.c).
 */
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include <asm/sync_core.h>

#include "array.h"
#include "ki.h"
#include "symbols.h"
#include "yield.h"

#define KI_STAGE_MAX   4096	/* bytes that are written in one go */
#define KI_STAGE_GAP   1024	/* between two places that are */
#define KI_ROUND       256	/* places written, at most, between two chances for others to run */
#define KI_ROUND_HELD  1024	/* the same while QEMU's CPUs are held */
#define KI_GOES_HELD   48	/* in so many goes; one go, if no CPU is held */
#define KI_HELD_CYCLES 40000000 /* 10 to 40 ms on QEMU */
#define KI_PROBE_REACH 4	/* bytes before a place: a kprobe there may become a jump into it */

static struct mutex *text_lock(void)
{
	static struct mutex *m;

	if (!m)
		m = (struct mutex *)ki_symbol("text_mutex");
	return m;
}

static bool probed(unsigned long start, unsigned long end)
{
	bool found = false;

	preempt_disable();
	for (; start < end && !found; start++)
		found = ki_call(get_kprobe)((void *)start);
	preempt_enable();
	return found;
}

bool ki_text_probed(unsigned long start, unsigned long end)
{
	return probed(start - KI_PROBE_REACH, end);
}

bool ki_text_probed_at(unsigned long addr)
{
	return probed(addr, addr + 1);
}

bool ki_text_has_lock_prefix(unsigned long start, unsigned long end)
{
	bool found;

	mutex_lock(text_lock());
	found = ki_call(alternatives_text_reserved)((void *)start, (void *)(end - 1));
	mutex_unlock(text_lock());
	return found;
}

static void sync_this_core(void *unused)
{
	sync_core();
}

static void sync_all_cores(void)
{
	on_each_cpu(sync_this_core, NULL, 1);
}

/*
 * Bytes to be written, under text_mutex. Of the kernel's text none are left here when text_mutex is
 * given back; of the heap some may be.
 */
static struct {
	unsigned long start;
	u32 len;
	u8 bytes[KI_STAGE_MAX];
} ki_stage;

static void flush_stage(void)
{
	if (!ki_stage.len)
		return;
	ki_call(text_poke)((void *)ki_stage.start, ki_stage.bytes, ki_stage.len);
	ki_stage.len = 0;
}

/* Can [addr, addr + len) be written together with what is there? (A part of a page, or of two.) */
static bool fits_stage(unsigned long addr, size_t len)
{
	return ki_stage.len && addr >= ki_stage.start &&
	       addr <= ki_stage.start + ki_stage.len + KI_STAGE_GAP &&
	       addr + len <= ki_stage.start + KI_STAGE_MAX;
}

static void poke(unsigned long addr, const void *bytes, size_t len)
{
	unsigned long end;

	if (!fits_stage(addr, len)) {
		flush_stage();
		ki_stage.start = addr;
	}
	end = ki_stage.start + ki_stage.len;
	if (addr + len > end) {
		if (addr > end)
			memcpy(ki_stage.bytes + ki_stage.len, (void *)end, addr - end);
		ki_stage.len = addr + len - ki_stage.start;
	}
	memcpy(ki_stage.bytes + (addr - ki_stage.start), bytes, len);
}

static void finish_pokes(void)
{
	flush_stage();
	ki_step("bytes written");
	ki_step("before the CPUs serialize");
	sync_all_cores();
}

static int check_all(const struct ki_swap *v, u32 n, u32 *bad)
{
	u32 i;

	for (i = 0; i < n; i++) {
		unsigned long start = v[i].addr - (v[i].fresh ? KI_PROBE_REACH : 0);

		if (memcmp((void *)v[i].addr, v[i].now, v[i].len) ||
		    probed(start, v[i].addr + v[i].len)) {
			*bad = i;
			return -ESTALE;
		}
		ki_yield();
	}
	return 0;
}

/* Step 4: all but the first bytes, and the first where no CPU comes by. */
static void poke_tails(const struct ki_swap *v, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u32 from = v[i].via ? 1 : 0;

		if (from < v[i].len)
			poke(v[i].addr + from, v[i].then + from, v[i].len - from);
		ki_yield();
	}
	finish_pokes();
}

/* Are these CPUs QEMU's? Is there more than one? */
bool ki_text_is_emulated(void)
{
	static enum { UNKNOWN, NO, YES } emulated;
	u32 eax, name[3] = {};

	if (emulated == UNKNOWN) {
		if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
			cpuid(0x40000000, &eax, &name[0], &name[1], &name[2]);
		emulated = memcmp(name, "TCGTCGTCGTCG", sizeof(name)) ? NO : YES;
	}
	return emulated == YES && num_online_cpus() > 1;
}

/* A CPU may come by, and there is something to be written. */
static bool is_entered(const struct ki_swap *s)
{
	return s->via && s->len;
}

static bool any_entered(const struct ki_swap *v, u32 n, bool inside)
{
	while (n--) {
		if (is_entered(&v[n]) && v[n].late == inside)
			return true;
		ki_yield();
	}
	return false;
}

static void write_entries(const struct ki_swap *v, u32 n, bool inside, bool breakpoint)
{
	static const u8 int3 = KI_INT3;
	u32 i;

	for (i = 0; i < n; i++)
		if (is_entered(&v[i]) && v[i].late == inside)
			poke(v[i].addr, breakpoint ? &int3 : v[i].then, 1);
	flush_stage();
}

/*
 * The other CPUs of QEMU, held in an interrupt while first bytes are written. One of them may have
 * the lock that another spins for with interrupts off, or an interrupt here: so none is held for
 * longer than KI_HELD_CYCLES until all have come. Then all go on, and are asked again. While held
 * they execute this module alone, where nothing is written.
 */
static struct {
	enum { COMING, WRITING, GO_ON } state;
	atomic_t here, gone;
} ki_held;

static void be_held(void *unused)
{
	u64 end = rdtsc() + KI_HELD_CYCLES;

	atomic_inc(&ki_held.here);
	while (READ_ONCE(ki_held.state) != GO_ON) {
		if (rdtsc() >= end)
			cmpxchg(&ki_held.state, COMING, GO_ON);
		cpu_relax();
	}
	sync_core();
	atomic_inc(&ki_held.gone);
}

/* No interrupts between all being here and all being written. */
static bool write_while_held(const struct ki_swap *v, u32 n, bool inside, bool breakpoint)
{
	int others = num_online_cpus() - 1;
	unsigned long flags;
	bool all;

	while (atomic_read(&ki_held.here) < others && READ_ONCE(ki_held.state) == COMING)
		cpu_relax();
	local_irq_save(flags);
	all = atomic_read(&ki_held.here) == others &&
	      cmpxchg(&ki_held.state, COMING, WRITING) == COMING;
	if (all)
		write_entries(v, n, inside, breakpoint);
	smp_store_release(&ki_held.state, GO_ON);
	local_irq_restore(flags);
	while (atomic_read(&ki_held.gone) < others)
		cpu_relax();
	return all;
}

static void write_emulated(const struct ki_swap *v, u32 n, bool inside, bool breakpoint)
{
	bool written;

	flush_stage(); /* the heap's: for that no CPU need be held */
	do {
		preempt_disable();
		atomic_set(&ki_held.here, 0);
		atomic_set(&ki_held.gone, 0);
		smp_store_release(&ki_held.state, COMING);
		smp_call_function(be_held, NULL, 0);
		written = write_while_held(v, n, inside, breakpoint);
		preempt_enable();
		ki_yield();
	} while (!written);
}

/* How many of these places, in their order, are written in that many goes: one at least. */
static u32 places_in(const struct ki_swap *v, u32 n, u32 goes)
{
	unsigned long start = 0, end = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		unsigned long a = v[i].addr;

		if (!end || a < start || a > end + KI_STAGE_GAP || a >= start + KI_STAGE_MAX) {
			if (!goes--)
				break;
			start = a;
		}
		end = a + 1;
	}
	return i;
}

/*
 * The first byte of every place that is entered: a breakpoint, or what will stand there. The places
 * inside of springboards have a round of their own: they are a part of the jump's distance.
 */
static void poke_entries(const struct ki_swap *v, u32 n, bool inside, bool breakpoint)
{
	bool emulated = ki_text_is_emulated();
	u32 i, some;

	for (i = 0; i < n; i += some) {
		some = emulated ? places_in(v + i, min_t(u32, n - i, KI_ROUND_HELD), KI_GOES_HELD)
				: places_in(v + i, min_t(u32, n - i, KI_ROUND), 1);
		if (!emulated)
			write_entries(v + i, some, inside, breakpoint);
		else if (any_entered(v + i, some, inside))
			write_emulated(v + i, some, inside, breakpoint);
		ki_step("bytes written");
		ki_yield();
	}
	ki_step("before the CPUs serialize");
	if (any_entered(v, n, inside))
		sync_all_cores();
}

static bool any_waits(const struct ki_swap *v, u32 n)
{
	bool wait = false;

	while (n--) {
		wait |= v[n].wait;
		ki_yield();
	}
	return wait;
}

static void wait_unlocked(void)
{
#ifndef KI_TEST_NO_WAIT
	mutex_unlock(text_lock());
	cpus_read_unlock();
	ki_step("before the wait");
	ki_quiesce();
	ki_step("behind the wait");
	cpus_read_lock();
	mutex_lock(text_lock());
#endif
}

static void begin_swaps(const struct ki_swap *v, u32 n)
{
	poke_entries(v, n, false, true);
	poke_entries(v, n, true, true);
}

static void finish_swaps(const struct ki_swap *v, u32 n)
{
	ki_step("breakpoints in");
	poke_tails(v, n);
	ki_step("tails in");
	poke_entries(v, n, true, false);
	ki_step("inner places in");
	poke_entries(v, n, false, false);
	ki_step("first bytes in");
}

static void write_all(const struct ki_swap *v, u32 n, struct ki_trap_change *traps)
{
	u32 some = n;

	while (some && v[some - 1].writes)
		some--;
	ki_trap_begin(traps);
	ki_step("traps begin");
	begin_swaps(v, some);
	begin_swaps(v + some, n - some);
	if (any_waits(v, n))
		wait_unlocked();
	if (some < n)
		finish_swaps(v + some, n - some);
	finish_swaps(v, some);
	ki_trap_end(traps);
	ki_step("traps end");
	sync_all_cores();
	ki_step("text written");
}

int ki_text_swap(struct ki_swap *v, u32 n, u32 *bad)
{
	struct ki_trap_change *traps;
	int err;

	if (!n)
		return 0;
	err = ki_trap_prepare(v, n, &traps);
	if (err)
		return err;
	ki_step("traps prepared");
	cpus_read_lock();
	mutex_lock(text_lock());
	ki_step("text held");
	flush_stage(); /* the patches */
	err = check_all(v, n, bad);
	if (!err)
		write_all(v, n, traps);
	mutex_unlock(text_lock());
	cpus_read_unlock();
	ki_trap_free(traps);
	return err;
}

void ki_text_write_heap(unsigned long addr, const void *bytes, size_t len)
{
	mutex_lock(text_lock());
	while (len) {
		size_t part = min_t(size_t, len, KI_STAGE_MAX);

		poke(addr, bytes, part);
		addr += part;
		bytes += part;
		len -= part;
	}
	mutex_unlock(text_lock());
}

void ki_text_fill_heap(unsigned long addr, size_t len)
{
	static const u8 int3s[256] = {[0 ... 255] = KI_INT3};

	mutex_lock(text_lock());
	while (len) {
		size_t part = min(len, sizeof(int3s));

		poke(addr, int3s, part);
		addr += part;
		len -= part;
		ki_yield();
	}
	mutex_unlock(text_lock());
}

void ki_text_flush_heap(void)
{
	mutex_lock(text_lock());
	flush_stage();
	mutex_unlock(text_lock());
}
