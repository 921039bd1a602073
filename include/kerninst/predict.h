/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a measurement would cost: the code is known before it is installed, and how often it would
 * run is tried, by bare counters at its points.
 */
#ifndef KERNINST_PREDICT_H
#define KERNINST_PREDICT_H

#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_prediction {
	const struct ki_listener *listener; /* the caller's, of ki_predict_for: may end it */
	bool (*pause)(double seconds);	    /* the caller's; false: it is to end now */
	double *hits; /* of each point, a second; not a number: it cannot be counted */
	double seconds;
	double machine; /* instructions a second */
};

/* Count for a while at the same points. 0, or -errno. Free it in any case. */
int ki_predict(struct ki_prediction *out, const struct ki_points *p, struct ki_target *t,
	       const struct ki_asked *asked, const struct ki_points_how *how, struct ki_err *err);
void ki_prediction_free(struct ki_prediction *p);

/* Instructions of one pass, at most; and how many that would be in a second. */
double ki_prediction_pass(const struct ki_points *p, const struct ki_cell *c);
double ki_prediction_cost(const struct ki_prediction *pr, const struct ki_points *p,
			  const struct ki_named_point *pt, const struct ki_cell *c);

/* All together: what comes of the same code is charged once. */
double ki_prediction_all(const struct ki_prediction *pr, const struct ki_points *p);

/* The same; out->listener may end it, and how->progress is not looked at. */
int ki_predict_for(struct ki_prediction *out, const struct ki_points *p, struct ki_target *t,
		   const struct ki_asked *asked, struct ki_points_how *how, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
