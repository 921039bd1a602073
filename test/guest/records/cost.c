// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a record of four values costs, all of it: the two jumps, what is pushed, the time stamp.
 * With -icount a tick of the time stamp counter is an instruction. For a function that nothing is
 * known of, and with the registers that are free there.
 */
#include "records.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

#include "kerninst/program.h"

#define READS 1000
#define RUNS  9
#define LIMIT 120

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Ticks of a read of one byte: of some runs the median. */
static double measure(int fd)
{
	uint64_t ticks[RUNS];
	char byte;

	for (int i = 0; i < RUNS; i++) {
		ticks[i] = __rdtsc();
		for (int k = 0; k < READS; k++)
			if (read(fd, &byte, 1) != 1)
				die("read", "/dev/zero");
		ticks[i] = __rdtsc() - ticks[i];
	}
	qsort(ticks, RUNS, sizeof(*ticks), by_value);
	return (double)ticks[RUNS / 2] / READS;
}

static void record_reads(struct session *s, struct ki_program *program)
{
	struct ki_snippet *sn;
	struct ki_node *v[4];
	struct ki_err err = {0};

	if (ki_snippet_new(&sn))
		die("snippet", "no memory");
	for (unsigned int i = 0; i < 4; i++)
		v[i] = ki_expr_param(sn, i);
	ki_snippet_body(sn, ki_stmt_record(sn, ki_ring_number(s->ring), 1, v, 4));
	put(s, "vfs_read", sn, program);
	if (ki_plan_apply(s->plan, s->t, false, &err))
		die("apply", err.msg);
}

void test_cost(void)
{
	const struct ki_ring_options o = {.bytes = 4 << 20};
	int fd = open("/dev/zero", O_RDONLY);
	struct ki_program *program = NULL;
	struct ki_err err = {0};
	static struct session s;
	double without, with;

	for (int known = 0; known < 2; known++) {
		session_open(&s, &o, false);
		if (known && ki_program_build(s.t, NULL, &program, &err))
			die("program", err.msg);
		measure(fd);
		without = measure(fd);
		record_reads(&s, program);
		with = measure(fd);
		report(known ? "a record, free registers known" : "a record, nothing known",
		       with - without > 50 && with - without <= LIMIT &&
			       ki_ring_records(s.ring) >= RUNS * READS && !ki_ring_lost(s.ring),
		       "%.1f instructions, limit %d (%llu records)", with - without, LIMIT,
		       (unsigned long long)ki_ring_records(s.ring));
		ki_program_free(program);
		session_close(&s);
	}
	close(fd);
}
