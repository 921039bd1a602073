// SPDX-License-Identifier: GPL-2.0-only
/*
 * A livepatch of what ki_tail's functions jump to: of the callee, or with sleeper=1 of the one that
 * sleeps. The new ones give back what the old ones do, but do not count, and do not sleep.
 */
#include <linux/livepatch.h>
#include <linux/module.h>

static bool sleeper;
module_param(sleeper, bool, 0444);

static int patched_callee(int x)
{
	return x * 2;
}

static int patched_sleeper(int x)
{
	return x;
}

static struct klp_func callee_funcs[] = {
	{.old_name = "ki_tail_callee", .new_func = patched_callee},
	{},
};

static struct klp_func sleeper_funcs[] = {
	{.old_name = "ki_tail_sleeper", .new_func = patched_sleeper},
	{},
};

static struct klp_object objects[] = {
	{.name = "ki_tail", .funcs = callee_funcs},
	{},
};

static struct klp_patch patch = {.mod = THIS_MODULE, .objs = objects};

static int __init patch_init(void)
{
	if (sleeper)
		objects[0].funcs = sleeper_funcs;
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("kerninst test: a livepatch of what is jumped to");
