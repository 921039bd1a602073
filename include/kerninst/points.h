/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points and what is measured at them: from what people wrote to a measurement.
 */
#ifndef KERNINST_POINTS_H
#define KERNINST_POINTS_H

#include "kerninst/metric.h"
#include "kerninst/pointspec.h"
#include "split.h"
#include "util/vec.h"

struct verb;

/* What a function alone means: a whole (its metrics), or all its blocks, all its edges. */
enum shape { SHAPE_WHOLE, SHAPE_BLOCKS, SHAPE_EDGES, SHAPES };

#define METRICS_MAX 32

struct wanted {
	enum shape shape;
	const struct ki_metric *metrics[METRICS_MAX];
	struct ki_metric *made[METRICS_MAX]; /* of these, that are in no table; [n] */
	unsigned int n;
};

/* Read the list behind -m: CLI_OK, or reported. */
int points_take_metrics(struct wanted *w, const struct verb *self, const char *list);
void points_drop_metrics(struct wanted *w);

/* What a cell has of one CPU. */
struct cpu_value {
	double value;	/* not a number of a histogram, too */
	uint64_t count; /* of a histogram: all it has counted */
};

/* One metric at one point, of one part. */
struct cell {
	const struct ki_metric *metric;
	unsigned int part;	/* index in the splits; 0 if there are none */
	unsigned int reason;	/* KI_R_OK, or why it cannot be measured */
	uint32_t curve;		/* valid if it can */
	double value;		/* of the last interval; not a number: a mean of nothing */
	uint64_t count;		/* the same of what is counted */
	uint64_t *buckets;	/* of a histogram: KI_LOG2_BUCKETS; else NULL */
	struct cpu_value *cpus; /* the same of each CPU; NULL: not wanted */
};

struct point {
	char *name;
	const struct ki_symbol *sym;
	struct ki_point at;
	struct ki_edge edge; /* KI_POINT_EDGE */
	uint16_t order;
	const struct ki_pointspec *spec; /* what named it */
	uint64_t addr;			 /* what it is about: function, block or instruction */
	uint64_t size;			 /* of that; 0: an instruction */
	size_t cell;			 /* its first cell */
	unsigned int ncells;
	size_t entry; /* 1 + index of the point of its function's block 0; 0: none */
};

struct points {
	ki_vec(struct point) v;
	ki_vec(struct cell) cells;
	struct ki_measure *measure;
	unsigned int cpus; /* how many each cell's cpus are; 0: not wanted */
	const struct splits *splits;
};

/* How many parts there are; the name of one, NULL: nothing is taken apart. */
static inline unsigned int points_parts(const struct points *p)
{
	return p->splits && p->splits->n ? p->splits->n : 1;
}

static inline const char *points_part(const struct points *p, unsigned int part)
{
	return p->splits && p->splits->n ? p->splits->v[part].name : NULL;
}

/* What a point counts, or the first metric of it. */
static inline struct cell *points_first(const struct points *p, const struct point *pt)
{
	return &p->cells.v[pt->cell];
}

/* The cell of a metric and a part; NULL: the point has none. */
struct cell *points_cell(const struct points *p, const struct point *pt,
			 const struct ki_metric *metric, unsigned int part);

/* What was asked for: texts, and what they say. */
struct asked {
	char **texts;
	struct ki_pointspec *specs;
	size_t n;
};

/* One more, taken apart: CLI_OK, or reported. self: who is to be blamed for what is no point. */
int points_ask(struct asked *a, const struct verb *self, const char *text);
void points_forget(struct asked *a);

/*
 * Functions that are moved as a whole: those of which nearly all blocks are wanted, and those that
 * it spares a breakpoint; all; none.
 */
enum moving { MOVING_AUTO, MOVING_ALWAYS, MOVING_NEVER };

/* How points are measured. */
struct points_how {
	struct wanted wanted;
	enum moving moving;
	const struct ki_predicate *when; /* only if it holds; NULL: always */
	const struct splits *splits;	 /* if there are any, these instead */
	bool per_cpu;			 /* values of each CPU too */
	bool quiet;
	bool metered;	/* what it costs is measured, too */
	bool sampled;	/* what is done at points can be thinned */
	bool separate;	/* a point that two texts name is two points */
	uint32_t first; /* what instruments are told as the first point's number */
	/* What is done at a point beside counting it, for ki_measure_add_act; NULL: nothing. */
	ki_measure_act *(*act)(void *arg, const struct point *p, void **act_arg);
	/* The same of what lasts, for ki_measure_add_ends. */
	const struct ki_measure_ends *(*ends)(void *arg, const struct point *p,
					      const struct ki_metric *metric);
	/* How a curve is made where nothing is measured but hits, of a process; NULL: ki_measure.
	 */
	int (*put)(void *arg, const struct ki_function *fn, const struct ki_spans *spans,
		   const struct point *p, uint32_t *curve, struct ki_err *err);
	void *arg;
};

/* Find out what is meant, and make a measurement of it. Nothing is installed. CLI_OK, or reported.
 */
int points_resolve(struct points *p, struct ki_target *t, const struct asked *a,
		   const struct points_how *how);

/* Note what the driver refused when the measurement began. */
void points_note_refusals(struct points *p);

/* Cells that are refused; of all. */
size_t points_refused(const struct points *p);

/* Say which are refused, in groups if they are many. */
void points_warn_refused(const struct points *p);

/* Say of which calls nobody knows when they ended: they were too deep inside themselves. */
void points_warn_deep(const struct points *p);

/* Install it, and note what the driver refuses; take it out. quiet: no progress is shown. CLI_OK,
   or reported. */
int points_put_in(struct points *p, bool quiet);
int points_take_out(struct points *p, bool quiet);

/* All are refused: say so with the first reason. An exit status. */
int points_nothing(const struct points *p);

/* Take the values of what came between two readings. */
void points_read(struct points *p, const struct ki_reading *from, const struct ki_reading *to);

void points_free(struct points *p);

#endif
