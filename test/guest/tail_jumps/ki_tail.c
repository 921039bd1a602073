// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_tail: functions that end in a jump to another function, of each kind.
 *
 * /proc/ki_tail: write "calls N" (each of the countable ones N times; -EIO if one gives back
 * something wrong), "sleep" (the writer sleeps in a function that was jumped to, until "wake" is
 * written), "die" (a task ends in such a function). Reading it tells how often functions that are
 * jumped to have begun and ended: "begun ended".
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/proc_fs.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <asm/linkage.h>

#define ALONE __attribute__((noipa))

static atomic_t begun, ended;
static DECLARE_WAIT_QUEUE_HEAD(sleepers);
static int awake;

int ki_tail_callee(int x);
int ki_tail_plain(int x);
int ki_tail_jcc(int x);
int ki_tail_middle(int x);
int ki_tail_chain(int x);
int ki_tail_nested(int x);
int ki_tail_deep(int x);
int ki_tail_sleeper(int x);
int ki_tail_sleep(int x);
int ki_tail_dier(int x);
int ki_tail_die(int x);
int ki_tail_eight(int a, int b, int c, int d, int e, int f, int g, int h);
int ki_tail_args(int a, int b, int c, int d, int e, int f, int g, int h);
int ki_tail_handed(int a, int b, int c, int d, int e, int f, int g, int h);
int ki_tail_ping(int x);
int ki_tail_pong(int x);
int ki_tail_pointed(int x);
int ki_tail_pointer(int x);
int ki_tail_fill(int *v, int n, int x);
int ki_tail_guarded(int x);
int ki_tail_framed(int x);
int ki_tail_copied(int x);
int ki_tail_above(int x);
int ki_tail_raised(int x);
int ki_tail_again(int x);

ALONE int ki_tail_callee(int x)
{
	atomic_inc(&begun);
	atomic_inc(&ended);
	return x * 2;
}

ALONE int ki_tail_plain(int x)
{
	return ki_tail_callee(x + 1);
}

/* Where a kernel that counts calls writes the count, before each function that is called. */
#define ASM_PAD ".fill 16, 1, 0x90\n"

/* A conditional tail jump, and a jump into the middle: compilers make neither. */
asm(".pushsection .text\n" ASM_PAD ".globl ki_tail_jcc\n"
    ".type ki_tail_jcc, @function\n"
    "ki_tail_jcc:\n"
    "	movl %edi, %eax\n"
    "	addl $1000000, %eax\n"
    "	testl $1, %edi\n"
    "	jne ki_tail_callee\n" ASM_RET ".size ki_tail_jcc, . - ki_tail_jcc\n" ASM_PAD
    ".globl ki_tail_middle\n"
    ".type ki_tail_middle, @function\n"
    "ki_tail_middle:\n"
    "	movl %edi, %eax\n"
    "	addl $1000000, %eax\n"
    "	testl $1, %edi\n"
    "	je ki_tail_jcc + 2\n" ASM_RET ".size ki_tail_middle, . - ki_tail_middle\n"
    ".popsection\n");

/* objtool takes it for one that runs into the next. */
STACK_FRAME_NON_STANDARD(ki_tail_middle);

/* Two jumps in a row. */
ALONE int ki_tail_chain(int x)
{
	return ki_tail_plain(x + 1);
}

/* Away several times at once. */
ALONE int ki_tail_deep(int x)
{
	int got = x ? ki_tail_nested(x - 1) : 0;

	barrier();
	return got + 1;
}

ALONE int ki_tail_nested(int x)
{
	barrier();
	return ki_tail_deep(x);
}

ALONE int ki_tail_sleeper(int x)
{
	int ret;

	atomic_inc(&begun);
	ret = wait_event_killable(sleepers, READ_ONCE(awake));
	atomic_inc(&ended);
	return ret ? ret : x;
}

ALONE int ki_tail_sleep(int x)
{
	barrier();
	return ki_tail_sleeper(x);
}

ALONE int ki_tail_dier(int x)
{
	atomic_inc(&begun);
	if (x)
		kthread_complete_and_exit(NULL, 0);
	return x;
}

ALONE int ki_tail_die(int x)
{
	barrier();
	return ki_tail_dier(x);
}

static int die(void *unused)
{
	return ki_tail_die(1);
}

/* Compiled, and without an ftrace site, as the bodies of system calls are: it has a canary. */
ALONE int ki_tail_fill(int *v, int n, int x)
{
	int i;

	for (i = 0; i < n; i++)
		v[i] = x + i;
	return n;
}

static ALONE notrace int guarded(int x)
{
	int v[8], n = ki_tail_fill(v, ARRAY_SIZE(v), x);

	return v[0] + v[n - 1];
}

ALONE int ki_tail_guarded(int x)
{
	barrier();
	return guarded(x);
}

/* Bodies by hand: all give back twice what they get. %rsp is 32 below where it was at the call. */
#define BODY(name, ...)                                                                            \
	asm(".pushsection .text\n" ASM_PAD ".type " name ", @function\n" name                      \
	    ":\n" __VA_ARGS__ ASM_RET ".size " name ", . - " name "\n.popsection\n")
#define FRAME "	pushq %rbp\n	movq %rsp, %rbp\n	subq $16, %rsp\n"
#define GUARD "	movq %gs:40, %rax\n	movq %rax, 8(%rsp)\n"
#define TWICE "	movl %edi, %eax\n	addl %eax, %eax\n"

BODY("tail_framed", FRAME GUARD
     "	movl %edi, (%rsp)\n	movl (%rsp), %eax\n	addl %eax, %eax\n	leave\n");
BODY("tail_copied", "	movq %rsp, %rcx\n	movq 8(%rcx), %rcx\n" TWICE);
BODY("tail_above", FRAME GUARD "	movq 32(%rsp), %rcx\n" TWICE "	leave\n");
BODY("tail_raised",
     FRAME GUARD "	addq $16, %rsp\n	movq 16(%rsp), %rcx\n" TWICE "	popq %rbp\n");
BODY("tail_again", FRAME GUARD "1:	cmpq $0, 16(%rsp)\n	je 2f\n	addq $8, %rsp\n"
			       "	testl %edi, %edi\n	js 1b\n"
			       "2:\n" TWICE "	leave\n");

int tail_framed(int x);
int tail_copied(int x);
int tail_above(int x);
int tail_raised(int x);
int tail_again(int x);

ALONE int ki_tail_framed(int x)
{
	barrier();
	return tail_framed(x);
}

/* ---- these are refused ---- */

ALONE int ki_tail_copied(int x)
{
	barrier();
	return tail_copied(x);
}

ALONE int ki_tail_above(int x)
{
	barrier();
	return tail_above(x);
}

ALONE int ki_tail_raised(int x)
{
	barrier();
	return tail_raised(x);
}

ALONE int ki_tail_again(int x)
{
	barrier();
	return tail_again(x);
}

ALONE int ki_tail_eight(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return a + b + c + d + e + f + g * 10 + h * 100;
}

ALONE int ki_tail_args(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return ki_tail_eight(b, a, c, d, e, f, g, h);
}

ALONE int ki_tail_handed(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return ki_tail_args(b, a, c, d, e, f, g, h);
}

ALONE int ki_tail_ping(int x)
{
	return x ? ki_tail_pong(x - 1) : 7;
}

ALONE int ki_tail_pong(int x)
{
	return ki_tail_ping(x);
}

static int (*volatile pointer)(int x) = ki_tail_callee;

ALONE int ki_tail_pointed(int x)
{
	return pointer(x);
}

ALONE int ki_tail_pointer(int x)
{
	barrier();
	return ki_tail_pointed(x);
}

static bool by_hand_right(int i)
{
	return ki_tail_framed(i) == 2 * i && ki_tail_copied(i) == 2 * i &&
	       ki_tail_above(i) == 2 * i && ki_tail_raised(i) == 2 * i && ki_tail_again(i) == 2 * i;
}

static bool all_right(int i)
{
	bool good = ki_tail_plain(i) == 2 * (i + 1);

	good &= ki_tail_chain(i) == 2 * (i + 2);
	good &= ki_tail_jcc(i) == (i & 1 ? 2 * i : i + 1000000);
	good &= ki_tail_middle(i) == (i & 1 ? i + 1000000 : i + 2000000);
	good &= ki_tail_nested(3) == 4;
	good &= ki_tail_die(0) == 0;
	good &= ki_tail_args(1, 2, 3, 4, 5, 6, 7, 8) == 891;
	good &= ki_tail_handed(1, 2, 3, 4, 5, 6, 7, 8) == 891;
	good &= ki_tail_ping(3) == 7;
	good &= ki_tail_pointer(i) == 2 * i;
	good &= ki_tail_guarded(i) == 2 * i + 7;
	good &= by_hand_right(i);
	return good;
}

static int do_calls(int n)
{
	bool good = true;
	int i;

	for (i = 0; i < n; i++)
		good &= all_right(i);
	return good ? 0 : -EIO;
}

static int do_die(void)
{
	struct task_struct *t = kthread_create(die, NULL, "ki_tail_die");

	if (IS_ERR(t))
		return PTR_ERR(t);
	get_task_struct(t);
	wake_up_process(t);
	while (!READ_ONCE(t->exit_state))
		msleep(10);
	put_task_struct(t);
	return 0;
}

static int do_wake(void)
{
	WRITE_ONCE(awake, 1);
	wake_up_all(&sleepers);
	return 0;
}

static int do_command(char *text)
{
	int n;

	if (sscanf(text, "calls %d", &n) == 1)
		return do_calls(n);
	if (!strncmp(text, "sleep", 5)) {
		WRITE_ONCE(awake, 0);
		return ki_tail_sleep(5) == 5 ? 0 : -EINTR;
	}
	if (!strncmp(text, "wake", 4))
		return do_wake();
	return strncmp(text, "die", 3) ? -EINVAL : do_die();
}

static ssize_t command(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char text[32] = "";
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	ret = do_command(text);
	return ret ? ret : len;
}

static int show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%d %d\n", atomic_read(&begun), atomic_read(&ended));
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

static const struct proc_ops ops = {
	.proc_open = open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = command,
};

static int __init start(void)
{
	return proc_create("ki_tail", 0600, NULL, &ops) ? 0 : -ENOMEM;
}

static void __exit stop(void)
{
	remove_proc_entry("ki_tail", NULL);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("kerninst test: functions that end in a jump");
MODULE_LICENSE("GPL");
