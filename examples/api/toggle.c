// SPDX-License-Identifier: GPL-2.0-only
/*
 * Put a counter at a function's entry and take it out again, many times: how often the function was
 * called while there was one, and how long putting in and taking out took.
 *
 * usage: toggle [PID] FUNCTION TIMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/points.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Once: what was counted, in and out. */
static int once(struct ki_target *t, const struct ki_asked *asked, double took[2],
		unsigned long long *calls, struct ki_err *err)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	struct ki_points points = {0};
	struct ki_reading *r = NULL;
	int ret = ki_points_resolve(&points, t, asked, &how, err);
	double begun = now();

	if (!ret)
		ret = ki_measure_start(points.measure, err);
	took[0] += now() - begun;
	if (!ret)
		usleep(1000);
	begun = now();
	if (!ret)
		ret = ki_measure_stop(points.measure, err);
	took[1] += now() - begun;
	if (!ret)
		ret = ki_measure_read(points.measure, &r, err); /* what there was stays known */
	if (!ret) {
		ki_points_read(&points, NULL, r);
		*calls += ki_points_first(&points, points.v.v)->count;
	}
	ki_reading_free(r);
	ki_points_free(&points);
	return ret;
}

int main(int argc, char **argv)
{
	const int times = argc > 2 ? atoi(argv[argc - 1]) : 0;
	unsigned long long calls = 0;
	struct ki_asked asked = {0};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	double took[2] = {0};
	int ret, i;

	if (times < 1) {
		fprintf(stderr, "usage: toggle [PID] FUNCTION TIMES\n");
		return 2;
	}
	ret = argc > 3 ? ki_target_new_process(atoi(argv[1]), &t, &err)
		       : ki_target_new_live(&t, &err);
	if (!ret)
		ret = ki_points_ask(&asked, argv[argc - 2], &err);
	for (i = 0; !ret && i < times; i++)
		ret = once(t, &asked, took, &calls, &err);
	if (ret)
		fprintf(stderr, "toggle: %s\n", err.msg);
	else
		printf("%llu calls; in: %.0f us, out: %.0f us\n", calls, took[0] / times * 1e6,
		       took[1] / times * 1e6);
	ki_asked_free(&asked);
	ki_target_free(t);
	return ret != 0;
}
