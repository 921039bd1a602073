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

static inline bool ki_fail(void)
{
	return ki_fail_at > 0 && !--ki_fail_at;
}

/* The parentheses keep the names from being expanded again. */
#define kmalloc(...)	      (ki_fail() ? NULL : (kmalloc)(__VA_ARGS__))
#define kzalloc(...)	      (ki_fail() ? NULL : (kzalloc)(__VA_ARGS__))
#define kvzalloc(...)	      (ki_fail() ? NULL : (kvzalloc)(__VA_ARGS__))
#define vmalloc_user(...)     (ki_fail() ? NULL : (vmalloc_user)(__VA_ARGS__))
#define __get_free_pages(...) (ki_fail() ? 0 : (__get_free_pages)(__VA_ARGS__))
#define __alloc_percpu(...)   (ki_fail() ? NULL : (__alloc_percpu)(__VA_ARGS__))
#define kmemdup(...)	      (ki_fail() ? NULL : (kmemdup)(__VA_ARGS__))
#define kvmalloc(...)	      (ki_fail() ? NULL : (kvmalloc)(__VA_ARGS__))
#define kvcalloc(...)	      (ki_fail() ? NULL : (kvcalloc)(__VA_ARGS__))
#define kvmalloc_array(...)   (ki_fail() ? NULL : (kvmalloc_array)(__VA_ARGS__))
#define vmalloc(...)	      (ki_fail() ? NULL : (vmalloc)(__VA_ARGS__))
#define vmap(...)	      (ki_fail() ? NULL : (vmap)(__VA_ARGS__))
#define alloc_pages(...)      (ki_fail() ? NULL : (alloc_pages)(__VA_ARGS__))

#endif
