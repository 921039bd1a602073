// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a change of a table costs, all of it: the two jumps, what is pushed, the row found. With
 * -icount a tick of the time stamp counter is an instruction.
 */
#include "tables.h"

#include <fcntl.h>
#include <unistd.h>

static void one(const char *name, unsigned int keys, bool shared, enum ki_table_op op, int fd,
		double limit)
{
	uint8_t merge[6];
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = keys, .values = 6, .shared = shared, .merge = merge};
	struct ki_snippet *sn = snippet_new();
	struct ki_node *key[] = {ki_expr_fact(sn, KI_FACT_PID), ki_expr_param(sn, 2)};
	struct ki_table_map *m;
	struct ki_table_var t;
	double without, with;
	struct session s;

	session_open(&s);
	ki_table_stats_merge(merge);
	m = table_open(&s, &o);
	t = ki_table_var_of(m, "t");
	put_all(&s, "vfs_read", sn,
		ki_stmt_table(sn, op, &(struct ki_row_value){&t, 0, key, keys},
			      ki_expr_const(sn, KI_I64, 1)));
	ticks_read(fd);
	without = ticks_read(fd);
	plan_apply(s.plan, s.t);
	with = ticks_read(fd);
	report(name, with - without > 30 && with - without <= limit && !ki_table_lost(m),
	       "%.1f instructions, limit %.0f", with - without, limit);
	ki_table_map_free(m);
	session_close(&s);
}

void test_cost(void)
{
	int fd = open("/dev/zero", O_RDONLY);

	one("a sum by thread", 1, false, KI_TABLE_ADD, fd, 140);
	one("count, sum, minmax, squares by two keys", 2, false, KI_TABLE_STATS, fd, 190);
	one("a sum by thread in a shared table", 1, true, KI_TABLE_ADD, fd, 260);
	close(fd);
}
