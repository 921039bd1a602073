/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Numbers by hash: where in an array something stands. All zero: empty. What could not be added for
 * want of memory is not found.
 */
#ifndef KI_DLANG_INDEX_H
#define KI_DLANG_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ki_d_index {
	struct {
		uint64_t hash;
		uint32_t number; /* + 1; 0: free */
	} * slots;
	size_t n, size; /* a power of 2 */
};

uint64_t ki_d_hash(const void *key, size_t len);

/* Is it element i of the array? */
typedef bool ki_d_is(const void *array, uint32_t i, const void *key);

/* The number of the element; UINT32_MAX: there is none. */
uint32_t ki_d_index_find(const struct ki_d_index *x, uint64_t hash, ki_d_is *is, const void *array,
			 const void *key);
void ki_d_index_add(struct ki_d_index *x, uint64_t hash, uint32_t number);
void ki_d_index_free(struct ki_d_index *x);

#endif
