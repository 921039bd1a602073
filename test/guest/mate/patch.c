// SPDX-License-Identifier: GPL-2.0-only
/*
 * A livepatch of one function of the kernel and one of a module.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static int patched_version(struct seq_file *m, void *v)
{
	seq_puts(m, "patched\n");
	return 0;
}

static u64 patched_work(u64 i)
{
	return i + 1000;
}

static struct klp_func kernel_funcs[] = {
	{.old_name = "version_proc_show", .new_func = patched_version},
	{},
};

static struct klp_func mate_funcs[] = {
	{.old_name = "ki_mate_work", .new_func = patched_work},
	{},
};

static struct klp_object objects[] = {
	{.funcs = kernel_funcs},
	{.name = "ki_mate", .funcs = mate_funcs},
	{},
};

static struct klp_patch patch = {.mod = THIS_MODULE, .objs = objects};

static int __init patch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("kerninst: test: a livepatch");
