// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record each time that a point is reached, for a second: who was there, on which CPU.
 *
 * usage: record POINT
 */
#include <stdio.h>
#include <unistd.h>

#include "kerninst/points.h"
#include "kerninst/record.h"

/* What is executed at the point: a record of one value into the ring. */
static int make(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	struct ki_node *values[] = {ki_expr_fact(s, KI_FACT_TGID)};

	*stmt = ki_stmt_record(s, ki_ring_number(arg), 1, values, 1);
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

static ki_measure_action *action(void *arg, const struct ki_named_point *p, void **action_arg)
{
	*action_arg = p ? arg : NULL;
	return make;
}

static int show(void *out, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	return fprintf(out, "%llu pid %llu cpu %u\n", (unsigned long long)rec->tsc,
		       (unsigned long long)values[0], cpu) < 0;
}

int main(int argc, char **argv)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("count")}, .n = 1},
				    .moving = KI_MOVING_NEVER,
				    .action = action};
	const struct ki_ring_options ring = {.size = sizeof(ring), .bytes = 1 << 20};
	struct ki_points points = {0};
	struct ki_asked asked = {0};
	struct ki_ring_map *map = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = ki_target_new_live(&t, &err) || ki_ring_map_new(t, &ring, &map, &err) ||
		  ki_points_ask(&asked, argc > 1 ? argv[1] : "", &err);

	how.arg = map;
	ret = ret || ki_points_resolve(&points, t, &asked, &how, &err) ||
	      ki_measure_start(points.measure, &err) || sleep(1) ||
	      ki_measure_stop(points.measure, &err) || ki_ring_read(map, show, stdout) < 0;
	if (ret)
		fprintf(stderr, "record: %s\n", err.msg);
	ki_points_free(&points);
	ki_asked_free(&asked);
	ki_ring_map_free(map);
	ki_target_free(t);
	return ret != 0;
}
