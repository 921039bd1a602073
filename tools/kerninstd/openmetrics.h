/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values as Prometheus reads them.
 */
#ifndef KERNINSTD_OPENMETRICS_H
#define KERNINSTD_OPENMETRICS_H

#include "reply.h"

#define OPENMETRICS_BUCKETS 64

struct openmetrics_row {
	const char *metric, *help;
	const char *unit; /* "s", "threads", "" */
	const char *form; /* "total", "mean", "histogram" */
	const char *function, *module, *point, *predicate;
	int cpu;	       /* negative: all */
	double value;	       /* since the start; not a number: nothing known */
	double since;	       /* of those with equal labels the oldest is shown */
	const double *buckets; /* of a histogram: powers of two, in ns if the unit is s */
};

/* All rows, in OpenMetrics 1.0 or in Prometheus' text format 0.0.4. The rows are sorted. */
void openmetrics_reply(struct openmetrics_row *rows, size_t n, bool open, struct reply *r);

#endif
