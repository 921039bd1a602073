// SPDX-License-Identifier: GPL-2.0-only
/* A module that takes its time to be loaded: meanwhile it has text and is not there yet. */
#include <linux/delay.h>
#include <linux/module.h>

static unsigned int seconds = 2;
module_param(seconds, uint, 0);

noinline int ki_going_work(int n);
noinline int ki_going_work(int n)
{
	return n * 3 + 1;
}

static int __init going_init(void)
{
	msleep(1000 * seconds);
	return ki_going_work(0) != 1;
}

static void __exit going_exit(void)
{
}

module_init(going_init);
module_exit(going_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: test: a module that is being loaded");
