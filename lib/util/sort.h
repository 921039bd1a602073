/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_UTIL_SORT_H
#define KI_UTIL_SORT_H

#include <stddef.h>
#include <stdint.h>

struct ki_sort_item {
	uint64_t key;
	uint64_t value;
};

/*
 * Stable sort by key. Linear: what is sorted already is only looked at; addresses, whose upper
 * bytes are mostly the same, take few passes. 0, or -ENOMEM and nothing has changed.
 */
int ki_sort(struct ki_sort_item *v, size_t n);

#endif
