// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The window of a function's entry alone, where the rest of the function cannot change it.
 *
 * It has room for a jump, so it needs no bounce. It is joined to the one after it only if a bounce
 * stands across their boundary: that takes a short window which can reach so far. Where there is
 * one, springboards are chosen as for all windows, but only until that is known.
 */
#include <errno.h>

#include "splice/point.h"
#include "splice/springboard_choice.h"
#include "util/steps.h"

/* Of a boundary: the last place of a bounce that stands across it, and who reaches that. */
#define REACH (KI_JMP_LEN - 1 + KI_BOUNCE_BELOW + 1)

/* Something but calls leads to the entry. */
static bool leads_back(const struct ki_function *fn)
{
	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->edges[e].to_block == 0)
			return true;
	return fn->blocks[0].entered;
}

static bool may_be_joined(const struct ki_function *fn, const struct ki_spans *s)
{
	if (s->n < 2 || !ki_spans_adjoin(fn, &s->v[1]))
		return false;
	for (size_t w = 1; w < s->n; w++)
		if (s->v[w].len < KI_JMP_LEN && s->v[w].len >= KI_SHORT_LEN)
			return true;
	return false;
}

/* The first window is the entry's, and has room for a jump. */
static bool has_room(const struct ki_function *fn, const struct ki_spans *s)
{
	const struct ki_block *b = &fn->blocks[0];

	return s->n && s->v->first < b->first + b->count && s->v->len >= KI_JMP_LEN;
}

/* Leave only the first window, if code at the entry stands there; else all of them stay. */
static bool stands_alone(const struct ki_function *fn, struct ki_spans *s)
{
	struct ki_span *first = s->v;
	const size_t all = s->n;
	struct ki_place at;

	first->board = KI_BOARD_JMP;
	first->host = KI_NONE;
	s->n = 1;
	at = ki_block_place(&(struct ki_ground){fn, s}, &fn->blocks[0]);
	if (!at.reason && ki_spans_at(s, fn, at.addr))
		return true;
	s->n = all;
	return false;
}

int ki_spans_find_entry(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err)
{
	const uint64_t begun = ki_step_begin();

	*out = (struct ki_spans){0};
	if (fn->reason != KI_R_OK || !fn->nblocks)
		return 0;
	if (leads_back(fn))
		return KI_FUNCTION_WHOLE;
	if (ki_spans_cut(fn, REACH, out))
		return ki_err_set(err, -ENOMEM, fn->start, "windows: out of memory");
	if (!has_room(fn, out) || may_be_joined(fn, out) || !stands_alone(fn, out)) {
		ki_spans_free(out);
		return KI_FUNCTION_WHOLE;
	}
	ki_step_end(KI_STEP_WINDOWS, begun, 1);
	return 0;
}

/* Of windows that were cut only the entry's gets its springboard, if that is enough; else all. */
static int choose(const struct ki_function *fn, struct ki_spans *s)
{
	bool joined = true;
	int ret = 0;

	if (fn->nblocks && !leads_back(fn) && has_room(fn, s))
		ret = ki_boards_first(fn, s, &joined);
	if (ret || (!joined && stands_alone(fn, s)))
		return ret;
	return ki_boards_assign(fn, s);
}

int ki_spans_find_entry_whole(const struct ki_function *fn, struct ki_spans *out,
			      struct ki_err *err)
{
	const uint64_t begun = ki_step_begin();

	if (ki_spans_cut(fn, 0, out) || choose(fn, out)) {
		ki_spans_free(out);
		return ki_err_set(err, -ENOMEM, fn->start, "windows: out of memory");
	}
	if (out->n)
		ki_step_end(KI_STEP_WINDOWS, begun, out->n);
	return 0;
}
