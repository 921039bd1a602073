// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The constants of lquantize() and llquantize().
 */
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

static int check_lquantize(struct ki_d_checker *c, const struct ki_d_node *call, struct ki_d_agg *a,
			   bool first)
{
	static const char *const tags[] = {"D_LQUANT_BASETYPE", "D_LQUANT_LIMTYPE",
					   "D_LQUANT_STEPTYPE"};
	int64_t v[3] = {0, 0, 1};
	unsigned int i = 0;
	struct ki_linear l;
	bool too_large;

	for (struct ki_d_node *k = call->kid[0]->next; k && i < 3; k = k->next, i++) {
		if (!ki_d_fold_checked(k))
			return FAIL(c, k, tags[i], "lquantize's bounds and step are constants");
		v[i] = (int64_t)k->value;
	}
	l = (struct ki_linear){.low = v[0], .high = v[1], .step = (uint64_t)v[2]};
	too_large = (uint64_t)v[1] - (uint64_t)v[0] < (uint64_t)v[2];
	if (v[2] < 1 || v[0] >= v[1] || too_large || !ki_linear_buckets(&l) ||
	    ki_linear_buckets(&l) > KI_TABLE_VALUES)
		return FAIL(c, call,
			    v[2] < 1	   ? "D_LQUANT_STEPTYPE"
			    : v[0] >= v[1] ? "D_LQUANT_MISMATCH"
			    : too_large	   ? "D_LQUANT_STEPLARGE"
					   : "D_LQUANT_STEPSMALL",
			    "lquantize(value, low, high, step): low < high, step > 0, and at "
			    "most %d buckets",
			    KI_TABLE_VALUES);
	if (!first && memcmp(&l, &a->linear, sizeof(l)) != 0)
		return FAIL(c, call,
			    l.low != a->linear.low     ? "D_LQUANT_MATCHBASE"
			    : l.high != a->linear.high ? "D_LQUANT_MATCHLIM"
						       : "D_LQUANT_MATCHSTEP",
			    "@%.40s has other bounds elsewhere", a->name);
	a->linear = l;
	return 0;
}

static int check_llquantize(struct ki_d_checker *c, const struct ki_d_node *call,
			    struct ki_d_agg *a, bool first)
{
	static const char *const wrong[] = {"D_LLQUANT_FACTORTYPE", "D_LLQUANT_LOWTYPE",
					    "D_LLQUANT_HIGHTYPE", "D_LLQUANT_NSTEPTYPE"};
	struct ki_d_log l;
	uint32_t *const to[] = {&l.factor, &l.low, &l.high, &l.steps};
	unsigned int i = 0;

	for (struct ki_d_node *k = call->kid[0]->next; k && i < 4; k = k->next, i++) {
		if (!ki_d_fold_checked(k) || k->value > UINT16_MAX)
			return FAIL(c, k, wrong[i],
				    "llquantize's factor, powers and steps are constants up to %d",
				    UINT16_MAX);
		*to[i] = (uint32_t)k->value;
	}
	if (l.factor < 2)
		return FAIL(c, call, "D_LLQUANT_FACTORSMALL",
			    "llquantize: the factor is 2 or more");
	if (l.low > l.high)
		return FAIL(c, call, "D_LLQUANT_MAGRANGE",
			    "llquantize: the lower power is above the higher one");
	if (!l.steps || (l.steps % l.factor && l.factor % l.steps))
		return FAIL(c, call, "D_LLQUANT_FACTOREVEN",
			    "llquantize: of factor and steps, one divides the other");
	if (!ki_d_log_words(&l))
		return FAIL(c, call, "D_LLQUANT_MAGTOOBIG",
			    "llquantize: the numbers are too large, or the buckets too many");
	if (!first && memcmp(&l, &a->log, sizeof(l)) != 0)
		return FAIL(c, call,
			    l.factor != a->log.factor ? "D_LLQUANT_FACTORMATCH"
			    : l.low != a->log.low     ? "D_LLQUANT_LOWMATCH"
			    : l.high != a->log.high   ? "D_LLQUANT_HIGHMATCH"
						      : "D_LLQUANT_NSTEPMATCH",
			    "@%.40s has other powers elsewhere", a->name);
	a->log = l;
	return 0;
}

int ki_d_check_buckets(struct ki_d_checker *c, const struct ki_d_node *call, struct ki_d_agg *a,
		       bool first)
{
	switch (ki_d_agg_kind(a)) {
	case KI_D_LQUANTIZE:
		return check_lquantize(c, call, a, first);
	case KI_D_LLQUANTIZE:
		return check_llquantize(c, call, a, first);
	default:
		return 0;
	}
}
