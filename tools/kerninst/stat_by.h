/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst stat --by: hits counted by keys, and distributions of a value.
 */
#ifndef KERNINST_STAT_BY_H
#define KERNINST_STAT_BY_H

#include <stdio.h>

#include "field_text.h"
#include "kerninst/table.h"
#include "points.h"
#include "record_values.h"

struct verb;

/* Of a row with a distribution: behind what KI_TABLE_STATS keeps. */
#define STAT_BY_BUCKETS KI_TABLE_STATS_WORDS

/* What is asked for. */
struct stat_by {
	const char *keys; /* NULL: none */
	const char *hist; /* NULL: no distribution */
	uint32_t top;	  /* rows that are shown; 0: all */
	uint32_t rows;	  /* of a table; 0: as many as seems right */
	bool limited;	  /* one of these two was asked for */
	/* what comes of that */
	struct record_values key;
	char *expr; /* of hist, without its bounds */
	struct ki_predicate *value;
	struct ki_linear linear;
	bool is_linear; /* buckets of equal width */
	struct ki_table_map *map;
	struct ki_stacks_map *stacks; /* NULL: no key is a stack */
	struct ki_target *target;
	struct ki_table_var table;
	struct ki_table_reading *before, *now;
	uint32_t point; /* for which a statement is being made */
	const struct points *points;
};

static inline bool stat_by_wanted(const struct stat_by *b)
{
	return b->keys || b->hist;
}

/* Understand it; make the table. CLI_OK, or reported. */
int stat_by_parse(struct stat_by *b, const struct verb *self);
int stat_by_open(struct stat_by *b, struct ki_target *t, const struct points *points);
void stat_by_close(struct stat_by *b);

/* For struct points_how; arg: the stat_by. */
ki_measure_act *stat_by_act(void *arg, const struct point *p, void **act_arg);

/* What is there at the beginning does not count, nor what comes after the end. */
int stat_by_begin(struct stat_by *b);
int stat_by_end(struct stat_by *b);

/* stat_by_key.c: a field of a key, as text. */
const char *stat_by_key_text(struct stat_by *b, const uint64_t *key, unsigned int i,
			     char buf[FIELD_TEXT]);

struct stat_by_show {
	FILE *out;
	char separator; /* of CSV; 0: a table for people */
	bool json;
	double seconds;
};
int stat_by_report(struct stat_by *b, const struct stat_by_show *how);

#endif
