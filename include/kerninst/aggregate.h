/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Aggregation: hits counted by keys, values summed up by them, and distributions.
 */
#ifndef KERNINST_AGGREGATE_H
#define KERNINST_AGGREGATE_H

#include <stdio.h>

#include "kerninst/points.h"
#include "kerninst/table.h"
#include "kerninst/record_values.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_AGGREGATE_SOURCES 8
#define KI_AGGREGATE_COLUMNS 16

enum ki_aggregate_fn {
	KI_AGGREGATE_SUM,
	KI_AGGREGATE_AVG,
	KI_AGGREGATE_MIN,
	KI_AGGREGATE_MAX,
	KI_AGGREGATE_STDDEV,
	KI_AGGREGATE_FNS
};

/* What is summed up: an expression where the point is, or a metric of what goes on there. */
struct ki_aggregate_source {
	char *text;
	struct ki_predicate *value;	/* NULL: it is a metric */
	const struct ki_metric *metric; /* NULL: it is an expression */
	uint32_t at;			/* its statistics: index in the row's values */
};

struct ki_aggregate_column {
	uint8_t fn; /* enum ki_aggregate_fn */
	const struct ki_aggregate_source *source;
};

/* What is asked for. */
struct ki_aggregate {
	const char *keys; /* NULL: none */
	const char *hist; /* NULL: no distribution */
	const char *aggs; /* NULL: nothing is summed up */
	uint32_t top;	  /* rows that are shown; 0: all */
	uint32_t rows;	  /* of a table; 0: as many as seems right */
	bool limited;	  /* one of these two was asked for */
	/* what comes of that */
	struct ki_record_values key;
	struct ki_aggregate_source sources[KI_AGGREGATE_SOURCES];
	unsigned int nsources;
	struct ki_aggregate_column list[KI_AGGREGATE_COLUMNS];
	unsigned int naggs;
	const struct ki_aggregate_source *spread; /* whose distribution; NULL: none */
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
	unsigned int words; /* of the key, that are taken when something begins */
	uint32_t point;	    /* for which a statement is being made */
	const struct ki_aggregate_source *ending; /* that has an end being made */
	struct ki_measure_ends ends;
	const struct ki_points *points;
	uint64_t lost; /* changes for which there was no row, when it was shown last */
};

static inline bool ki_aggregate_wanted(const struct ki_aggregate *b)
{
	return b->keys || b->hist || b->aggs;
}

/* Is it a time, and no number? */
static inline bool ki_aggregate_is_time(const struct ki_aggregate_source *s)
{
	return s->metric && s->metric->unit == KI_UNIT_SECONDS;
}

/* Understand it; what -m says is summed up, too. 0, or -errno. */
int ki_aggregate_new(struct ki_aggregate *b, const struct ki_wanted *also, struct ki_err *err);

/* What is to be measured at each point. */
struct ki_wanted ki_aggregate_metrics(const struct ki_aggregate *b);

/* Make the table. 0, or -errno. */
int ki_aggregate_prepare(struct ki_aggregate *b, struct ki_target *t,
			 const struct ki_points *points, struct ki_err *err);
void ki_aggregate_free(struct ki_aggregate *b);

/* For struct ki_points_how; arg: the aggregate. */
ki_measure_action *ki_aggregate_action(void *arg, const struct ki_named_point *p,
				       void **action_arg);
const struct ki_measure_ends *ki_aggregate_ends(void *arg, const struct ki_named_point *p,
						const struct ki_metric *metric);

/* What is there at the beginning does not count, nor what comes after the end. */
int ki_aggregate_begin(struct ki_aggregate *b, struct ki_err *err);
int ki_aggregate_end(struct ki_aggregate *b, struct ki_err *err);

/*
 * Look at the processes that are new: when next, if nothing happens until `deadline` (< 0: never);
 * is there anything to look for? What a process's addresses are is known only while it lives.
 */
double ki_aggregate_next_look(const struct ki_aggregate *b, double now, double deadline);
bool ki_aggregate_look(struct ki_aggregate *b);

/* The next interval begins where this one has ended. */
void ki_aggregate_next(struct ki_aggregate *b);

/* How it is shown. */
struct ki_aggregate_show {
	FILE *out;
	char separator; /* of CSV; 0: a table for people */
	bool json;
	bool bold;	/* titles, as a terminal shows it */
	bool timed;	/* rows of many intervals */
	double time;	/* since the start, */
	double seconds; /* of which so many are shown */
};
/* What came between the beginning and the end. 0, or -errno: writing failed. */
int ki_aggregate_report(struct ki_aggregate *b, const struct ki_aggregate_show *how,
			struct ki_err *err);

/* Stacks for which there was no place. */
uint64_t ki_aggregate_stacks_lost(const struct ki_aggregate *b);

#ifdef __cplusplus
}
#endif

#endif
