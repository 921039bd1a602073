/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst stat --by: hits counted by keys, values summed up by them, and distributions.
 */
#ifndef KERNINST_STAT_BY_H
#define KERNINST_STAT_BY_H

#include <stdio.h>

#include "record/field_text.h"
#include "kerninst/table.h"
#include "points.h"
#include "record_values.h"

struct verb;

#define STAT_BY_SOURCES 8
#define STAT_BY_AGGS	16

enum stat_by_fn { BY_SUM, BY_AVG, BY_MIN, BY_MAX, BY_STDDEV, BY_FNS };
extern const char *const stat_by_fns[BY_FNS];

/* What is summed up: an expression where the point is, or a metric of what goes on there. */
struct stat_by_source {
	char *text;
	struct ki_predicate *value;	/* NULL: it is a metric */
	const struct ki_metric *metric; /* NULL: it is an expression */
	uint32_t at;			/* its statistics: index in the row's values */
};

struct stat_by_agg {
	uint8_t fn; /* enum stat_by_fn */
	const struct stat_by_source *source;
};

/* What is asked for. */
struct stat_by {
	const char *keys; /* NULL: none */
	const char *hist; /* NULL: no distribution */
	const char *aggs; /* NULL: nothing is summed up */
	uint32_t top;	  /* rows that are shown; 0: all */
	uint32_t rows;	  /* of a table; 0: as many as seems right */
	bool limited;	  /* one of these two was asked for */
	/* what comes of that */
	struct record_values key;
	struct stat_by_source sources[STAT_BY_SOURCES];
	unsigned int nsources;
	struct stat_by_agg list[STAT_BY_AGGS];
	unsigned int naggs;
	const struct stat_by_source *spread; /* whose distribution; NULL: none */
	struct ki_linear linear;
	bool is_linear;	  /* buckets of equal width */
	uint32_t counted; /* which of a row's values is how often it was hit */
	uint32_t buckets; /* which is the first of the distribution */
	uint8_t merge[KI_TABLE_VALUES];
	struct ki_table_map *map;
	struct ki_stacks_map *stacks; /* NULL: no key is a stack */
	struct ki_users *users;	      /* NULL: none is a process's */
	uint32_t *same; /* of each stack the first that is the same; NULL: no key is a stack */
	size_t nsame;
	uint64_t looked; /* stacks that there were when processes were looked at */
	struct ki_target *target;
	struct ki_table_var table;
	struct ki_table_reading *before, *now; /* as they were read */
	unsigned int words;		     /* of the key, that are taken when something begins */
	uint32_t point;			     /* for which a statement is being made */
	const struct stat_by_source *ending; /* that has an end being made */
	struct ki_measure_ends ends;
	const struct points *points;
};

static inline bool stat_by_wanted(const struct stat_by *b)
{
	return b->keys || b->hist || b->aggs;
}

/* Is it a time, and no number? */
static inline bool stat_by_is_time(const struct stat_by_source *s)
{
	return s->metric && s->metric->unit == KI_UNIT_SECONDS;
}

/* stat_by_parse.c: understand it; what -m says is summed up, too. CLI_OK, or reported. */
int stat_by_parse(struct stat_by *b, const struct verb *self, const struct wanted *also);

/* What is to be measured at each point. */
struct wanted stat_by_metrics(const struct stat_by *b);

/* Make the table. CLI_OK, or reported. */
int stat_by_open(struct stat_by *b, struct ki_target *t, const struct points *points);
void stat_by_close(struct stat_by *b);

/* For struct points_how; arg: the stat_by. */
ki_measure_act *stat_by_act(void *arg, const struct point *p, void **act_arg);
const struct ki_measure_ends *stat_by_ends(void *arg, const struct point *p,
					   const struct ki_metric *metric);

/* What is there at the beginning does not count, nor what comes after the end. */
int stat_by_begin(struct stat_by *b);
int stat_by_end(struct stat_by *b);

/* stat_by_stacks.c */
int stat_by_stacks_open(struct stat_by *b, struct ki_target *t);
void stat_by_stacks_close(struct stat_by *b);
/* Look at the processes that are new: when next, if nothing happens until `deadline` (< 0: never);
   is there anything to look for? */
double stat_by_next_look(const struct stat_by *b, double deadline);
bool stat_by_look(struct stat_by *b);
/* Find out which stacks are the same. CLI_OK, or reported. */
int stat_by_join_stacks(struct stat_by *b);

static inline bool stat_by_is_stack(const struct stat_by *b, unsigned int i)
{
	return b->key.fields[i].show == KI_SHOW_STACK;
}

/* stat_by_delta.c: what came between the two readings, stacks that are the same as one; its words
   are the caller's to free. 0, or -ENOMEM. */
int stat_by_delta(const struct stat_by *b, struct ki_table_reading *out);
void stat_by_next(struct stat_by *b); /* the next interval begins where this one has ended */

/* stat_by_key.c: a field of a key, as text; all frames of a stack, which is the caller's to free,
   NULL: out of memory. */
const char *stat_by_key_text(struct stat_by *b, const uint64_t *key, unsigned int i,
			     char buf[KI_FIELD_TEXT]);
char *stat_by_frames(struct stat_by *b, const struct ki_stack *s);

struct stat_by_show {
	FILE *out;
	char separator; /* of CSV; 0: a table for people */
	bool json;
	bool timed;	/* rows of many intervals */
	double time;	/* since the start, */
	double seconds; /* of which so many are shown */
};
int stat_by_report(struct stat_by *b, const struct stat_by_show *how);

#endif
