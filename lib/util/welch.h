/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Do two samples have different means? Welch's test: Student's for samples whose variances need
 * not be equal.
 */
#ifndef KI_UTIL_WELCH_H
#define KI_UTIL_WELCH_H

#include <stddef.h>

struct ki_sample {
	size_t n;
	double mean, variance; /* the variance of the population that it was drawn from */
	double min, max;
};

/* `b` against `a`. */
struct ki_comparison {
	double difference; /* of the means, b - a */
	double error;	   /* its standard error */
	double low, high;  /* the interval that holds the true difference at the level asked for */
	double degrees;	   /* of freedom */
	double t;	   /* difference / error; infinite if the error is 0 and the means differ */
	double p; /* how often samples of equal means would differ as much, or more, either way */
};

/* Of `n` values, at least 1; the variance of one value is 0. */
void ki_sample_of(const double *values, size_t n, struct ki_sample *out);

/* The standard error of the mean. */
double ki_sample_error(const struct ki_sample *s);

/* Samples of 2 values or more; `level` between 0 and 1, 0.95 for 95 %. */
void ki_sample_compare(const struct ki_sample *a, const struct ki_sample *b, double level,
		       struct ki_comparison *out);

/* Student's distribution: how likely a value up to t is, and up to which t it is `p` likely. */
double ki_student_cdf(double t, double degrees);
double ki_student_quantile(double p, double degrees);

#endif
