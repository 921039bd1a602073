// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often points are reached in a second: of the kernel and of processes, by the same lines.
 * usage: count [PID/]POINT...	count vfs_read 'tcp_*' 1234/malloc 1234/libc.so.6:read:exit
 */
#include <stdio.h>
#include <unistd.h>

#include "kerninst/points.h"

struct counted {
	struct ki_target *t;
	struct ki_asked asked;
	struct ki_points points;
};

static int begin(struct counted *c, const char *text, struct ki_err *err)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	int pid = 0, skip = 0;

	sscanf(text, "%d/%n", &pid, &skip);
	return (skip ? ki_target_new_process(pid, &c->t, err) : ki_target_new_live(&c->t, err)) ||
	       ki_points_ask(&c->asked, text + skip, err) ||
	       ki_points_resolve(&c->points, c->t, &c->asked, &how, err) ||
	       ki_measure_start(c->points.measure, err);
}

static void end(struct counted *c, int *failed, struct ki_err *err)
{
	struct ki_points *p = &c->points;
	struct ki_reading *now = NULL;

	*failed = *failed || ki_measure_read(p->measure, &now, err);
	if (now)
		ki_points_read(p, NULL, now);
	for (size_t i = 0; now && i < p->v.n; i++)
		printf("%10lu %s\n", ki_points_first(p, &p->v.v[i])->count, p->v.v[i].name);
	ki_reading_free(now);
	ki_points_free(&c->points); /* this takes the counters out */
	ki_asked_free(&c->asked);
	ki_target_free(c->t);
}

int main(int argc, char **argv)
{
	static struct counted all[16];
	struct ki_err err = {0};
	int failed = 0, n;

	for (n = 0; !failed && n < argc - 1 && n < 16; n++)
		failed = begin(&all[n], argv[n + 1], &err);
	sleep(!failed);
	for (int i = 0; i < n; i++)
		end(&all[i], &failed, &err);
	if (failed)
		fprintf(stderr, "count: %s\n", err.msg);
	return failed;
}
