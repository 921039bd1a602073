// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heap is a module's text.
 *
 * What the kernel wants to know about an address in a module it asks of the module's description
 * (struct module): how to unwind there, where a fault goes on, what a ud2 means, what it is
 * called. It finds the description by the address, in a tree of ranges, in any context. The
 * driver's own covers what the driver was loaded with, whose size is fixed. So the heap, which is
 * elsewhere and grows, has a description of its own. It is in that tree, and in the list that bugs
 * are looked up in, and in no other list. Who goes through all modules does not meet it: it has no
 * file, no section, no user, and needs none: it is in the tree as long as the driver is loaded,
 * and no longer.
 *
 * Code that asks the tree uses rows and names (below), or takes a reference of the module. That is
 * refused because there is none to begin with. So no kprobe, static branch or static call of
 * others can be in a patch. At first it has no rows at all; heap.c makes them more and fewer.
 *
 * The tree is asked only about addresses between two bounds, which the kernel widens for each
 * module that it loads, and never narrows. They are widened here in the same way. What a bound is,
 * is read out of a structure that no header shows; so it is looked at before (the driver itself
 * must be between them), and after: the kernel must find the heap's both ends. Else the driver does
 * not start.
 */
#include <linux/bug.h>
#include <linux/module.h>
#include <linux/rbtree_latch.h>
#include <linux/rcupdate.h>

#include "compat.h"
#include "heap/rows.h"
#include "reach/reach.h"
#include "symbols.h"

/* As kernel/module/internal.h has it. */
struct ki_mod_tree {
	struct latch_tree_root root;
	unsigned long min, max;
};

static struct module ki_region;

struct module *ki_region_module(void)
{
	return &ki_region;
}

static struct mutex *module_lock(void)
{
	return (struct mutex *)ki_symbol("module_mutex");
}

void ki_region_names(struct mod_kallsyms *names)
{
	mutex_lock(module_lock());
	rcu_assign_pointer(ki_region.kallsyms, names);
	rcu_assign_pointer(THIS_MODULE->kallsyms, names);
	mutex_unlock(module_lock());
}

static bool is_found(unsigned long addr)
{
	struct module *mod;

	preempt_disable();
	mod = ki_call(__module_address)(addr);
	preempt_enable();
	return mod == &ki_region;
}

static bool widen(unsigned long start, unsigned long end)
{
	struct ki_mod_tree *tree = (struct ki_mod_tree *)ki_symbol("mod_tree");
	unsigned long own = KI_MODULE_TEXT(THIS_MODULE);

	if (tree->min > own || tree->max < own || tree->min < MODULES_VADDR ||
	    tree->max > MODULES_END)
		return false;
	WRITE_ONCE(tree->min, min(tree->min, start));
	WRITE_ONCE(tree->max, max(tree->max, end));
	return true;
}

static void leave(void)
{
	mutex_lock(module_lock());
	ki_call(mod_tree_remove)(&ki_region);
	ki_call(module_bug_cleanup)(&ki_region);
	mutex_unlock(module_lock());
	synchronize_rcu();
}

int ki_region_init(void)
{
	static const Elf_Ehdr no_sections;
	static const Elf_Shdr none;
	unsigned long start = (unsigned long)ki_reach_start(KI_REACH_HEAP);
	bool wide;

	strscpy(ki_region.name, THIS_MODULE->name, sizeof(ki_region.name));
	ki_region.state = MODULE_STATE_LIVE;
	ki_module_set_text(&ki_region, (void *)start, KI_HEAP_SIZE);
	rcu_assign_pointer(ki_region.kallsyms, &THIS_MODULE->core_kallsyms);
	mutex_lock(module_lock());
	wide = widen(start, start + KI_HEAP_SIZE);
	if (wide) {
		ki_call(mod_tree_insert)(&ki_region);
		ki_call(module_bug_finalize)(&no_sections, &none, &ki_region);
	}
	mutex_unlock(module_lock());
	if (wide && is_found(start) && is_found(start + KI_HEAP_SIZE - 1) &&
	    !is_found(start + KI_HEAP_SIZE))
		return 0;
	if (wide)
		leave();
	pr_err("kerninst: this kernel keeps its modules' addresses otherwise: not supported\n");
	return -ENOEXEC;
}

void ki_region_exit(void)
{
	leave();
}
