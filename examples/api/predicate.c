// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often a point of the kernel, or of a process, is reached in a second while a condition holds.
 *
 * usage: predicate [PID] POINT CONDITION	predicate vfs_read 'pid == 1234 && arg2 > 4096'
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/points.h"
#include "kerninst/predicate.h"

int main(int argc, char **argv)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("count")}, .n = 1}};
	struct ki_predicate *when = NULL;
	struct ki_points points = {0};
	struct ki_asked asked = {0};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = argc > 3 ? ki_target_new_process(atoi(argv[1]), &t, &err)
			   : ki_target_new_live(&t, &err);

	if (!ret)
		ret = ki_predicate_new(argc > 2 ? argv[argc - 1] : "", &when, &err);
	if (!ret)
		ret = ki_points_ask(&asked, argv[argc - 2], &err);
	how.when = when;
	if (!ret)
		ret = ki_points_resolve(&points, t, &asked, &how, &err);
	if (!ret)
		ret = ki_measure_start(points.measure, &err) || sleep(1) ||
		      ki_points_take(&points, &err);
	if (ret)
		fprintf(stderr, "predicate: %s\n", err.msg);
	else
		printf("%llu\n", (unsigned long long)ki_points_first(&points, points.v.v)->count);
	ki_points_free(&points);
	ki_asked_free(&asked);
	ki_predicate_free(when);
	ki_target_free(t);
	return ret != 0;
}
