// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for many of a kind, which holds no task up.
 *
 * The kernel clears all memory that it gives (init_on_alloc), and lets no other task run meanwhile:
 * of kmalloc up to 4 MiB in one go, of vmalloc 100 pages with interrupts off. So what is large is
 * taken page by page here, and mapped as one piece. In front of it stands a page that says which
 * they are.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "array.h"
#include "yield.h"

#define KI_AT_ONCE (16ul << 10) /* bytes */

struct ki_large {
	struct page **pages; /* the one that this is in, too */
	size_t n;
};

static void free_pages_of(struct page **pages, size_t n)
{
	while (n--) {
		if (pages[n])
			__free_page(pages[n]);
		ki_yield();
	}
	ki_array_free(pages);
}

static void *large(size_t bytes, gfp_t flags)
{
	size_t n = 1 + DIV_ROUND_UP(bytes, PAGE_SIZE), i;
	struct page **pages = ki_array(n, sizeof(*pages), flags | __GFP_ZERO);
	struct ki_large *l = NULL;

	for (i = 0; pages && i < n; i++) {
		pages[i] = alloc_page(flags);
		if (!pages[i])
			break;
		ki_yield();
	}
	if (pages && i == n)
		l = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	if (!l) {
		if (pages)
			free_pages_of(pages, i);
		return NULL;
	}
	*l = (struct ki_large){pages, n};
	return (u8 *)l + PAGE_SIZE;
}

void *ki_array(size_t n, size_t each, gfp_t flags)
{
	size_t bytes;
	void *p = NULL;

	if (check_mul_overflow(n, each, &bytes))
		return NULL;
	if (bytes <= KI_AT_ONCE)
		p = kmalloc(bytes, flags | __GFP_NOWARN);
	return p || bytes <= PAGE_SIZE ? p : large(bytes, flags);
}

void ki_array_free(const void *p)
{
	struct ki_large l;

	if (!is_vmalloc_addr(p)) {
		kfree(p);
		return;
	}
	p = (const u8 *)p - PAGE_SIZE;
	l = *(const struct ki_large *)p;
	vunmap(p);
	free_pages_of(l.pages, l.n);
}
