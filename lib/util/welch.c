// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Student's distribution is an incomplete beta function, and that one a continued fraction, which
 * converges fast where x is below (a + 1) / (a + b + 2); elsewhere I(x, a, b) = 1 - I(1 - x, b, a)
 * helps. It takes some sqrt(a + b) steps, so a fixed number of them, from the last to the first,
 * is enough for samples of some 100,000 values, and there is nothing to decide on the way.
 *
 * Under QEMU's instruction count two runs may be equal to the last instruction. So variances of 0
 * are no mistake: then a difference is what it is, with an interval of no width.
 */
#include "util/welch.h"

#include <math.h>

#define STEPS	  400
#define BISECTION 60

static double coefficient(int k, double x, double a, double b)
{
	int m = k / 2;

	if (k % 2)
		return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/* The incomplete beta function, regularized: 0 at x = 0, 1 at x = 1. */
static double beta(double x, double a, double b)
{
	double f = 1;

	if (x <= 0 || x >= 1)
		return x >= 1;
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta(1 - x, b, a);
	for (int k = STEPS; k; k--)
		f = 1 + coefficient(k, x, a, b) / f;
	return exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / (a * f);
}

/* How likely a value is that is as far from 0 as t, or farther, on either side. */
static double outside(double t, double degrees)
{
	return isinf(t) ? 0 : beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double ki_student_cdf(double t, double degrees)
{
	double half = outside(t, degrees) / 2;

	return t < 0 ? half : 1 - half;
}

double ki_student_quantile(double p, double degrees)
{
	double low = 0, high = 1;

	if (p < 0.5)
		return -ki_student_quantile(1 - p, degrees);
	while (ki_student_cdf(high, degrees) < p && high < 1e300)
		high *= 2;
	for (int i = 0; i < BISECTION; i++) {
		double middle = low + (high - low) / 2;

		if (ki_student_cdf(middle, degrees) < p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void ki_sample_of(const double *values, size_t n, struct ki_sample *out)
{
	double sum = 0, squares = 0;

	*out = (struct ki_sample){.n = n, .min = values[0], .max = values[0]};
	for (size_t i = 0; i < n; i++) {
		sum += values[i];
		out->min = fmin(out->min, values[i]);
		out->max = fmax(out->max, values[i]);
	}
	out->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - out->mean) * (values[i] - out->mean);
	out->variance = n > 1 ? squares / (double)(n - 1) : 0;
}

double ki_sample_error(const struct ki_sample *s)
{
	return sqrt(s->variance / (double)s->n);
}

void ki_sample_compare(const struct ki_sample *a, const struct ki_sample *b, double level,
		       struct ki_comparison *out)
{
	double va = a->variance / (double)a->n, vb = b->variance / (double)b->n, half = 0;

	*out = (struct ki_comparison){.difference = b->mean - a->mean, .error = sqrt(va + vb)};
	out->degrees = (double)(a->n + b->n - 2);
	if (out->error > 0) {
		out->degrees = (va + vb) * (va + vb) /
			       (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));
		out->t = out->difference / out->error;
		half = ki_student_quantile((1 + level) / 2, out->degrees) * out->error;
	} else if (out->difference < 0 || out->difference > 0) {
		out->t = copysign(INFINITY, out->difference);
	}
	out->low = out->difference - half;
	out->high = out->difference + half;
	out->p = outside(out->t, out->degrees);
}
