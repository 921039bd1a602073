/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a measurement would cost: the code is known before it is installed, and how often it would
 * run is tried, by bare counters at its points.
 */
#ifndef KERNINST_PREDICT_H
#define KERNINST_PREDICT_H

#include "points.h"

struct prediction {
	double *hits; /* of each point, a second; not a number: it cannot be counted */
	double seconds;
	double machine; /* instructions a second */
};

/* Count for a while at the same points. CLI_OK, or reported. Free it in any case. */
int predict(struct prediction *out, const struct points *p, struct ki_target *t,
	    const struct asked *asked, const struct points_how *how);
void prediction_free(struct prediction *p);

/* Instructions of one pass, at most; and how many that would be in a second. */
double prediction_pass(const struct points *p, const struct cell *c);
double prediction_cost(const struct prediction *pr, const struct points *p, const struct point *pt,
		       const struct cell *c);

/* All together: what comes of the same code is charged once. */
double prediction_all(const struct prediction *pr, const struct points *p);

#endif
