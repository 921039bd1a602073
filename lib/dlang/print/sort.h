/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * In which order the rows of aggregations are printed.
 */
#ifndef KI_DLANG_SORT_H
#define KI_DLANG_SORT_H

#include "dlang/run/rows.h"

/* Text of a key that is a string; `text` is room for it. */
#define KI_D_KEY_TEXT (8 * KI_D_COMM_WORDS + 1)
const char *ki_d_key_text(const struct ki_dlang *d, uint8_t form, const uint64_t *key,
			  char text[KI_D_KEY_TEXT]);

/*
 * Keys of two aggregations with as many keys, key number `first` before all others: less than 0,
 * 0, or more. Numbers are taken as unsigned.
 */
int ki_d_key_compare(const struct ki_dlang *d, const struct ki_d_agg *a, const uint64_t *x,
		     const struct ki_d_agg *b, const uint64_t *y, unsigned int first);

/* Values of two rows. */
int ki_d_value_compare(const struct ki_d_agg *a, const uint64_t *x, const uint64_t *y);

/* A row of several aggregations that have the same keys. */
struct ki_d_joined {
	const struct ki_d_agg *of; /* whose key it is */
	const uint64_t *key;
	const uint64_t *values[KI_D_ARGS]; /* of each; zeros where it has no such key */
};

struct ki_d_join {
	struct ki_d_agg *const *aggs;
	unsigned int n; /* at least 1, at most KI_D_ARGS */
	struct ki_d_rows rows[KI_D_ARGS];
	struct ki_d_joined *v;
	size_t nv;
	uint64_t *zeros;
};

/* All rows, sorted as the options say. Free with ki_d_join_free, whatever it returns. */
int ki_d_join_read(struct ki_dlang *d, struct ki_d_agg *const *aggs, unsigned int n,
		   struct ki_d_join *out, struct ki_err *err);
void ki_d_join_free(struct ki_d_join *j);

#endif
