// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A text that names one point: its kind, and the number after its name.
 */
#include <errno.h>

#include "kerninst/match.h"
#include "kerninst/points.h"

/* What the number after a point's name is. */
enum number { NUMBER_NONE, NUMBER_BLOCK, NUMBER_EDGE, NUMBER_OFFSET, NUMBER_ADDRESS };

static const struct {
	bool one; /* it names one point */
	enum ki_point_kind kind;
	enum number number;
} kinds[] = {
	[KI_POINTSPEC_NONE] = {true, KI_POINT_ENTRY, NUMBER_NONE},
	[KI_POINTSPEC_ENTRY] = {true, KI_POINT_ENTRY, NUMBER_NONE},
	[KI_POINTSPEC_EXIT] = {true, KI_POINT_EXIT, NUMBER_NONE},
	[KI_POINTSPEC_EXIT_AFTER] = {true, KI_POINT_EXIT_AFTER, NUMBER_NONE},
	[KI_POINTSPEC_CALLS] = {true, KI_POINT_CALLS, NUMBER_NONE},
	[KI_POINTSPEC_RETURNS] = {true, KI_POINT_RETURNS, NUMBER_NONE},
	[KI_POINTSPEC_BLOCK] = {true, KI_POINT_BLOCK, NUMBER_BLOCK},
	[KI_POINTSPEC_BLOCK_END] = {true, KI_POINT_BLOCK_END, NUMBER_BLOCK},
	[KI_POINTSPEC_OFFSET] = {true, KI_POINT_INSN, NUMBER_OFFSET},
	[KI_POINTSPEC_AFTER] = {true, KI_POINT_AFTER, NUMBER_OFFSET},
	[KI_POINTSPEC_ADDRESS] = {true, KI_POINT_INSN, NUMBER_ADDRESS},
	[KI_POINTSPEC_EDGE] = {true, KI_POINT_EDGE, NUMBER_EDGE},
};

static bool take_number(const struct ki_function *fn, enum number number, uint64_t n,
			struct ki_point *at)
{
	switch (number) {
	case NUMBER_BLOCK:
		at->block = (uint32_t)n;
		return n < fn->nblocks;
	case NUMBER_EDGE:
		at->edge = (uint32_t)n;
		return n < fn->nedges;
	case NUMBER_OFFSET:
	case NUMBER_ADDRESS:
		at->addr = n + (number == NUMBER_OFFSET ? fn->start : 0);
		return ki_function_insn_at(fn, at->addr) != NULL;
	default:
		return true;
	}
}

int ki_pointspec_point(const struct ki_pointspec *spec, const struct ki_function *fn,
		       struct ki_point *at)
{
	const unsigned int s = spec->suffix;

	*at = (struct ki_point){0};
	if (s >= sizeof(kinds) / sizeof(*kinds) || !kinds[s].one)
		return -E2BIG;
	at->kind = kinds[s].kind;
	return take_number(fn, kinds[s].number, spec->number, at) ? 0 : -ENOENT;
}

static int take_first(void *ctx, const struct ki_symbol *sym)
{
	const struct ki_symbol **out = ctx;

	*out = *out ? *out : sym;
	return 0;
}

int ki_pointspec_symbol(struct ki_target *t, const struct ki_pointspec *spec,
			const struct ki_symbol **out, struct ki_err *err)
{
	char why[KI_MATCH_WHY];
	size_t n;

	*out = NULL;
	if (spec->suffix == KI_POINTSPEC_ADDRESS) {
		*out = ki_target_symbol_at(t, spec->number);
		return *out ? 0 : ki_err_reason(err, KI_R_NOT_TEXT, spec->number, "%s", "");
	}
	if (ki_pointspec_is_glob(spec->function) || ki_pointspec_is_glob(spec->module))
		return ki_err_set(err, -E2BIG, 0, "it names many functions");
	ki_match_each(t, spec, take_first, out, &n);
	if (n)
		return 0;
	ki_match_nothing(t, spec, why);
	return ki_err_set(err, -ENOENT, 0, "%s", why);
}
