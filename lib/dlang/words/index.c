// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/words/index.h"

#include <stdlib.h>
#include <xxhash.h>

uint64_t ki_d_hash(const void *key, size_t len)
{
	return XXH3_64bits(key, len);
}

uint32_t ki_d_index_find(const struct ki_d_index *x, uint64_t hash, ki_d_is *is, const void *array,
			 const void *key)
{
	for (size_t i = hash; x->size; i++) {
		const size_t at = i & (x->size - 1);

		if (!x->slots[at].number)
			break;
		if (x->slots[at].hash == hash && is(array, x->slots[at].number - 1, key))
			return x->slots[at].number - 1;
	}
	return UINT32_MAX;
}

static void put(struct ki_d_index *x, uint64_t hash, uint32_t number)
{
	size_t i = hash & (x->size - 1);

	while (x->slots[i].number)
		i = (i + 1) & (x->size - 1);
	x->slots[i].hash = hash;
	x->slots[i].number = number + 1;
	x->n++;
}

static void grow(struct ki_d_index *x)
{
	struct ki_d_index more = {.size = x->size ? 2 * x->size : 64};

	more.slots = calloc(more.size, sizeof(*more.slots));
	if (!more.slots)
		return;
	for (size_t i = 0; i < x->size; i++)
		if (x->slots[i].number)
			put(&more, x->slots[i].hash, x->slots[i].number - 1);
	free(x->slots);
	*x = more;
}

void ki_d_index_add(struct ki_d_index *x, uint64_t hash, uint32_t number)
{
	if (2 * (x->n + 1) > x->size)
		grow(x);
	if (x->n + 1 < x->size)
		put(x, hash, number);
}

void ki_d_index_free(struct ki_d_index *x)
{
	free(x->slots);
	*x = (struct ki_d_index){0};
}
