/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a measurement costs: instructions of inserted code, and CPU time of this process, which is
 * also the driver's while it works for it; as a share of what the machine can execute.
 */
#ifndef KERNINST_COST_H
#define KERNINST_COST_H

#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What has parts that cost something: a measurement (ki_measure_part), a D program. `of` is what
 * the functions are called with. What is NULL is not there: nothing is asked of others, nothing can
 * be sampled.
 */
struct ki_cost_source {
	uint32_t (*parts)(const void *of);
	double (*spent)(const void *of, uint32_t part); /* instructions since it began */
	double (*acted)(const void *of, uint32_t part); /* those of them that sampling saves */
	uint32_t (*needed)(const void *of); /* the last so many parts are what others ask */
	bool (*needs)(const void *of, uint32_t part, uint32_t other);
	int (*sample)(void *of, uint32_t part, unsigned int k, struct ki_err *err);
	/* It is to be out for good, from the next update on. */
	void (*shed)(void *of, uint32_t part);
	int (*update)(void *of, struct ki_err *err);
};

struct ki_cost_part {
	const struct ki_cost_source *source;
	void *of;
	uint32_t number; /* in that */
	double spent;	 /* instructions, at the last look, */
	double acted;	 /* those of them that sampling saves */
	double marked;	 /* at the last mark */
	double between;	 /* between the last two marks */
	double out_at;	 /* when it was shed; negative: it was not */
};

struct ki_costs {
	const struct ki_points
		*points; /* the first that were added: their parts come first; NULL */
	double speed;	 /* instructions that a CPU executes in a second */
	double cpus;
	double start, mark; /* times */
	double own_start, own_mark;
	double later, later_mark; /* CPU seconds of the driver after what was taken out */
	double seconds, own;	  /* between the last two marks; later is in own */
	struct ki_cost_part *parts;
	uint32_t n;
};

/* CPU seconds of this process. */
double ki_cost_own(void);

/* Of points that are metered; more may be added before it begins. 0, or -errno. */
int ki_cost_new(struct ki_costs *c, const struct ki_points *p, struct ki_err *err);
int ki_cost_add(struct ki_costs *c, const struct ki_points *p, struct ki_err *err);
/* Of something else than points, which lives as long. */
int ki_cost_new_of(struct ki_costs *c, const struct ki_cost_source *source, void *of,
		   struct ki_err *err);
/* While it counts: what was added last has more parts by now. */
int ki_cost_grow(struct ki_costs *c, struct ki_err *err);
void ki_cost_free(struct ki_costs *c);

/* From here on it counts. */
void ki_cost_begin(struct ki_costs *c, double now);

/* So many CPU seconds went into taking code out. */
void ki_cost_took_out(struct ki_costs *c, double seconds);
#define KI_COST_LATER 3 /* times that, later */

/* Look again; returns instructions of all parts since the beginning. */
double ki_cost_look(struct ki_costs *c);

/* What comes after this belongs to the next interval. */
void ki_cost_mark(struct ki_costs *c, double now);

/* Instructions between the last two marks: of a point, with all its metrics; of a cell. */
double ki_cost_point(const struct ki_costs *c, const struct ki_named_point *pt, unsigned int part);
double ki_cost_cell(const struct ki_costs *c, const struct ki_cell *cell);

/* Share of that time in which it was measured: 1, or less if it was shed. */
double ki_cost_seen(const struct ki_costs *c, const struct ki_cell *cell);

/* Instructions in that time as a share of the machine. */
double ki_cost_share(const struct ki_costs *c, double instructions);

/* All parts, and all with what this process took. */
double ki_cost_inserted(const struct ki_costs *c);
double ki_cost_all(const struct ki_costs *c);

#ifdef __cplusplus
}
#endif

#endif
