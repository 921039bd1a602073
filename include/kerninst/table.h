/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tables: rows of values by keys, which snippets change (ki_stmt_table) and this process reads at
 * no cost for the kernel.
 *
 * A table of the CPUs has a bank of rows for each; reading merges them: each value says how. A
 * shared table has one bank for all CPUs, and what is read of it is each row as it was at one
 * moment.
 *
 * Reading is exact for all that was done before it began: a key that has a row is there, once; and
 * each value has at least (or at most, of a minimum) what had been given to it by then. Of what is
 * done meanwhile some may be in it and some not; and of one change to several values of a row of
 * the CPUs, the first ones and not the last. A row may be there before its first change is: its
 * values are then what they begin with. Keys are never half there.
 */
#ifndef KERNINST_TABLE_H
#define KERNINST_TABLE_H

#include "kerninst/snippet.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How values of one key in several rows become one, and what a row begins with. */
enum ki_merge {
	KI_MERGE_SUM,	/* 0 */
	KI_MERGE_CARRY, /* the upper 64 bits of the sum before it */
	KI_MERGE_MIN,	/* signed: the largest number there is */
	KI_MERGE_MAX,
	KI_MERGE_UMIN, /* unsigned */
	KI_MERGE_UMAX,
	KI_MERGES
};

struct ki_table_options {
	size_t size;	       /* of this structure */
	uint32_t keys, values; /* words of a key; of values */
	uint32_t rows;	       /* of a bank; 0: 4096; rounded up to a power of 2 */
	bool shared;
	const uint8_t *merge; /* enum ki_merge of each value; NULL: all are sums */
};

/* What KI_TABLE_STATS keeps, in this order. */
enum ki_stats {
	KI_STATS_COUNT,
	KI_STATS_SUM,
	KI_STATS_MIN,
	KI_STATS_MAX,
	KI_STATS_SQUARES, /* their sum: the lower half, and the upper */
	KI_STATS_SQUARES_HIGH
};

/* Its KI_TABLE_STATS_WORDS entries of `merge`. */
void ki_table_stats_merge(uint8_t *merge);

struct ki_table_map;

/* A new table of the session, mapped. The target must be live. */
int ki_table_map_new(struct ki_target *t, const struct ki_table_options *o,
		     struct ki_table_map **out, struct ki_err *err);
void ki_table_map_free(struct ki_table_map *m); /* NULL is allowed; the table itself stays */

/* For ki_stmt_table. name: as in struct ki_table_var. */
struct ki_table_var ki_table_var_of(const struct ki_table_map *m, const char *name);

/*
 * Changes that were asked for and not done, since the beginning: there was no place for a new row,
 * or a row of a shared table could not be had. What has been done and this is all there was.
 */
uint64_t ki_table_lost(const struct ki_table_map *m);
/* Rows that are taken, of all banks. */
uint64_t ki_table_used(const struct ki_table_map *m);

/* A reading: one row for each key, in order of the keys (unsigned, the first word first). */
struct ki_table_reading {
	size_t n;
	uint32_t keys, values;
	uint64_t *words; /* of each row its key, then its values */
	uint64_t lost;	 /* when it was read */
};

/* -EAGAIN: a row of a shared table was never at rest. */
int ki_table_read(const struct ki_table_map *m, struct ki_table_reading **out, struct ki_err *err);
void ki_table_reading_free(struct ki_table_reading *r); /* NULL is allowed */

const uint64_t *ki_table_key(const struct ki_table_reading *r, size_t row);
const uint64_t *ki_table_values(const struct ki_table_reading *r, size_t row);
/* The values of a key; NULL: it has no row. While rows are in order of keys. */
const uint64_t *ki_table_find(const struct ki_table_reading *r, const uint64_t *key);

/* When the caller has changed keys: rows in their order again, those that have the same key now
 * made one, as the values' merge says. m: the table that was read, of the CPUs. -ENOMEM, and r is
 * as it was.
 */
int ki_table_regroup(const struct ki_table_map *m, struct ki_table_reading *r);

/* Order rows by a value, the largest first, taken as unsigned, or signed; equal ones by key. */
void ki_table_sort(struct ki_table_reading *r, uint32_t value, bool sign);

/* The mean and the standard deviation of what KI_TABLE_STATS has left at these values; 0 of
 * nothing.
 */
double ki_table_mean(const uint64_t *stats);
double ki_table_deviation(const uint64_t *stats);

#ifdef __cplusplus
}
#endif

#endif
