// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text heap: memory for patches, inside the module's own text.
 *
 * The kernel then regards patches as module text: is_module_text_address holds, /proc/kallsyms
 * names them, and they are within reach of a rel32 of the kernel and of every module.
 *
 * The section is reserved by an assembler directive as writable data without contents, because
 * objtool refuses such a section of code; after the final link objcopy makes it code (kmod.mk).
 * Unused heap holds int3.
 *
 * The last KI_HEAP_RESERVE bytes are only for rebuilding patches when chunks are taken out, so
 * that taking out cannot fail for lack of space.
 */
#include <linux/genalloc.h>

#include "compat.h"
#include "ki.h"

#define KI_HEAP_SIZE	0x200000
#define KI_HEAP_RESERVE 0x20000
#define KI_HEAP_ORDER	4 /* units of 16 bytes */

asm(".pushsection .ki_heap,\"aw\",@nobits\n"
    ".balign 4096\n"
    ".globl ki_heap_start\n"
    "ki_heap_start: .skip " __stringify(KI_HEAP_SIZE) "\n"
						      ".globl ki_heap_end\n"
						      "ki_heap_end:\n"
						      ".popsection\n");
extern u8 ki_heap_start[], ki_heap_end[];

static struct gen_pool *ki_heap;

unsigned long ki_heap_alloc(size_t len, bool reserve)
{
	if (ki_fail())
		return 0;
	if (!reserve && gen_pool_avail(ki_heap) < len + KI_HEAP_RESERVE)
		return 0;
	return gen_pool_alloc(ki_heap, len);
}

void ki_heap_free(unsigned long addr, size_t len)
{
	ki_text_fill_heap(addr, len);
	gen_pool_free(ki_heap, addr, len);
}

void ki_heap_info(struct ki_info *info)
{
	info->heap_start = (unsigned long)ki_heap_start;
	info->heap_end = (unsigned long)ki_heap_end;
	info->heap_used = gen_pool_size(ki_heap) - gen_pool_avail(ki_heap);
}

static bool in_module_text(unsigned long addr)
{
	unsigned long start = KI_MODULE_TEXT(THIS_MODULE);

	return addr >= start && addr < start + KI_MODULE_TEXT_SIZE(THIS_MODULE);
}

int ki_heap_init(void)
{
	int err;

	if (!in_module_text((unsigned long)ki_heap_start)) {
		pr_err("kerninst: the heap is not in the module's text: the module was not finished with objcopy\n");
		return -ENOEXEC;
	}
	ki_heap = gen_pool_create(KI_HEAP_ORDER, NUMA_NO_NODE);
	if (!ki_heap)
		return -ENOMEM;
	err = gen_pool_add(ki_heap, (unsigned long)ki_heap_start, KI_HEAP_SIZE, NUMA_NO_NODE);
	if (err) {
		gen_pool_destroy(ki_heap);
		return err;
	}
	ki_text_fill_heap((unsigned long)ki_heap_start, KI_HEAP_SIZE);
	return 0;
}

void ki_heap_exit(void)
{
	gen_pool_destroy(ki_heap);
}
