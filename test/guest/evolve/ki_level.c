// SPDX-License-Identifier: GPL-2.0-only
/*
 * How an address of the kernel is mapped, as its page table says: KiB of the page that it is in, 0:
 * none. Write the address, read:
 *
 *	KIB WRITABLE EXECUTABLE MEMORY
 *
 * MEMORY is the address of the same memory where the kernel maps all of it; 0.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static unsigned long addr;

static pteval_t entry(unsigned long at, unsigned long *kib)
{
	unsigned int level;
	pte_t *pte = lookup_address(at, &level);

	*kib = pte && pte_present(*pte) ? page_level_size(level) >> 10 : 0;
	return *kib ? pte_val(*pte) : 0;
}

static int set(const char *text, const struct kernel_param *unused)
{
	return kstrtoul(text, 0, &addr);
}

static int show(char *buffer, const struct kernel_param *unused)
{
	unsigned long kib, memory = 0;
	pteval_t e = entry(addr, &kib);

	if (kib && addr >= MODULES_VADDR && addr < MODULES_END)
		memory = (unsigned long)page_address(vmalloc_to_page((void *)addr)) +
			 offset_in_page(addr);
	return sysfs_emit(buffer, "%lu %d %d 0x%lx\n", kib, !!(e & _PAGE_RW),
			  kib && !(e & _PAGE_NX), memory);
}

static const struct kernel_param_ops ops = {.set = set, .get = show};
module_param_cb(at, &ops, NULL, 0600);

static int __init ki_level_init(void)
{
	return 0;
}

static void __exit ki_level_exit(void)
{
}

module_init(ki_level_init);
module_exit(ki_level_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("how an address is mapped");
