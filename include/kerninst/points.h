/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Points and what is measured at them: from what people wrote to a measurement.
 */
#ifndef KERNINST_POINTS_H
#define KERNINST_POINTS_H

#include "kerninst/listener.h"
#include "kerninst/metric.h"
#include "kerninst/pointspec.h"
#include "kerninst/split.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a function alone means: a whole (its metrics), or all its blocks, all its edges. */
enum ki_shape { KI_SHAPE_WHOLE, KI_SHAPE_BLOCKS, KI_SHAPE_EDGES, KI_SHAPES };

#define KI_METRICS_MAX 32

struct ki_wanted {
	enum ki_shape shape;
	const struct ki_metric *metrics[KI_METRICS_MAX];
	struct ki_metric *made[KI_METRICS_MAX]; /* of these, that are in no table; [n] */
	unsigned int n;
};

/* Read the list after -m: 0, or -errno. */
int ki_points_take_metrics(struct ki_wanted *w, const char *list, struct ki_err *err);
void ki_wanted_free(struct ki_wanted *w);

/* What a cell has of one CPU. */
struct ki_cpu_value {
	double value;	/* not a number of a histogram, too */
	uint64_t count; /* of a histogram: all it has counted */
};

/* One metric at one point, of one part. */
struct ki_cell {
	const struct ki_metric *metric;
	unsigned int part;	   /* index in the splits; 0 if there are none */
	unsigned int reason;	   /* KI_R_OK, or why it cannot be measured */
	uint32_t curve;		   /* valid if it can */
	double value;		   /* of the last interval; not a number: a mean of nothing */
	uint64_t count;		   /* the same of what is counted */
	uint64_t *buckets;	   /* of a histogram: KI_LOG2_BUCKETS; else NULL */
	struct ki_cpu_value *cpus; /* the same of each CPU; NULL: not wanted */
};

struct ki_named_point {
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

struct ki_points {
	struct {
		struct ki_named_point *v;
		size_t n, cap;
	} v;
	struct {
		struct ki_cell *v;
		size_t n, cap;
	} cells;
	struct ki_measure *measure;
	unsigned int cpus; /* how many each cell's cpus are; 0: not wanted */
	const struct ki_splits *splits;
	size_t uncounted; /* the first point without a counter, when they are all in use */
};

/* How many parts there are; the name of one, NULL: nothing is taken apart. */
static inline unsigned int ki_points_parts(const struct ki_points *p)
{
	return p->splits && p->splits->n ? p->splits->n : 1;
}

static inline const char *ki_points_part(const struct ki_points *p, unsigned int part)
{
	return p->splits && p->splits->n ? p->splits->v[part].name : NULL;
}

/* What a point counts, or the first metric of it. */
static inline struct ki_cell *ki_points_first(const struct ki_points *p,
					      const struct ki_named_point *pt)
{
	return &p->cells.v[pt->cell];
}

/* The cell of a metric and a part; NULL: the point has none. */
struct ki_cell *ki_points_cell(const struct ki_points *p, const struct ki_named_point *pt,
			       const struct ki_metric *metric, unsigned int part);

/*
 * The function that a text names, the first of several of that name. -E2BIG: it names many;
 * -ENOENT: there is none, and err says what is named nearly so; or KI_R_NOT_TEXT.
 */
int ki_pointspec_symbol(struct ki_target *t, const struct ki_pointspec *spec,
			const struct ki_symbol **out, struct ki_err *err);

/* The point of that function. -E2BIG: it names many; -ENOENT: the function has no such place. */
int ki_pointspec_point(const struct ki_pointspec *spec, const struct ki_function *fn,
		       struct ki_point *at);

/* What was asked for: texts, and what they say. */
struct ki_asked {
	char **texts;
	struct ki_pointspec *specs;
	size_t n;
};

/* One more, taken apart: 0; -EINVAL: it is no point. */
int ki_points_ask(struct ki_asked *a, const char *text, struct ki_err *err);
void ki_asked_free(struct ki_asked *a);

/*
 * Functions that are moved as a whole: those of which nearly all blocks are wanted, and those that
 * it spares a breakpoint; all; none.
 */
enum ki_moving { KI_MOVING_AUTO, KI_MOVING_ALWAYS, KI_MOVING_NEVER };

/* How points are measured. */
struct ki_points_how {
	size_t size; /* of this structure */
	struct ki_wanted wanted;
	enum ki_moving moving;
	const struct ki_predicate *when; /* only if it holds; NULL: always */
	const struct ki_splits *splits;	 /* if there are any, these instead */
	bool per_cpu;			 /* values of each CPU too */
	bool metered;			 /* what it costs is measured, too */
	bool sampled;			 /* what is done at points can be sampled */
	bool separate;			 /* a point that two texts name is two points */
	bool sheds;			 /* parts may be taken out before the end */
	/* The target is a process, and its points are counted in this kernel (ki_measure_tell),
	   with what is done there; names have `prefix` before them. NULL: where they are. */
	struct ki_target *kernel;
	const char *prefix;
	uint32_t first; /* what instruments are told as the first point's number */
	/* What is done at a point beside counting it, for ki_measure_add_action; NULL: nothing. */
	ki_measure_action *(*action)(void *arg, const struct ki_named_point *p, void **action_arg);
	/* The same of what lasts, for ki_measure_add_ends. */
	const struct ki_measure_ends *(*ends)(void *arg, const struct ki_named_point *p,
					      const struct ki_metric *metric);
	void *arg;
	/* How far it is: functions that have been analysed. false: it is to end (-ECANCELED). */
	bool (*progress)(void *progress_arg, size_t done, size_t all);
	void *progress_arg;
};

/* Find out what is meant, and make a measurement of it; or, if p has one already, more of that.
   Nothing is installed. 0, or -errno. */
int ki_points_resolve(struct ki_points *p, struct ki_target *t, const struct ki_asked *a,
		      const struct ki_points_how *how, struct ki_err *err);

/* Note what the driver refused when the measurement began. */
void ki_points_note_refusals(struct ki_points *p);

/* Cells that are refused; of all. */
size_t ki_points_refused(const struct ki_points *p);

/* Take the values of what came between two readings. */
void ki_points_read(struct ki_points *p, const struct ki_reading *from,
		    const struct ki_reading *to);

/* The same of all since the measurement began, read now. 0, or -errno. */
int ki_points_take(struct ki_points *p, struct ki_err *err);

void ki_points_free(struct ki_points *p);

/* The same as ki_points_resolve: the listener hears how far it is, and which point is the first
   without a counter when they are all in use. how->progress is not looked at. */
int ki_points_find(struct ki_points *p, struct ki_target *t, const struct ki_asked *a,
		   struct ki_points_how *how, const struct ki_listener *l, struct ki_err *err);

/* Install the measurement, and note what the driver refuses; take it out. 0, or -errno: -ECANCELED,
   the listener has ended it, and nothing is installed. */
int ki_points_put_in(struct ki_points *p, const struct ki_listener *l, struct ki_err *err);
int ki_points_take_out(struct ki_points *p, const struct ki_listener *l, struct ki_err *err);

/* Are all cells refused? If so: an error with the reason of the first. */
bool ki_points_all_refused(const struct ki_points *p);
int ki_points_nothing(const struct ki_points *p, struct ki_err *err);

/* Warn of what is refused, in groups if it is much; of calls whose end is not known, because they
   were too deep inside themselves. */
void ki_points_warn_refused(const struct ki_points *p, const struct ki_listener *l);
void ki_points_warn_deep(const struct ki_points *p, const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
