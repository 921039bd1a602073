/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a measurement costs: instructions of inserted code, and CPU time of this process, which is
 * also the driver's while it works for it; as a share of what the machine can execute.
 */
#ifndef KERNINST_COST_H
#define KERNINST_COST_H

#include "points.h"

/* A part of a measurement (ki_measure_part). */
struct cost_part {
	struct ki_measure *measure;
	uint32_t number; /* in that */
	double spent;	 /* instructions, at the last look, */
	double acted;	 /* those of them that thinning saves */
	double marked;	 /* at the last mark */
	double between;	 /* between the last two marks */
	double out_at;	 /* when it was shed; negative: it was not */
};

struct cost {
	const struct points *points; /* the first that were added: their parts come first */
	double speed;		     /* instructions that a CPU executes in a second */
	double cpus;
	double start, mark; /* times */
	double own_start, own_mark;
	double later, later_mark; /* CPU seconds of the driver behind what was taken out */
	double seconds, own;	  /* between the last two marks; later is in own */
	struct cost_part *parts;
	uint32_t n;
};

/* CPU seconds of this process. */
double cost_own(void);

/* Of points that are metered; more may be added before it begins. CLI_OK, or reported. */
int cost_open(struct cost *c, const struct points *p);
int cost_add(struct cost *c, const struct points *p);
void cost_close(struct cost *c);

/* From here on it counts. */
void cost_begin(struct cost *c, double now);

/* So many CPU seconds went into taking code out. */
void cost_took_out(struct cost *c, double seconds);
#define COST_LATER 3 /* times that, later */

/* Look again; returns instructions of all parts since the beginning. */
double cost_look(struct cost *c);

/* What comes behind this belongs to the next interval. */
void cost_mark(struct cost *c, double now);

/* Instructions between the last two marks: of a point, with all its metrics; of a cell. */
double cost_point(const struct cost *c, const struct point *pt, unsigned int part);
double cost_cell(const struct cost *c, const struct cell *cell);

/* Share of that time in which it was measured: 1, or less if it was shed. */
double cost_seen(const struct cost *c, const struct cell *cell);

/* Instructions in that time as a share of the machine. */
double cost_share(const struct cost *c, double instructions);

/* All parts, and all with what this process took. */
double cost_inserted(const struct cost *c);
double cost_all(const struct cost *c);

#endif
