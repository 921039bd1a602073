// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_bench: what the kernel itself offers to modules, each with the cheapest counting handler
 * there is, one per-CPU increment, so that what is measured is the mechanism.
 *
 * /proc/ki_bench: write the name of a probe to arm it (only one at a time), "off" to disarm.
 * Read: "armed NAME", "hits N" (since it was armed), "site BYTES" (the text where it stands).
 *
 *	ftrace		a function tracer's callback, filtered to the one function
 *	kprobe		a kprobe after the function's ftrace site: int3, or a jump if
 *			debug.kprobes-optimization is 1 and the optimizer has been there
 *	kprobe-ftrace	a kprobe on the ftrace site: served by ftrace
 *	kretprobe	a return probe, no entry handler
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#define SITE_BYTES 5

static char *symbol = "vfs_read";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the function");

/* After the ftrace site, and on kernels with IBT after the endbr64 before it. */
static unsigned int body = IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 9 : 5;
module_param(body, uint, 0444);
MODULE_PARM_DESC(body, "offset in it where the kprobe goes");

struct peer {
	const char *name;
	int (*arm)(void);
	void (*disarm)(void);
};

static DEFINE_PER_CPU(u64, hits);
static DEFINE_MUTEX(lock);
static const struct peer *armed;
static void *site;

static void notrace on_ftrace(unsigned long ip, unsigned long parent, struct ftrace_ops *op,
			      struct ftrace_regs *fregs)
{
	this_cpu_inc(hits);
}

static struct ftrace_ops ops = {.func = on_ftrace};

static int ftrace_arm(void)
{
	int err = ftrace_set_filter(&ops, (unsigned char *)symbol, strlen(symbol), 1);

	return err ? err : register_ftrace_function(&ops);
}

static void ftrace_disarm(void)
{
	unregister_ftrace_function(&ops);
}

static int on_kprobe(struct kprobe *p, struct pt_regs *regs)
{
	this_cpu_inc(hits);
	return 0;
}

static struct kprobe probe;

static int kprobe_arm_at(unsigned int offset)
{
	int err;

	probe = (struct kprobe){
		.symbol_name = symbol,
		.offset = offset,
		.pre_handler = on_kprobe,
	};
	err = register_kprobe(&probe);
	site = err ? NULL : probe.addr;
	return err;
}

static int kprobe_arm(void)
{
	return kprobe_arm_at(body);
}

static int kprobe_ftrace_arm(void)
{
	int err = kprobe_arm_at(0);

	if (!err && !(probe.flags & KPROBE_FLAG_FTRACE)) {
		unregister_kprobe(&probe);
		err = -EOPNOTSUPP;
	}
	return err;
}

static void kprobe_disarm(void)
{
	unregister_kprobe(&probe);
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(hits);
	return 0;
}

static struct kretprobe return_probe;

static int kretprobe_arm(void)
{
	return_probe = (struct kretprobe){
		.kp.symbol_name = symbol,
		.handler = on_return,
		.maxactive = 64,
	};
	return register_kretprobe(&return_probe);
}

static void kretprobe_disarm(void)
{
	unregister_kretprobe(&return_probe);
}

static const struct peer peers[] = {
	{"ftrace", ftrace_arm, ftrace_disarm},
	{"kprobe", kprobe_arm, kprobe_disarm},
	{"kprobe-ftrace", kprobe_ftrace_arm, kprobe_disarm},
	{"kretprobe", kretprobe_arm, kretprobe_disarm},
};

static const struct peer *peer_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(peers); i++)
		if (sysfs_streq(name, peers[i].name))
			return &peers[i];
	return NULL;
}

static void disarm(void)
{
	if (armed)
		armed->disarm();
	armed = NULL;
	site = NULL;
}

static int arm(const struct peer *peer)
{
	int cpu, err;

	disarm();
	for_each_possible_cpu (cpu)
		per_cpu(hits, cpu) = 0;
	err = peer->arm();
	if (!err)
		armed = peer;
	return err;
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char name[32] = "";
	const struct peer *peer;
	int err = 0;

	if (len >= sizeof(name) || copy_from_user(name, buf, len))
		return -EINVAL;
	peer = peer_named(name);
	mutex_lock(&lock);
	if (peer)
		err = arm(peer);
	else if (sysfs_streq(name, "off"))
		disarm();
	else
		err = -EINVAL;
	mutex_unlock(&lock);
	return err ? err : len;
}

static int control_show(struct seq_file *m, void *unused)
{
	u64 sum = 0;
	int cpu;

	mutex_lock(&lock);
	for_each_possible_cpu (cpu)
		sum += per_cpu(hits, cpu);
	seq_printf(m, "armed %s\nhits %llu\n", armed ? armed->name : "off", sum);
	if (site)
		seq_printf(m, "site %*ph\n", SITE_BYTES, site);
	mutex_unlock(&lock);
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, NULL);
}

static const struct proc_ops control_ops = {
	.proc_open = control_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = control_write,
};

static int __init bench_init(void)
{
	return proc_create("ki_bench", 0600, NULL, &control_ops) ? 0 : -ENOMEM;
}

static void __exit bench_exit(void)
{
	remove_proc_entry("ki_bench", NULL);
	disarm();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("kerninst benchmark: the kernel's own probes");
MODULE_LICENSE("GPL");
