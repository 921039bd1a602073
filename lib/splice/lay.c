// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Laying a function out: blocks in another order. Only the order of its windows travels; what it
 * takes to let control go on as before is made by the driver (kmod/lay.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "splice/move.h"
#include "splice/plan.h"

/* The rank of each block in the order; false: it is none. */
static bool rank_blocks(const struct ki_function *fn, const uint32_t *blocks, uint32_t *rank)
{
	for (uint32_t i = 0; i < fn->nblocks; i++)
		rank[i] = KI_NONE;
	for (uint32_t i = 0; i < fn->nblocks; i++) {
		if (blocks[i] >= fn->nblocks || rank[blocks[i]] != KI_NONE)
			return false;
		rank[blocks[i]] = i;
	}
	return true;
}

/* Windows of one block stay as they are: where each stands. first: of each rank, + 1 behind. */
static void place_windows(const struct ki_function *fn, const struct ki_spans *spans,
			  const uint32_t *rank, uint32_t *first, uint16_t *places)
{
	uint16_t at = 0;

	for (size_t i = 0; i < spans->n; i++) {
		const struct ki_block *b = ki_function_block_at(fn, spans->v[i].addr);

		first[rank[b - fn->blocks]]++;
	}
	for (uint32_t r = 0; r < fn->nblocks; r++) {
		uint32_t n = first[r];

		first[r] = at;
		at = (uint16_t)(at + n);
	}
	for (size_t i = 0; i < spans->n; i++) {
		const struct ki_block *b = ki_function_block_at(fn, spans->v[i].addr);

		places[i] = (uint16_t)first[rank[b - fn->blocks]]++;
	}
}

static int order_windows(const struct ki_function *fn, const struct ki_spans *spans,
			 const uint32_t *blocks, uint16_t *places, struct ki_err *err)
{
	uint32_t *rank = calloc(2 * (size_t)fn->nblocks + 1, sizeof(*rank));
	int ret = 0;

	if (!rank)
		return ki_err_set(err, -ENOMEM, fn->start, "layout: out of memory");
	if (rank_blocks(fn, blocks, rank))
		place_windows(fn, spans, rank, rank + fn->nblocks, places);
	else
		ret = ki_err_set(err, -EINVAL, fn->start,
				 "layout: not each block once: give all %u in some order",
				 fn->nblocks);
	free(rank);
	return ret;
}

static const struct ki_span *first_placed(const struct ki_spans *spans, const uint16_t *places)
{
	size_t i = 0;

	while (places[i])
		i++;
	return &spans->v[i];
}

/* The chunk that keeps the group. */
static int keep(struct ki_plan *p, const struct ki_function *fn, const struct ki_spans *spans,
		uint64_t addr, uint32_t *id, struct ki_err *err)
{
	const struct ki_place place = {.addr = addr, .where = KI_BEFORE};
	struct ki_chunk *c;
	int ret = ki_plan_prepare(p, fn, spans, &place, &c, err);

	if (ret)
		return ret;
	c->kind = KI_CHUNK_KEEP;
	*id = ki_plan_count(p);
	return 0;
}

int ki_plan_lay_out(struct ki_plan *p, const struct ki_function *fn, const struct ki_spans *spans,
		    const uint32_t *blocks, uint32_t *id, struct ki_err *err)
{
	uint16_t *places;
	int ret;

	if (fn->reason)
		return ki_err_reason(err, fn->reason, fn->start, "%s", ki_plan_name_of(fn));
	if (!spans->n || spans->n > UINT16_MAX)
		return ki_err_reason(err, KI_R_TOO_MANY, fn->start, "%s: windows to be laid out",
				     ki_plan_name_of(fn));
	places = calloc(spans->n, sizeof(*places));
	if (!places)
		return ki_err_set(err, -ENOMEM, fn->start, "layout: out of memory");
	ret = order_windows(fn, spans, blocks, places, err);
	if (!ret)
		ret = ki_plan_group(p, fn, spans, places, err);
	if (!ret)
		ret = keep(p, fn, spans, first_placed(spans, places)->addr, id, err);
	free(places);
	return ret;
}
