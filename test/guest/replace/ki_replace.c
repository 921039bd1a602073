// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_replace: functions to be replaced, and who calls them in each way there is.
 *
 * Reading /proc/ki_replace calls ki_replace_a once by each of two direct calls, once through a
 * pointer and once by a jump in place of a call, and prints what came back: "11 21 31 41" when
 * nothing is replaced: the tens are the caller's number. b gives 2 in place of 1, c gives 3.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define ALONE __attribute__((noipa))

int ki_replace_a(int tens);
int ki_replace_b(int tens);
int ki_replace_c(int tens);
int ki_replace_first(int tens);
int ki_replace_second(int tens);
int ki_replace_tail(int tens);

ALONE int ki_replace_a(int tens)
{
	return tens * 10 + 1;
}

ALONE int ki_replace_b(int tens)
{
	return tens * 10 + 2;
}

ALONE int ki_replace_c(int tens)
{
	return tens * 10 + 3;
}

static int (*volatile pointer)(int tens) = ki_replace_a;

ALONE int ki_replace_first(int tens)
{
	int got = ki_replace_a(tens);

	barrier();
	return got;
}

ALONE int ki_replace_second(int tens)
{
	int got = ki_replace_a(tens);

	barrier();
	return got;
}

ALONE int ki_replace_tail(int tens)
{
	return ki_replace_a(tens);
}

static int show(struct seq_file *m, void *unused)
{
	int first = ki_replace_first(1), second = ki_replace_second(2);

	seq_printf(m, "%d %d %d %d\n", first, second, pointer(3), ki_replace_tail(4));
	return 0;
}

static int __init start(void)
{
	return proc_create_single("ki_replace", 0444, NULL, show) ? 0 : -ENOMEM;
}

static void __exit stop(void)
{
	remove_proc_entry("ki_replace", NULL);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("kerninst test: functions to be replaced");
MODULE_LICENSE("GPL");
