// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many of the processor's or the kernel's events fall into the calls of a function, in a
 * second: cycles, instructions, cache-misses, page-faults ... (kerninst metrics has all names).
 *
 * usage: events FUNCTION EVENT[,EVENT...]	events vfs_read page-faults,context-switches
 */
#include <stdio.h>
#include <unistd.h>

#include "kerninst/points.h"
#include "kerninst/value_text.h"

int main(int argc, char **argv)
{
	struct ki_points_how how = {.size = sizeof(how)};
	struct ki_points points = {0};
	struct ki_asked asked = {0};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	char text[KI_VALUE_TEXT];
	int ret = ki_target_new_live(&t, &err);

	if (!ret)
		ret = ki_points_ask(&asked, argc > 1 ? argv[1] : "", &err);
	if (!ret)
		ret = ki_points_take_metrics(&how.wanted, argc > 2 ? argv[2] : "cycles", &err);
	if (!ret)
		ret = ki_points_resolve(&points, t, &asked, &how, &err);
	if (!ret)
		ret = ki_measure_start(points.measure, &err) || sleep(1) ||
		      ki_points_take(&points, &err);
	for (unsigned int i = 0; !ret && i < points.v.v->ncells; i++) {
		const struct ki_cell *c = &points.cells.v[points.v.v->cell + i];

		printf("%s %s: %s\n", points.v.v->name, c->metric->name,
		       c->reason ? ki_reason_tag(c->reason) : ki_value_text(c, -1, text));
	}
	if (ret)
		fprintf(stderr, "events: %s\n", err.msg);
	ki_points_free(&points);
	ki_asked_free(&asked);
	ki_target_free(t);
	return ret != 0;
}
