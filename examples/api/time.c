// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the calls of a function take, and how they are spread, for a second.
 *
 * usage: time FUNCTION
 */
#include <stdio.h>
#include <unistd.h>

#include "kerninst/points.h"
#include "kerninst/value_text.h"

static int measure(struct ki_points *p, struct ki_err *err)
{
	struct ki_reading *now = NULL;
	int ret = ki_measure_start(p->measure, err);

	sleep(1);
	ret = ret || ki_measure_read(p->measure, &now, err);
	if (!ret)
		ki_points_read(p, NULL, now);
	ki_reading_free(now);
	return ret;
}

static void show(const struct ki_points *p)
{
	const struct ki_named_point *pt = &p->v.v[0];
	const struct ki_cell *c = &p->cells.v[pt->cell];
	char text[KI_VALUE_TEXT];

	for (unsigned int i = 0; i < 2; i++)
		printf("%s %s: %s\n", pt->name, c[i].metric->name, ki_value_text(&c[i], -1, text));
	ki_value_draw(stdout, pt, &c[2], NULL);
}

int main(int argc, char **argv)
{
	struct ki_points_how how = {.size = sizeof(how)};
	struct ki_points points = {0};
	struct ki_asked asked = {0};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = ki_target_new_live(&t, &err) ||
		  ki_points_ask(&asked, argc > 1 ? argv[1] : "", &err) ||
		  ki_points_take_metrics(&how.wanted, "calls,walltime/call,latency", &err) ||
		  ki_points_resolve(&points, t, &asked, &how, &err) || measure(&points, &err);

	if (ret)
		fprintf(stderr, "time: %s\n", err.msg);
	else
		show(&points);
	ki_points_free(&points);
	ki_asked_free(&asked);
	ki_target_free(t);
	return ret != 0;
}
