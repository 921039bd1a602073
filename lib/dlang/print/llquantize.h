/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * llquantize(value, factor, low, high, steps): buckets of equal width within each power of a
 * factor, from factor^low to factor^(high + 1), on both sides of 0.
 *
 * The words of a row: what is nearer to 0 than all that, then for each power `steps` buckets, and
 * one before and one behind them that stay 0, then what is above all; then the same of what is
 * below 0.
 */
#ifndef KI_DLANG_LLQUANTIZE_H
#define KI_DLANG_LLQUANTIZE_H

#include <stdint.h>

struct ki_d_log {
	uint32_t factor, low, high, steps;
};

#define KI_D_LOG_WORDS 2048 /* of a row, at most: each power has code */

/* All words; 0: the numbers cannot be so, or are too many. */
uint32_t ki_d_log_words(const struct ki_d_log *l);

/* factor^n */
int64_t ki_d_log_power(const struct ki_d_log *l, uint32_t n);
/* How wide the buckets from factor^power on are. */
int64_t ki_d_log_width(const struct ki_d_log *l, uint32_t power);
/* The word of the first bucket of a power (what is above all: of high + 1). */
uint32_t ki_d_log_first(const struct ki_d_log *l, uint32_t power, int below);

/* Buckets that can have anything, in order of what they count; and one of them: its word, and the
   value that it stands for, which is 0 for the one in the middle. */
uint32_t ki_d_log_buckets(const struct ki_d_log *l);
uint32_t ki_d_log_middle(const struct ki_d_log *l);
uint32_t ki_d_log_bucket(const struct ki_d_log *l, uint32_t bucket, int64_t *value);

#endif
