// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rate of a function's calls, each so many milliseconds, as they come: what has been counted is
 * read where it is, which costs the kernel or the process nothing.
 *
 * usage: sample [PID] FUNCTION MILLISECONDS TIMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/points.h"

static int sample(struct ki_points *p, unsigned int ms, unsigned int times, struct ki_err *err)
{
	struct ki_reading *before = NULL, *now;
	int ret = ki_measure_start(p->measure, err);

	for (unsigned int i = 0; !ret && i <= times; i++) {
		ret = ki_measure_read(p->measure, &now, err);
		if (ret)
			break;
		if (before) {
			ki_points_read(p, before, now);
			printf("%u %llu\n", i * ms,
			       (unsigned long long)ki_points_first(p, p->v.v)->count);
			fflush(stdout);
		}
		ki_reading_free(before);
		before = now;
		usleep(ms * 1000);
	}
	ki_reading_free(before);
	return ret;
}

int main(int argc, char **argv)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	struct ki_points points = {0};
	struct ki_asked asked = {0};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret;

	if (argc < 4) {
		fprintf(stderr, "usage: sample [PID] FUNCTION MILLISECONDS TIMES\n");
		return 2;
	}
	ret = argc > 4 ? ki_target_new_process(atoi(argv[1]), &t, &err)
		       : ki_target_new_live(&t, &err);
	if (!ret)
		ret = ki_points_ask(&asked, argv[argc - 3], &err);
	if (!ret)
		ret = ki_points_resolve(&points, t, &asked, &how, &err);
	if (!ret)
		ret = sample(&points, (unsigned int)atoi(argv[argc - 2]),
			     (unsigned int)atoi(argv[argc - 1]), &err);
	if (ret)
		fprintf(stderr, "sample: %s\n", err.msg);
	ki_points_free(&points);
	ki_asked_free(&asked);
	ki_target_free(t);
	return ret != 0;
}
