// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions whose argument decides something, with all that the kernel knows by its address.
 *
 * ki_special_all	a static branch with a key of the kernel's (a tracepoint's), a static call,
 *			a WARN, memory that may fault
 * ki_special_own	a static branch with a key of this module's, and a static call
 * ki_special_signed	of an int: what a caller leaves in the register's upper half is anything
 *
 *	cat /proc/ki_special	what they give: a line for each mode from 0 to 5, of memory that is
 *				there, of memory that is not, of the second; then of the third
 *	echo warn 1 > ...	a WARN, with mode 3
 *	echo key 1 > ...	this module's static branch is taken
 *	echo op 1 > ...		this module's static call goes elsewhere
 *	echo run N > ...	N times -2 of 32 bits, with something else above them
 *	echo work N > ...	N calls of ki_special_work(0), by ki_special_caller
 */
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/static_call.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <trace/events/kmem.h>

#define ALONE __attribute__((noipa))
#define SITE  0x5ec1a1 /* the tracepoint's call site, by which the test knows it */

static DEFINE_STATIC_KEY_FALSE(ki_special_key);
static char *page;

static noinline long ki_special_op_0(long x)
{
	return x + 1;
}

static noinline long ki_special_op_1(long x)
{
	return x * 7;
}
DEFINE_STATIC_CALL(ki_special_op, ki_special_op_0);

long ki_special_all(int mode, const int *from, int x);
long ki_special_own(int mode, long x);
long ki_special_signed(int n, long x);
long ki_special_run(long x);
long ki_special_work(int mode, long x);
long ki_special_caller(int mode, long x);

ALONE long ki_special_all(int mode, const int *from, int x)
{
	long r = x;
	int v;

	trace_kfree(SITE, (void *)(long)mode);
	if (mode == 3)
		r = r * 5 + 1;
	else
		r = r * mode - (r >> 1);
	if (WARN_ON(x == 77))
		r += 1000;
	might_resched();
	__get_kernel_nofault(&v, from, int, fault);
	return mode > 2 ? r + v : r - v;
fault:
	return mode == 3 ? r - 300 : r - 400;
}

ALONE long ki_special_own(int mode, long x)
{
	long r = mode == 3 ? x + 30 : x * mode;

	if (static_branch_unlikely(&ki_special_key))
		r ^= 0x55;
	r = static_call(ki_special_op)(r);
	return mode == 3 ? r - 1 : r + mode;
}

ALONE long ki_special_signed(int n, long x)
{
	long i, r = x;

	if (n < 0) {
		for (i = n; i < 0; i++)
			r = r * 3 + i;
		return r;
	}
	for (i = 0; i < n; i++)
		r += i * x;
	return r;
}

/* The upper half of the register is not what a sign would make it. */
ALONE long ki_special_run(long x)
{
	long (*run)(long n, long x) = (void *)ki_special_signed;

	return run(0x7700000000 | (u32)-2, x);
}

/* No compiler makes an instruction without a branch of it. */
#define change(x, value)                                                                           \
	do {                                                                                       \
		x = value;                                                                         \
		asm volatile("" : "+r"(x));                                                        \
	} while (0)

/* Each bit is asked for in each round: of mode 0 nothing is left of that. */
ALONE long ki_special_work(int mode, long x)
{
	long i;

	for (i = 0; i < 100; i++) {
		if (mode & 1)
			change(x, x + i);
		if (mode & 2)
			change(x, x * 3);
		if (mode & 4)
			change(x, x ^ i);
		if (mode & 8)
			change(x, x - 5);
	}
	return x;
}

ALONE long ki_special_caller(int mode, long x)
{
	return ki_special_work(mode, x) + 1;
}

static int show(struct seq_file *m, void *unused)
{
	int i, x = 11;

	for (i = 0; i < 6; i++)
		seq_printf(m, "%d: %ld %ld %ld\n", i, ki_special_all(i, (int *)page, x),
			   ki_special_all(i, (int *)(page + PAGE_SIZE), x), ki_special_own(i, x));
	for (i = -3; i < 4; i++)
		seq_printf(m, "%d: %ld\n", i, ki_special_signed(i, x));
	seq_printf(m, "run: %ld\n", ki_special_run(x));
	for (i = 0; i < 16; i += 5)
		seq_printf(m, "work: %ld\n", ki_special_caller(i, x));
	return 0;
}

static ssize_t command(struct file *file, const char __user *text, size_t len, loff_t *pos)
{
	char word[32], what[16];
	unsigned long n;

	if (len >= sizeof(word) || copy_from_user(word, text, len))
		return -EINVAL;
	word[len] = 0;
	if (sscanf(word, "%15s %lu", what, &n) != 2)
		return -EINVAL;
	if (!strcmp(what, "warn"))
		ki_special_all(3, (int *)page, 77);
	else if (!strcmp(what, "op"))
		static_call_update(ki_special_op, n ? ki_special_op_1 : ki_special_op_0);
	else if (!strcmp(what, "key") && n)
		static_branch_enable(&ki_special_key);
	else if (!strcmp(what, "key"))
		static_branch_disable(&ki_special_key);
	else if (!strcmp(what, "run"))
		while (n--)
			ki_special_run(n);
	else if (!strcmp(what, "work"))
		while (n--)
			ki_special_caller(0, n);
	else
		return -EINVAL;
	return len;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

static const struct proc_ops ops = {.proc_open = open,
				    .proc_read = seq_read,
				    .proc_write = command,
				    .proc_release = single_release};

static int __init start(void)
{
	page = vmalloc(PAGE_SIZE); /* after it is nothing */
	if (!page)
		return -ENOMEM;
	memset(page, 4, PAGE_SIZE);
	return proc_create("ki_special", 0666, NULL, &ops) ? 0 : -ENOMEM;
}

static void __exit stop(void)
{
	remove_proc_entry("ki_special", NULL);
	vfree(page);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("kerninst test: functions to be specialized");
MODULE_LICENSE("GPL");
