// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A counter in a function that is moved costs an instruction instead of three, but coming into the
 * function, and back into it from each call, costs a jump: so a function is moved of which nearly
 * all blocks are wanted. And one in which a window that is wanted could only begin with a
 * breakpoint, if it needs none when it is moved: that costs hundreds of instructions, and cannot be
 * where the handler of breakpoints comes by.
 */
#include "point/move.h"

#include <errno.h>
#include <stdlib.h>

/* Smaller functions are not worth it. */
#define MOVING_BLOCKS 4

/* What lasts from a point on ends there. */
static const enum ki_point_kind ends[KI_POINT_KINDS] = {
	[KI_POINT_ENTRY] = KI_POINT_EXIT,
	[KI_POINT_BLOCK] = KI_POINT_BLOCK_END,
	[KI_POINT_INSN] = KI_POINT_AFTER,
	[KI_POINT_CALLS] = KI_POINT_RETURNS,
};

static bool lasts(const struct resolver *r, const struct ki_named_point *p)
{
	for (size_t i = p->cell; i < p->cell + p->ncells; i++)
		if (r->out->cells.v[i].metric->lasts)
			return true;
	return false;
}

static int spares_at(const struct resolver *r, const struct ki_point *at, bool *spares)
{
	struct ki_place *places = NULL;
	struct ki_err err = {0};
	size_t n = 0;
	int ret = ki_point_places(r->fn, &r->spans, at, &places, &n, &err);

	if (!ret)
		ret = ki_move_spares(r->fn, &r->spans, places, n, spares);
	free(places);
	return ret == -ENOMEM ? ki_err_set(r->err, -ENOMEM, 0, "out of memory") : 0;
}

/* Would any of the function's points stand after a breakpoint that moving it spares? */
static int spares_breakpoint(const struct resolver *r, bool *spares)
{
	int ret = 0;

	*spares = false;
	for (size_t i = r->first; !ret && !*spares && i < r->out->v.n; i++) {
		struct ki_point at = r->out->v.v[i].at;

		ret = spares_at(r, &at, spares);
		if (ret || *spares || !lasts(r, &r->out->v.v[i]) || (at.kind && !ends[at.kind]))
			continue;
		at.kind = ends[at.kind];
		ret = spares_at(r, &at, spares);
	}
	return ret;
}

static bool are_nearly_all(const struct resolver *r)
{
	size_t points = r->out->v.n - r->first;

	return r->fn->nblocks >= MOVING_BLOCKS && points * 4 >= r->fn->nblocks * 3ull;
}

int ki_points_move(struct resolver *r)
{
	bool moves = r->how->moving == KI_MOVING_ALWAYS || are_nearly_all(r);
	int ret = 0;

	if (r->fn->reason || r->how->moving == KI_MOVING_NEVER)
		return 0;
	if (!moves)
		ret = spares_breakpoint(r, &moves);
	if (!ret && moves)
		ret = ki_plan_move(ki_measure_plan(r->out->measure), r->fn, &r->spans, r->err);
	return ret;
}
