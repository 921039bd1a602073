/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A round: some functions are measured for a while, on both sides at once. It is of level.c.
 */
#ifndef KI_CROSSWALK_ROUND_H
#define KI_CROSSWALK_ROUND_H

#include "crosswalk/walk.h"
#include "kerninst/metric.h"

enum { KI_SIDE_PROGRAM, KI_SIDE_KERNEL, KI_SIDES };

#define KI_ROUND_METRICS 2

/* A function, or, where none can be measured whole, the calls of it that are known. */
struct ki_round_row {
	uint32_t node;
	ki_crosswalk_numbers
		curves;	 /* KI_ROUND_METRICS for each place, in the order of the metrics */
	uint16_t reason; /* KI_R_OK, or why nothing of it is measured */
};

struct ki_round {
	struct ki_crosswalk *w;
	const struct ki_metric *metrics[KI_ROUND_METRICS]; /* the second may be NULL */
	struct ki_measure *m[KI_SIDES];			   /* NULL: nothing there */
	bool told; /* the program's is in the kernel, which is told */
	/* NULL, or filled in before what is in the kernel begins: a look interrupts system calls,
	   which begin anew, and would be timed as well as seen to be there. */
	struct ki_crosswalk_stand *before;
	ki_vec(struct ki_round_row) rows;
	struct ki_reading *from[KI_SIDES]; /* what there was when both sides had begun: */
	double begun;			   /* then, seconds of CLOCK_MONOTONIC */
};

/* ---- shares of each thread (threads.c) ---- */

/* A timer of a node. */
struct ki_crosswalk_timed {
	const struct ki_crosswalk *w;
	uint32_t node;
};
int ki_crosswalk_add_timer(struct ki_measure *m, const struct ki_crosswalk_timed *t,
			   const struct ki_measured_at *at, uint32_t *curve, struct ki_err *err);

/* The table at the beginning and at the end; where threads are then. NULL: not known. */
struct ki_crosswalk_rows {
	struct ki_table_reading *from, *now;
	const struct ki_crosswalk_stand *stand;
};
int ki_crosswalk_rows_read(const struct ki_crosswalk *w, struct ki_table_reading **out,
			   struct ki_err *err);
/* Of a node of which all threads have `share` by its timer. -ENOMEM. */
int ki_crosswalk_rows_take(const struct ki_crosswalk *w, const struct ki_crosswalk_rows *rows,
			   uint32_t number, double share, double all);
void ki_crosswalk_rows_free(struct ki_crosswalk_rows *rows);

/* ---- rounds ---- */

/* Begin with those of the nodes that are in question; r->before is set. On failure ki_round_close,
   too. */
int ki_round_open(struct ki_round *r, struct ki_crosswalk *w,
		  const struct ki_metric *const *metrics, const ki_crosswalk_numbers *open,
		  struct ki_err *err);
void ki_round_close(struct ki_round *r);

/* values[row]: of one of the metrics, since both sides had begun. */
int ki_round_read(const struct ki_round *r, unsigned int metric, double *values,
		  struct ki_err *err);

/* Add what it has cost until now, by what each metric that is read has counted: calls. */
void ki_round_charge(const struct ki_round *r, const double *calls);

/* Has the process ended? */
bool ki_round_ended(const struct ki_round *r);

#endif
