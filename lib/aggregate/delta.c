// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What came between two readings. These stay as they were read: which stacks are one key is known
 * better each time, and what is taken away must have been put together in the same way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/inside.h"

/* Take away what was there before; only sums grow. */
static void subtract(const struct ki_aggregate *b, struct ki_table_reading *r,
		     const struct ki_table_reading *before)
{
	uint32_t width = r->keys + r->values;

	for (size_t i = 0; i < r->n; i++) {
		const uint64_t *old = ki_table_find(before, ki_table_key(r, i));
		uint64_t *v = r->words + i * width + r->keys;
		bool borrow = false;

		for (uint32_t k = 0; old && k < r->values; k++) {
			if (b->merge[k] == KI_MERGE_CARRY)
				v[k] -= old[k] + borrow;
			borrow = v[k] < old[k];
			if (b->merge[k] == KI_MERGE_SUM)
				v[k] -= old[k];
		}
	}
	r->lost -= before->lost;
}

static int rename_stacks(const struct ki_aggregate *b, struct ki_table_reading *r)
{
	for (size_t i = 0; i < r->n; i++) {
		uint64_t *key = r->words + i * (r->keys + r->values) + 1;

		for (unsigned int k = 0; k < b->key.n; k++)
			if (ki_aggregate_is_stack(b, k) && key[k] < b->nsame && b->same[key[k]])
				key[k] = b->same[key[k]];
	}
	return ki_table_regroup(b->map, r);
}

/* A copy, in which stacks that are the same are one. */
static int joined(const struct ki_aggregate *b, const struct ki_table_reading *r,
		  struct ki_table_reading *out)
{
	const size_t size = r->n * (r->keys + r->values) * sizeof(*r->words);

	*out = *r;
	out->words = malloc(size + 1);
	if (!out->words)
		return -ENOMEM;
	memcpy(out->words, r->words, size);
	return b->same ? rename_stacks(b, out) : 0;
}

int ki_aggregate_delta(const struct ki_aggregate *b, struct ki_table_reading *out)
{
	struct ki_table_reading before = {0};
	int ret = joined(b, b->now, out);

	if (!ret)
		ret = joined(b, b->before, &before);
	if (!ret)
		subtract(b, out, &before);
	else
		free(out->words);
	free(before.words);
	return ret;
}

void ki_aggregate_next(struct ki_aggregate *b)
{
	ki_table_reading_free(b->before);
	b->before = b->now;
	b->now = NULL;
}
