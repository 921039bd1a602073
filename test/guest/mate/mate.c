// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module whose functions nobody else calls, so that every count is known, with all that the
 * kernel rewrites in running text: an ftrace site, a static branch, a static call.
 *
 *	echo call N > /proc/ki_mate	N calls of each function below
 *	echo key 1 > /proc/ki_mate	the static branch is taken
 *	echo op 1 > /proc/ki_mate	the static call goes elsewhere
 *	echo pad N > /proc/ki_mate	N words are read that end after the last page there is: the
 *					fault is mended with zeros, or the sum is wrong
 *	echo fault N > /proc/ki_mate	N words are read; each third faults, and goes on after it
 *	echo ghost N > /proc/ki_mate	N times a breakpoint is met that has gone when the driver is
 *					asked of it (if this module was there before the driver)
 *	echo hold PID > /proc/ki_mate	that process's memory is locked ...
 *	echo go 0 > /proc/ki_mate	... until this
 *	ioctl(fd, N, POINTER)		a word is read there, as late as it comes; 0 if all of its
 *					bytes are 'u'
 *	cat /proc/ki_mate		how many calls the last command made, and what they
 *					have returned, added up
 */
#include <linux/jump_label.h>
#include <linux/kdebug.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/objtool.h>
#include <linux/proc_fs.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <asm/asm.h>
#include <asm/word-at-a-time.h>

static u64 ki_mate_calls, ki_mate_sum;
static DEFINE_STATIC_KEY_FALSE(ki_mate_key);

static noinline u64 ki_mate_op_0(u64 x)
{
	return x + 1;
}

static noinline u64 ki_mate_op_1(u64 x)
{
	return x * 7;
}
DEFINE_STATIC_CALL(ki_mate_op, ki_mate_op_0);

noinline u64 ki_mate_work(u64 i);
noinline u64 ki_mate_work(u64 i)
{
	u64 r = i, k;

	if (i & 1)
		r += 3;
	if (static_branch_unlikely(&ki_mate_key))
		r ^= 0x55;
	r = static_call(ki_mate_op)(r);
	for (k = 0; k < i % 5; k++)
		r = r * 31 + ki_mate_op_0(k);
	return r;
}

/*
 * A branch into what an optimized kprobe would cover. The first window is cmp and je, five bytes,
 * so a springboard there hides the branch; the five bytes from add on look like a place for another
 * jump, but the branch leads into their middle.
 *
 *	if (n != 3)
 *		n *= 2;
 *	return (n + 1) * 3;
 */
noinline int ki_mate_leap(int n);
noinline int ki_mate_leap(int n)
{
	asm volatile("cmpl $3, %k0\n\t"
		     "je 1f\n\t"
		     "addl %k0, %k0\n"
		     "1: leal 1(%q0), %k0\n\t"
		     "imull $3, %k0, %k0"
		     : "+D"(n)
		     :
		     : "cc");
	return n;
}

/*
 * A loop that is one window: a branch to its own beginning.
 *
 *	while (--n)
 *		;
 */
noinline int ki_mate_spin(int n);
noinline int ki_mate_spin(int n)
{
	asm volatile("1: subl $1, %k0\n\t"
		     "jnz 1b"
		     : "+D"(n)
		     :
		     : "cc");
	return n;
}

/*
 * Their addresses are taken, so that both begin alike on all kernels of a kind: where the kernel
 * uses endbr, it makes a nop of one that nobody can jump to, and a nop is the first window.
 */
static int (*const ki_mate_taken[])(int) __used = {ki_mate_leap, ki_mate_spin};

static void do_calls(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		ki_mate_sum += ki_mate_work(i);
		ki_mate_sum += ki_mate_leap(i % 6);
		ki_mate_sum += ki_mate_spin(3);
	}
	ki_mate_calls += n;
}

noinline unsigned long ki_mate_pad(const void *p);
noinline unsigned long ki_mate_pad(const void *p)
{
	return load_unaligned_zeropad(p);
}

/* Three bytes are there: 1, 2, 3. */
static void pad(unsigned long n)
{
	u8 *page = vmalloc(PAGE_SIZE), *end = page + PAGE_SIZE - 3; /* nothing is mapped after */

	if (!page)
		return;
	memcpy(end, "\1\2\3", 3);
	for (; n; n--)
		ki_mate_sum += ki_mate_pad(end);
	vfree(page);
}

/* The fixup is where it goes on anyhow. */
noinline u64 ki_mate_fault(const u64 *p);
noinline u64 ki_mate_fault(const u64 *p)
{
	u64 v = 5;

	asm volatile("1: mov (%1), %0\n2:\n" _ASM_EXTABLE(1b, 2b) : "+r"(v) : "r"(p));
	return v * 3;
}

static void fault(unsigned long n)
{
	u8 *page = vmalloc(PAGE_SIZE);
	u64 *there = (void *)page, *nowhere = (void *)(page + PAGE_SIZE);

	if (!page)
		return;
	*there = 7;
	for (; n; n--)
		ki_mate_sum += ki_mate_fault(n % 3 ? there : nowhere);
	vfree(page);
}

noinline u64 ki_mate_behind(u64 v);
noinline u64 ki_mate_behind(u64 v)
{
	return v + 1;
}

/* Ends in a jump to the other. */
noinline u64 ki_mate_late(const u64 __user *p);
noinline u64 ki_mate_late(const u64 __user *p)
{
	u64 v = 0;

	stac();
	asm volatile("1: mov (%1), %0\n2:\n" _ASM_EXTABLE_UA(1b, 2b) : "+r"(v) : "r"(p));
	clac();
	return ki_mate_behind(v);
}

static long mate_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return ki_mate_late((const u64 __user *)arg) == 0x7575757575757576 ? 0 : -EIO;
}

/*
 * ki_mate_ghost(v):
 *	r = v;
 *	five bytes		here a breakpoint is met, which goes
 *	return r + 5;		four bytes, where jumps pass by
 */
extern u8 ki_mate_ghost_at[];
u64 ki_mate_ghost(u64 v);
asm(".text\n"
    ".balign 32\n" /* all of it in one page */
    ".type ki_mate_ghost, @function\n"
    "ki_mate_ghost:\n" ASM_ENDBR "mov %rdi, %rax\n"
    "ki_mate_ghost_at:\n" ANNOTATE_NOENDBR "int3; nop; nop; nop; nop\n\t"
    "add $5, %rax\n\t" ASM_RET ".size ki_mate_ghost, . - ki_mate_ghost\n");

#define GHOST_INT3 0xcc
#define GHOST_SIZE 5

/* What stands there afterwards, as others patch their code; and what the function then adds. */
static const struct {
	u8 code[GHOST_SIZE];
	u64 adds;
} ghosts[] = {
	{{0x90, 0x90, 0x90, 0x90, 0x90}, 5}, /* none of those that are known */
	{{0x66, 0x90, 0x90, 0x90, 0x90}, 5},
	{{0x0f, 0x1f, 0x44, 0x00, 0x00}, 5},
	{{0xe9, 0x04, 0x00, 0x00, 0x00}, 0},
	{{0xeb, 0x07, 0x90, 0x90, 0x90}, 0},
	{{0xe8}, 6}, /* a call of ki_mate_op_0 */
	{{0xc3}, 0},
};

static u8 *ghost_at; /* its bytes, where they can be written */
static u8 ghost_now; /* what its first byte will be */

/* What another CPU does, as late as can be: the breakpoint has been met, and goes. */
static int on_die(struct notifier_block *nb, unsigned long val, void *data)
{
	const struct die_args *args = data;
	unsigned long at = (unsigned long)ki_mate_ghost_at;

	OPTIMIZER_HIDE_VAR(at); /* objtool wants no other address in there than that */
	if (val == DIE_INT3 && args->regs->ip == at + 1)
		WRITE_ONCE(*ghost_at, ghost_now);
	return NOTIFY_DONE;
}

static struct notifier_block ghost_block = {.notifier_call = on_die, .priority = INT_MAX};

/* The sum is of those that came where they should. */
static void one_ghost(unsigned long kind, u64 v)
{
	s32 call = (long)ki_mate_op_0 - ((long)ki_mate_ghost_at + GHOST_SIZE);

	memcpy(ghost_at + 1, ghosts[kind].code + 1, GHOST_SIZE - 1);
	if (ghosts[kind].code[0] == 0xe8)
		memcpy(ghost_at + 1, &call, sizeof(call));
	ghost_now = ghosts[kind].code[0];
	ki_mate_sum += ki_mate_ghost(v) == v + ghosts[kind].adds;
	ki_mate_calls += *ghost_at == ghost_now;
	WRITE_ONCE(*ghost_at, GHOST_INT3);
}

static void ghost(unsigned long n)
{
	struct page *page = vmalloc_to_page(ki_mate_ghost_at);
	void *alias = vmap(&page, 1, VM_MAP, PAGE_KERNEL);

	if (!alias)
		return;
	ghost_at = alias + offset_in_page(ki_mate_ghost_at);
	while (n--)
		one_ghost(n % ARRAY_SIZE(ghosts), n);
	vunmap(alias);
}

static void set_key(unsigned long on)
{
	if (on)
		static_branch_enable(&ki_mate_key);
	else
		static_branch_disable(&ki_mate_key);
}

static void set_op(unsigned long on)
{
	static_call_update(ki_mate_op, on ? ki_mate_op_1 : ki_mate_op_0);
}

/* By whoever writes, who sleeps meanwhile. */
static DECLARE_WAIT_QUEUE_HEAD(holders);
static bool going;

static void hold(unsigned long number)
{
	struct pid *pid = find_get_pid(number);
	struct task_struct *t = get_pid_task(pid, PIDTYPE_PID);
	struct mm_struct *mm = t ? get_task_mm(t) : NULL;

	if (mm) {
		WRITE_ONCE(going, false);
		mmap_write_lock(mm);
		ki_mate_calls = 1;
		wait_event(holders, READ_ONCE(going));
		mmap_write_unlock(mm);
		mmput(mm);
	}
	if (t)
		put_task_struct(t);
	put_pid(pid);
}

static void go(unsigned long unused)
{
	WRITE_ONCE(going, true);
	wake_up_all(&holders);
}

static const struct {
	const char *name;
	void (*run)(unsigned long arg);
} commands[] = {{"call", do_calls}, {"key", set_key}, {"op", set_op}, {"pad", pad},
		{"fault", fault},   {"ghost", ghost}, {"hold", hold}, {"go", go}};

static ssize_t mate_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[32] = "", name[32];
	unsigned long arg;
	size_t i;

	if (len >= sizeof(text) || copy_from_user(text, buf, len))
		return -EINVAL;
	if (sscanf(text, "%31s %lu", name, &arg) != 2)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		commands[i].run(arg);
		return len;
	}
	return -EINVAL;
}

static int mate_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "calls %llu\nsum %llx\n", ki_mate_calls, ki_mate_sum);
	return 0;
}

static int mate_open(struct inode *inode, struct file *file)
{
	if (file->f_mode & FMODE_WRITE)
		ki_mate_calls = ki_mate_sum = 0;
	return single_open(file, mate_show, NULL);
}

static const struct proc_ops mate_ops = {
	.proc_open = mate_open,
	.proc_read = seq_read,
	.proc_write = mate_write,
	.proc_ioctl = mate_ioctl,
	.proc_release = single_release,
};

static int __init mate_init(void)
{
	int err = register_die_notifier(&ghost_block);

	if (!err && !proc_create("ki_mate", 0600, NULL, &mate_ops)) {
		unregister_die_notifier(&ghost_block);
		err = -ENOMEM;
	}
	return err;
}

static void __exit mate_exit(void)
{
	unregister_die_notifier(&ghost_block);
	remove_proc_entry("ki_mate", NULL);
}

module_init(mate_init);
module_exit(mate_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: test: functions that others change too");
