/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A test's build only (KI_TEST_FAIL): the n-th allocation from now on fails, once, so that every
 * path of exhausted memory can be walked. Echo n into the module's parameter ki_fail_at.
 */
#ifndef KI_FAIL_H
#define KI_FAIL_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

extern int ki_fail_at;
extern bool ki_fail_large;

static inline bool ki_fail(void)
{
	return ki_fail_at > 0 && !--ki_fail_at;
}

/* On some kernels these are macros themselves: each is a function here, then its name is taken. */
#define KI_MAY_FAIL(type, name, params, args)                                                      \
	static __always_inline type ki_##name params                                               \
	{                                                                                          \
		return ki_fail() ? 0 : name args;                                                  \
	}

KI_MAY_FAIL(void *, kmalloc, (size_t size, gfp_t gfp), (size, gfp))
KI_MAY_FAIL(void *, kzalloc, (size_t size, gfp_t gfp), (size, gfp))
KI_MAY_FAIL(void *, kvzalloc, (size_t size, gfp_t gfp), (size, gfp))
KI_MAY_FAIL(void *, vmalloc_user, (unsigned long size), (size))
KI_MAY_FAIL(unsigned long, __get_free_pages, (gfp_t gfp, unsigned int order), (gfp, order))
KI_MAY_FAIL(void __percpu *, __alloc_percpu, (size_t size, size_t align), (size, align))
KI_MAY_FAIL(void *, kmemdup, (const void *p, size_t size, gfp_t gfp), (p, size, gfp))
KI_MAY_FAIL(void *, kvmalloc, (size_t size, gfp_t gfp), (size, gfp))
KI_MAY_FAIL(void *, kvcalloc, (size_t n, size_t size, gfp_t gfp), (n, size, gfp))
KI_MAY_FAIL(void *, kvmalloc_array, (size_t n, size_t size, gfp_t gfp), (n, size, gfp))
KI_MAY_FAIL(void *, vmalloc, (unsigned long size), (size))
KI_MAY_FAIL(void *, vmap, (struct page * *v, unsigned int n, unsigned long how, pgprot_t prot),
	    (v, n, how, prot))

/* Memory in one piece also as long as the parameter ki_fail_large says so. */
static inline struct page *ki_alloc_pages(gfp_t gfp, unsigned int order)
{
	return ki_fail() || (order && ki_fail_large) ? NULL : alloc_pages(gfp, order);
}

/* Single pages are asked for by the hundred, in loops: one in so many may fail. */
#define KI_PAGES_A_FAILURE 41

static inline struct page *ki_alloc_page(gfp_t gfp)
{
	static unsigned int n;

	return n++ % KI_PAGES_A_FAILURE ? alloc_pages(gfp, 0) : ki_alloc_pages(gfp, 0);
}

#undef kmalloc
#undef kzalloc
#undef kvzalloc
#undef vmalloc_user
#undef __get_free_pages
#undef __alloc_percpu
#undef kmemdup
#undef kvmalloc
#undef kvcalloc
#undef kvmalloc_array
#undef vmalloc
#undef vmap
#undef alloc_pages
#undef alloc_page

#define kmalloc		 ki_kmalloc
#define kzalloc		 ki_kzalloc
#define kvzalloc	 ki_kvzalloc
#define vmalloc_user	 ki_vmalloc_user
#define __get_free_pages ki___get_free_pages
#define __alloc_percpu	 ki___alloc_percpu
#define kmemdup		 ki_kmemdup
#define kvmalloc	 ki_kvmalloc
#define kvcalloc	 ki_kvcalloc
#define kvmalloc_array	 ki_kvmalloc_array
#define vmalloc		 ki_vmalloc
#define vmap		 ki_vmap
#define alloc_pages	 ki_alloc_pages
#define alloc_page	 ki_alloc_page

#endif
