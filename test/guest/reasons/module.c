// SPDX-License-Identifier: GPL-2.0-only
/* The module that holds the forms. None of them is ever called. */
#include <linux/module.h>

static int __init reasons_init(void)
{
	return 0;
}

static void __exit reasons_exit(void)
{
}

module_init(reasons_init);
module_exit(reasons_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: test: code that is refused");
