// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a record of four values costs, all of it: the two jumps, what is pushed, the time stamp.
 * With -icount a tick of the time stamp counter is an instruction. For a function that nothing is
 * known of, and with the registers that are free there.
 */
#include "records.h"

#include <fcntl.h>
#include <unistd.h>

#define LIMIT 120

static void record_reads(struct session *s, struct ki_program *program)
{
	struct ki_snippet *sn = snippet_new();
	struct ki_node *v[4];

	for (unsigned int i = 0; i < 4; i++)
		v[i] = ki_expr_param(sn, i);
	ki_snippet_body(sn, ki_stmt_record(sn, ki_ring_number(s->ring), 1, v, 4));
	entry_put(s->t, s->plan, "vfs_read", sn, program);
	plan_apply(s->plan, s->t);
}

void test_cost(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 4 << 20};
	int fd = open("/dev/zero", O_RDONLY);
	struct ki_program *program = NULL;
	struct ki_err err = {0};
	static struct session s;
	double without, with;

	for (int known = 0; known < 2; known++) {
		session_open(&s, &o, NULL);
		if (known && ki_program_new(s.t, NULL, &program, &err))
			die("program", err.msg);
		ticks_read(fd);
		without = ticks_read(fd);
		record_reads(&s, program);
		with = ticks_read(fd);
		report(known ? "a record, free registers known" : "a record, nothing known",
		       with - without > 50 && with - without <= LIMIT &&
			       ki_ring_records(s.ring) >= TICKS_READS && !ki_ring_lost(s.ring),
		       "%.1f instructions, limit %d (%llu records)", with - without, LIMIT,
		       (unsigned long long)ki_ring_records(s.ring));
		ki_program_free(program);
		session_close(&s);
	}
	close(fd);
}
