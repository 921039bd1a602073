// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often points of the running kernel are reached in a second.
 *
 * usage: count POINT...	count vfs_read 'tcp_*' vfs_write:exit
 */
#include <stdio.h>
#include <unistd.h>

#include "kerninst/points.h"

static int fail(const struct ki_err *err)
{
	fprintf(stderr, "count: %s\n", err->msg);
	return 1;
}

/* The points are known: count them for a second. */
static int measure(struct ki_points *p, struct ki_err *err)
{
	struct ki_reading *before = NULL, *after = NULL;
	int ret = ki_measure_start(p->measure, err);

	if (!ret)
		ret = ki_measure_read(p->measure, &before, err);
	if (!ret)
		sleep(1);
	if (!ret)
		ret = ki_measure_read(p->measure, &after, err);
	if (!ret)
		ki_points_read(p, before, after);
	ki_reading_free(before);
	ki_reading_free(after);
	return ret;
}

int main(int argc, char **argv)
{
	struct ki_points_how how = {.wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	struct ki_points points = {0};
	struct ki_asked asked = {0};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = ki_target_open_live(&t, &err);

	for (int i = 1; !ret && i < argc; i++)
		ret = ki_points_ask(&asked, argv[i], &err);
	if (!ret)
		ret = ki_points_resolve(&points, t, &asked, &how, &err);
	if (!ret)
		ret = measure(&points, &err);
	for (size_t i = 0; !ret && i < points.v.n; i++)
		printf("%10llu %s\n",
		       (unsigned long long)ki_points_first(&points, &points.v.v[i])->count,
		       points.v.v[i].name);
	ki_points_free(&points); /* this takes the counters out */
	ki_asked_free(&asked);
	ki_target_close(t);
	return ret ? fail(&err) : 0;
}
