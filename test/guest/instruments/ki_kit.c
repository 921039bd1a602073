// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruments for their test, and a function to which they are attached: it is called so often, and
 * in that context, as is written to /sys/module/ki_kit/parameters/go: "task 100", "irq 100", "nmi
 * 100". KI_INSTRUMENT_VERSION may be another one.
 */
#include <kerninst/instrument.h>

#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <asm/apic.h>
#include <asm/nmi.h>

/* ---- the function ---- */

long ki_kit_target(long a, long b);
noinline long ki_kit_target(long a, long b)
{
	barrier();
	return a + 2 * b;
}

static long calls, wrong;
static atomic_t in_nmi_still;

static void call_once(void)
{
	long i = calls++;

	wrong += ki_kit_target(i, 7) != i + 14;
}

static void on_irq_work(struct irq_work *w)
{
	call_once();
}

static int on_nmi(unsigned int cmd, struct pt_regs *regs)
{
	if (!atomic_xchg(&in_nmi_still, 0))
		return NMI_DONE;
	call_once();
	return NMI_HANDLED;
}

static int in_irq_work(unsigned int n)
{
	static struct irq_work work;

	init_irq_work(&work, on_irq_work);
	for (; n; n--) {
		irq_work_queue(&work);
		irq_work_sync(&work);
	}
	return 0;
}

static int in_nmis(unsigned int n)
{
	int err = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "ki_kit");

	for (; n && !err; n--) {
		atomic_set(&in_nmi_still, 1);
		preempt_disable();
		apic->send_IPI(smp_processor_id(), NMI_VECTOR);
		preempt_enable();
		while (atomic_read(&in_nmi_still))
			cpu_relax();
	}
	if (!err)
		unregister_nmi_handler(NMI_LOCAL, "ki_kit");
	return err;
}

static int go(const char *text, const struct kernel_param *kp)
{
	unsigned int n;

	calls = wrong = 0;
	if (sscanf(text, "irq %u", &n) == 1)
		return in_irq_work(n);
	if (sscanf(text, "nmi %u", &n) == 1)
		return in_nmis(n);
	if (sscanf(text, "task %u", &n) != 1)
		return -EINVAL;
	for (; n; n--)
		call_once();
	return 0;
}

static int gone(char *to, const struct kernel_param *kp)
{
	return scnprintf(to, PAGE_SIZE, "%ld %ld\n", calls, wrong);
}

static const struct kernel_param_ops go_ops = {.set = go, .get = gone};
module_param_cb(go, &go_ops, NULL, 0600);

/* ---- instruments ---- */

KI_COUNTER(hits, "calls of the instruments");
KI_COUNTER(disorder, "times that they did not come in their order");

KI_INSTRUMENT(kit_add, "a + 2b", (long a, long b))
{
	ki_count(hits, 1);
	return a + 2 * b;
}

KI_INSTRUMENT(kit_six, "each argument in its place", (s8 a, u16 b, int c, long d, u64 e, void *f))
{
	return a == -1 && b == 0xfffe && c == -3 && d == -4 && e == 5 && f == (void *)6;
}

KI_RECORDS(kit_write, "i32 sum,u32 id,where/hex");
KI_INSTRUMENT(kit_write, "writes what it got, and its id", (ki_id_t id, long a, long b))
{
	ki_count(hits, 1);
	return ki_record((u64)(a - b), id, 0xabcd);
}

KI_RECORDS(kit_uneven, "a,b");
KI_INSTRUMENT(kit_uneven, "each second time a value more than it says", (long a))
{
	return a & 1 ? ki_record(a, a, a) : ki_record(a, a);
}

KI_RECORDS(kit_here, "address/hex,u32 offset,u8 where,u16 order,u16 point");
KI_INSTRUMENT(kit_here, "writes from where it is called", (struct ki_here here, long a))
{
	ki_record(here.address, here.offset, here.where, here.order, here.point);
	return a;
}

KI_INSTRUMENT(kit_all, "true if all comes where it belongs",
	      (ki_id_t id, struct ki_here here, long a, int b, u64 c))
{
	return !id && here.address - here.offset == (unsigned long)ki_kit_target && a == -1 &&
	       b == -2 && c == 3;
}

KI_RECORDS(kit_other, "nothing");
KI_INSTRUMENT(kit_other, "writes another record", (void))
{
	return ki_record(0);
}

KI_INSTRUMENT(kit_context, "0 in a task, 1 in an interrupt, 2 in an NMI", (void))
{
	return in_nmi() ? 2 : in_hardirq() ? 1 : 0;
}

KI_INSTRUMENT(kit_recurse, "calls what it is attached to", (long a))
{
	ki_count(hits, 1);
	return ki_kit_target(a, 1);
}

static long seen = -1;

KI_INSTRUMENT(kit_first, "comes before kit_second", (long a))
{
	seen = a;
	return 1;
}

KI_INSTRUMENT(kit_second, "comes behind kit_first", (long a))
{
	if (seen != a)
		ki_count(disorder, 1);
	return 2;
}

KI_INSTRUMENT(kit_sleep, "sleeps, which it may not", (void))
{
	return schedule_timeout_uninterruptible(1);
}

/* Addresses that must not be called: of what has gone after the initialisation, and of data. */
static unsigned long init_text, data;

static int kit_places(char *to, size_t size)
{
	return scnprintf(to, size, "%lx %lx\n", init_text, data);
}
KI_SHOW(places, "where there is no function", kit_places);

static int __init ki_kit_init(void)
{
	init_text = (unsigned long)ki_kit_init;
	data = (unsigned long)&data;
	return ki_instrument_init();
}
module_init(ki_kit_init);
module_exit(ki_instrument_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: instruments for a test");
