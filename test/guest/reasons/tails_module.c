// SPDX-License-Identifier: GPL-2.0-only
/* The module of tails.S: a function with more tail jumps than there are places to come back to. */
#include <linux/module.h>

static int __init tails_init(void)
{
	return 0;
}

static void __exit tails_exit(void)
{
}

module_init(tails_init);
module_exit(tails_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: test: tail jumps");
