// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often points are reached in a second: of the running kernel and of processes, by the same
 * lines.
 *
 * usage: count [PID/]POINT...	count vfs_read 'tcp_*' 1234/malloc 1234/libc.so.6:read:exit
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/points.h"

#define MOST 16

/* One point, or several by one name, in one target. */
struct counted {
	struct ki_target *t;
	struct ki_asked asked;
	struct ki_points points;
	struct ki_reading *before, *after;
};

static int begin(struct counted *c, char *text, struct ki_err *err)
{
	struct ki_points_how how = {.wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	char *point = text;
	long pid = strtol(text, &point, 10);
	int ret;

	if (pid > 0 && *point == '/') {
		point++;
		ret = ki_target_open_process((int)pid, &c->t, err);
	} else {
		point = text;
		ret = ki_target_open_live(&c->t, err);
	}
	if (!ret)
		ret = ki_points_ask(&c->asked, point, err);
	if (!ret)
		ret = ki_points_resolve(&c->points, c->t, &c->asked, &how, err);
	if (!ret)
		ret = ki_measure_start(c->points.measure, err);
	return ret ? ret : ki_measure_read(c->points.measure, &c->before, err);
}

static int show(struct counted *c, struct ki_err *err)
{
	const struct ki_points *p = &c->points;
	int ret = ki_measure_read(p->measure, &c->after, err);

	if (ret)
		return ret;
	ki_points_read(&c->points, c->before, c->after);
	for (size_t i = 0; i < p->v.n; i++)
		printf("%10llu %s\n", (unsigned long long)ki_points_first(p, &p->v.v[i])->count,
		       p->v.v[i].name);
	return 0;
}

static void end(struct counted *c)
{
	ki_reading_free(c->before);
	ki_reading_free(c->after);
	ki_points_free(&c->points); /* this takes the counters out */
	ki_asked_free(&c->asked);
	ki_target_close(c->t);
}

int main(int argc, char **argv)
{
	struct counted all[MOST] = {0};
	struct ki_err err = {0};
	int ret = 0;

	for (int i = 1; !ret && i < argc && i <= MOST; i++)
		ret = begin(&all[i - 1], argv[i], &err);
	if (!ret)
		sleep(1);
	for (int i = 1; !ret && i < argc && i <= MOST; i++)
		ret = show(&all[i - 1], &err);
	if (ret)
		fprintf(stderr, "count: %s\n", err.msg);
	for (int i = 0; i < MOST; i++)
		end(&all[i]);
	return ret != 0;
}
