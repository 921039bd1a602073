// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/llquantize.h"

#include "kerninst/table.h"

int64_t ki_d_log_power(const struct ki_d_log *l, uint32_t n)
{
	int64_t x = 1;

	while (n--)
		if (__builtin_mul_overflow(x, (int64_t)l->factor, &x))
			return -1;
	return x;
}

int64_t ki_d_log_width(const struct ki_d_log *l, uint32_t power)
{
	int64_t width = ki_d_log_power(l, power + 1) / l->steps;

	return width ? width : 1;
}

static uint32_t half(const struct ki_d_log *l)
{
	return (l->high - l->low + 1) * (l->steps + 2) + 1;
}

uint32_t ki_d_log_words(const struct ki_d_log *l)
{
	if (l->factor < 2 || l->low > l->high || !l->steps || l->high > 62 ||
	    l->steps > KI_D_LOG_WORDS || (l->steps % l->factor && l->factor % l->steps) ||
	    ki_d_log_power(l, l->high + 1) < 0 || 1 + 2 * half(l) > KI_D_LOG_WORDS)
		return 0;
	return 1 + 2 * half(l);
}

uint32_t ki_d_log_first(const struct ki_d_log *l, uint32_t power, int below)
{
	return 1 + (below ? half(l) : 0) + (power - l->low) * (l->steps + 2);
}

/* Of a power: the number of the first bucket that has anything, and how many there are from 0. */
static uint32_t begins(const struct ki_d_log *l, uint32_t power)
{
	return (uint32_t)(ki_d_log_power(l, power) / ki_d_log_width(l, power));
}

static uint32_t ends(const struct ki_d_log *l, uint32_t power)
{
	return (uint32_t)(ki_d_log_power(l, power + 1) / ki_d_log_width(l, power));
}

uint32_t ki_d_log_middle(const struct ki_d_log *l)
{
	uint32_t n = 1;

	for (uint32_t p = l->low; p <= l->high; p++)
		n += ends(l, p) - begins(l, p);
	return n;
}

uint32_t ki_d_log_buckets(const struct ki_d_log *l)
{
	return 2 * ki_d_log_middle(l) + 1;
}

uint32_t ki_d_log_bucket(const struct ki_d_log *l, uint32_t bucket, int64_t *value)
{
	const uint32_t middle = ki_d_log_middle(l);
	const int below = bucket < middle;
	uint32_t n = below ? middle - bucket : bucket - middle;
	uint32_t power = l->low, word = 0;
	int64_t low = 0;

	if (n) {
		n--;
		for (; power <= l->high && n >= ends(l, power) - begins(l, power); power++)
			n -= ends(l, power) - begins(l, power);
		low = ki_d_log_power(l, power);
		word = ki_d_log_first(l, power, below);
		if (power <= l->high) {
			const uint32_t i = begins(l, power) + n;
			const int64_t start = (int64_t)i * ki_d_log_width(l, power);

			word += 1 + i;
			low = start > low ? start : low;
		}
	}
	*value = below ? -low : low;
	return word;
}
