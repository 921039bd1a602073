// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a function was called with, and what it has returned, for a second, as it comes.
 *
 * usage: params FUNCTION
 */
#include <stdio.h>
#include <unistd.h>

#include "kerninst/points.h"
#include "kerninst/record.h"

enum { CALLED = 1, RETURNED };

/* What is executed at the entry, and at each return: a record of values into the ring. */
static int at_entry(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	struct ki_node *values[] = {ki_expr_fact(s, KI_FACT_PID), ki_expr_param(s, 0),
				    ki_expr_param(s, 1), ki_expr_param(s, 2)};

	*stmt = ki_stmt_record(s, ki_ring_number(arg), CALLED, values, 4);
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

static int at_exit_of_it(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	struct ki_node *values[] = {ki_expr_fact(s, KI_FACT_PID), ki_expr_fact(s, KI_FACT_RETVAL)};

	*stmt = ki_stmt_record(s, ki_ring_number(arg), RETURNED, values, 2);
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

static ki_measure_action *action(void *arg, const struct ki_named_point *p, void **action_arg)
{
	*action_arg = arg;
	return p && p->at.kind == KI_POINT_ENTRY ? at_entry : p ? at_exit_of_it : NULL;
}

static int show(void *out, const struct ki_record *rec, const uint64_t *v, unsigned int cpu)
{
	(void)cpu;
	if (rec->id == RETURNED)
		return fprintf(out, "%llu = 0x%llx\n", (unsigned long long)v[0],
			       (unsigned long long)v[1]) < 0;
	return fprintf(out, "%llu (0x%llx, 0x%llx, 0x%llx)\n", (unsigned long long)v[0],
		       (unsigned long long)v[1], (unsigned long long)v[2],
		       (unsigned long long)v[3]) < 0;
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
	char returns[300];
	int ret = ki_target_new_live(&t, &err) || ki_ring_map_new(t, &ring, &map, &err) ||
		  ki_points_ask(&asked, argc > 1 ? argv[1] : "", &err);

	snprintf(returns, sizeof(returns), "%s:exit", argc > 1 ? argv[1] : "");
	ret = ret || ki_points_ask(&asked, returns, &err);

	how.arg = map;
	ret = ret || ki_points_resolve(&points, t, &asked, &how, &err) ||
	      ki_measure_start(points.measure, &err) || sleep(1) ||
	      ki_measure_stop(points.measure, &err) || ki_ring_read(map, show, stdout) < 0;
	if (ret)
		fprintf(stderr, "params: %s\n", err.msg);
	ki_points_free(&points);
	ki_asked_free(&asked);
	ki_ring_map_free(map);
	ki_target_free(t);
	return ret != 0;
}
