// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables [cost]: prints a line for each case, "ok NAME: ..." or "not ok NAME: ..."; exits 0 if all
 * are ok.
 */
#include "tables.h"

#include <string.h>

void session_open(struct session *s)
{
	struct ki_err err = {0};

	if (ki_target_new_live(&s->t, &err))
		die("open", err.msg);
	s->plan = plan_new();
}

void session_close(struct session *s)
{
	ki_plan_free(s->plan);
	ki_target_free(s->t);
}

struct ki_table_map *table_open(struct session *s, const struct ki_table_options *o)
{
	struct ki_table_map *m;
	struct ki_err err = {0};

	if (ki_table_map_new(s->t, o, &m, &err))
		die("table", err.msg);
	return m;
}

void put_all(struct session *s, const char *function, struct ki_snippet *sn, struct ki_node *stmt)
{
	ki_snippet_body(sn, stmt);
	entry_put(s->t, s->plan, function, sn, NULL);
}

void put(struct session *s, const char *function, struct ki_snippet *sn, struct ki_node *stmt)
{
	put_all(s, function, sn, only_mine(sn, stmt));
}

void crowd(unsigned int n, uint64_t each, bool pinned)
{
	struct crowd c;

	crowd_begin(&c, n, each, pinned);
	crowd_end(&c);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "cost")) {
		test_cost();
		return report_status();
	}
	test_exact();
	test_shared();
	test_hostile();
	return report_status();
}
