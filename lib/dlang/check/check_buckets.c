// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The constants of lquantize() and llquantize().
 */
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

/* The constants behind the value: `most` at most. Each has a tag if it is none, and one if it does
 * not fit into its bits. */
struct constant {
	const char *no_constant, *too_large;
	int64_t low, high;
};

static int take_constants(struct ki_d_checker *c, const struct ki_d_node *call,
			  const struct constant *wanted, unsigned int most, int64_t *v)
{
	unsigned int i = 0;

	for (struct ki_d_node *k = call->kid[0]->next; k && i < most; k = k->next, i++) {
		if (!ki_d_fold_checked(k))
			return FAIL(c, k, wanted[i].no_constant,
				    "argument %u of %s() is a constant", i + 2, call->text);
		v[i] = (int64_t)k->value;
		if (v[i] < wanted[i].low || v[i] > wanted[i].high)
			return FAIL(c, k, wanted[i].too_large,
				    "argument %u of %s() is between %lld and %lld", i + 2,
				    call->text, (long long)wanted[i].low,
				    (long long)wanted[i].high);
	}
	return 0;
}

static int check_lquantize(struct ki_d_checker *c, const struct ki_d_node *call, struct ki_d_agg *a,
			   bool first)
{
	static const struct constant wanted[] = {
		{"D_LQUANT_BASETYPE", "D_LQUANT_BASEVAL", INT32_MIN, INT32_MAX},
		{"D_LQUANT_LIMTYPE", "D_LQUANT_LIMVAL", INT32_MIN, INT32_MAX},
		{"D_LQUANT_STEPTYPE", "D_LQUANT_STEPVAL", INT64_MIN, UINT16_MAX}};
	int64_t v[3] = {0, 0, 1};
	struct ki_linear l;
	int ret = take_constants(c, call, wanted, 3, v);

	if (ret)
		return ret;
	l = (struct ki_linear){.low = v[0], .high = v[1], .step = (uint64_t)v[2]};
	if (v[0] >= v[1])
		return FAIL(c, call, "D_LQUANT_MISMATCH",
			    "lquantize(): the lower bound is not below the higher");
	if (v[2] < 1)
		return FAIL(c, call, "D_LQUANT_STEPTYPE", "lquantize(): a step is 1 or more");
	if (v[1] - v[0] < v[2])
		return FAIL(c, call, "D_LQUANT_STEPLARGE",
			    "lquantize(): the step is larger than what is between the bounds");
	/* what a last step would not fill is above them */
	l.high = v[0] + (v[1] - v[0]) / v[2] * v[2];
	if (!ki_linear_buckets(&l) || ki_linear_buckets(&l) > KI_TABLE_VALUES)
		return FAIL(c, call, "D_LQUANT_STEPSMALL", "lquantize(): at most %d buckets",
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

/* Steps divide the power they are of, or a power that is in all of them. */
static bool divides(const struct ki_d_log *l)
{
	int64_t power;

	if (l->steps <= l->factor)
		return l->factor % l->steps == 0;
	power = ki_d_log_power(l, l->low ? l->low + 1 : 2);
	return l->steps % l->factor == 0 && power % l->steps == 0;
}

static int check_log(struct ki_d_checker *c, const struct ki_d_node *call, const struct ki_d_log *l)
{
	if (l->low > l->high)
		return FAIL(c, call, "D_LLQUANT_HMAGVAL",
			    "llquantize(): the lower power is above the higher one");
	if (l->high > 62 || ki_d_log_power(l, l->high + 1) < 0)
		return FAIL(c, call, "D_LLQUANT_HMAGVAL",
			    "llquantize(): the highest power has more than 64 bits");
	if (!divides(l))
		return FAIL(
			c, call, "D_LLQUANT_STEPVAL",
			"llquantize(): of factor and steps, one divides the other, and steps the lowest power");
	return ki_d_log_words(l)
		       ? 0
		       : FAIL(c, call, "D_LLQUANT_STEPVAL", "llquantize(): too many buckets");
}

static int check_llquantize(struct ki_d_checker *c, const struct ki_d_node *call,
			    struct ki_d_agg *a, bool first)
{
	static const struct constant wanted[] = {
		{"D_LLQUANT_FACTORTYPE", "D_LLQUANT_FACTORVAL", 2, UINT16_MAX},
		{"D_LLQUANT_LMAGTYPE", "D_LLQUANT_LMAGVAL", 0, UINT16_MAX},
		{"D_LLQUANT_HMAGTYPE", "D_LLQUANT_HMAGVAL", 0, UINT16_MAX},
		{"D_LLQUANT_STEPTYPE", "D_LLQUANT_STEPVAL", INT64_MIN, UINT16_MAX}};
	int64_t v[4] = {0};
	struct ki_d_log l;
	int ret = take_constants(c, call, wanted, 4, v);

	if (!ret && v[3] < 1)
		ret = FAIL(c, call, "D_LLQUANT_STEPTYPE", "llquantize(): steps are 1 or more");
	if (ret)
		return ret;
	l = (struct ki_d_log){.factor = (uint32_t)v[0],
			      .low = (uint32_t)v[1],
			      .high = (uint32_t)v[2],
			      .steps = (uint32_t)v[3]};
	ret = check_log(c, call, &l);
	if (ret)
		return ret;
	if (!first && memcmp(&l, &a->log, sizeof(l)) != 0)
		return FAIL(c, call,
			    l.factor != a->log.factor ? "D_LLQUANT_MATCHFACTOR"
			    : l.low != a->log.low     ? "D_LLQUANT_MATCHLMAG"
			    : l.high != a->log.high   ? "D_LLQUANT_MATCHHMAG"
						      : "D_LLQUANT_MATCHSTEPS",
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
