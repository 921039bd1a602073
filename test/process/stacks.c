// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of a process's threads, as the library reads them.
 *
 * stacks PID [TIMES]: of the last reading "thread TID CALL whole|part|stuck", and for each frame
 * "frame LEVEL ADDR FRAME MODULE NAME"; on stderr what each reading took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kerninst/thread_stacks.h"

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void print(const struct ki_target *t, const struct ki_thread_stack *s)
{
	printf("thread %d %lld %s\n", s->tid, (long long)s->call,
	       s->stuck	  ? "stuck"
	       : s->whole ? "whole"
			  : "part");
	for (size_t i = 0; i < s->n; i++) {
		const struct ki_symbol *sym = ki_stack_frame_symbol(t, &s->v[i]);

		printf("frame %zu %#llx %#llx %s %s\n", i, (unsigned long long)s->v[i].addr,
		       (unsigned long long)s->v[i].frame, sym ? sym->module : "-",
		       sym ? sym->name : "-");
	}
}

int main(int argc, char **argv)
{
	struct ki_thread_stacks all = {0};
	struct ki_stack_reader *r = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = ki_target_new_process(argc > 1 ? atoi(argv[1]) : 0, &t, &err);

	if (!ret)
		ret = ki_stack_reader_new(t, &r, &err);
	for (int i = argc > 2 ? atoi(argv[2]) : 1; !ret && i > 0; i--) {
		const double before = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);

		ki_thread_stacks_free(&all);
		ret = ki_stack_reader_read(r, &all, &err);
		fprintf(stderr,
			"%zu threads in %.0f us, %.0f of a CPU, one of them held for %.0f us\n",
			all.n, now(CLOCK_MONOTONIC) - before, now(CLOCK_PROCESS_CPUTIME_ID) - cpu,
			(double)all.held_ns / 1e3);
	}
	for (size_t i = 0; !ret && i < all.n; i++)
		print(t, &all.v[i]);
	if (ret)
		fprintf(stderr, "stacks: %s\n", err.msg);
	ki_thread_stacks_free(&all);
	ki_stack_reader_free(r);
	ki_target_free(t);
	return ret ? 1 : 0;
}
