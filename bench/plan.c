// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan THREADS FILE SYSTEM_MAP: one measurement for bench/analysis.sh: a counter at the beginning
 * of every block of an image, planned as for the running kernel, but for asking the driver. Prints
 *
 *   seconds  peak-bytes  chunks  analysis  windows  points  plan
 *
 * the last four in seconds of processor time, of all threads together.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "kerninst/program.h"
#include "kerninst/splice.h"

enum { WINDOWS, PLAN, PHASES };

struct work {
	struct ki_plan *plan;
	struct ki_spans *spans; /* of each function */
	atomic_ullong ns[PHASES];
};

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void spent(struct work *w, int phase, double *since)
{
	double now = seconds(CLOCK_THREAD_CPUTIME_ID);

	w->ns[phase] += (unsigned long long)((now - *since) * 1e9);
	*since = now;
}

static void die(const struct ki_err *err)
{
	fprintf(stderr, "plan: %s\n", err->msg);
	exit(1);
}

static int find_windows(void *arg, size_t i, const struct ki_function *fn)
{
	double since = seconds(CLOCK_THREAD_CPUTIME_ID);
	struct work *w = arg;
	int ret;

	if (!fn || fn->reason)
		return 0;
	ret = ki_spans_find(fn, &w->spans[i], NULL);
	spent(w, WINDOWS, &since);
	return ret;
}

static int plan_block(struct work *w, size_t i, const struct ki_function *fn, uint32_t block)
{
	static const struct ki_code counter = {.len = 9,
					       .nfix = 1,
					       .fix = {{.kind = KI_FIX_PERCPU, .off = 5}},
					       .code = {0x65, 0x48, 0xff, 0x04, 0x25}};
	struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = block};
	struct ki_place *places = NULL;
	size_t n = 0;
	uint32_t id;
	int ret = ki_point_places(fn, &w->spans[i], &pt, &places, &n, NULL);

	/* What is refused has a reason, and is not in the plan. */
	if (!ret && n && !places[0].reason)
		ki_plan_add(w->plan, &(struct ki_insertion){fn, &w->spans[i], &places[0], 0},
			    &counter, &id, NULL);
	free(places);
	return ret;
}

static int plan_function(void *arg, size_t i, const struct ki_function *fn)
{
	double since = seconds(CLOCK_THREAD_CPUTIME_ID);
	struct work *w = arg;
	int ret = 0;

	for (uint32_t b = 0; fn && !fn->reason && b < fn->nblocks && !ret; b++)
		ret = plan_block(w, i, fn, b);
	ki_spans_free(&w->spans[i]);
	spent(w, PLAN, &since);
	return ret;
}

static size_t all_functions(struct ki_target *t, const struct ki_symbol ***out)
{
	size_t n, count = 0;
	const struct ki_symbol *s = ki_target_symbols(t, &n);

	*out = calloc(n + 1, sizeof(**out));
	for (size_t i = 0; *out && i < n; i++)
		if (!s[i].alias)
			(*out)[count++] = &s[i];
	return count;
}

int main(int argc, char **argv)
{
	const struct ki_symbol **syms;
	struct ki_err err = {0};
	struct work w = {0};
	struct ki_functions_job job = {.each = find_windows, .take = plan_function, .arg = &w};
	struct ki_target *t;
	double start, cpu, all;
	struct rusage ru;
	size_t n;

	if (argc != 4) {
		fprintf(stderr, "usage: plan THREADS FILE SYSTEM_MAP\n");
		return 2;
	}
	if (ki_target_new_with_map(argv[2], argv[3], &t, &err))
		die(&err);
	start = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	job.n = n = all_functions(t, &syms);
	w.spans = calloc(n + 1, sizeof(*w.spans));
	if (!syms || !w.spans || ki_plan_new(&w.plan))
		return 1;
	job.syms = syms;
	job.threads = (unsigned int)atoi(argv[1]);
	if (ki_functions_analyze(t, &job, &err))
		die(&err);
	all = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	getrusage(RUSAGE_SELF, &ru);
	printf("%.4f\t%llu\t%zu", seconds(CLOCK_MONOTONIC) - start,
	       (unsigned long long)ru.ru_maxrss << 10, ki_plan_chunks(w.plan));
	for (int i = 0; i < PHASES; i++)
		all -= (double)w.ns[i] / 1e9;
	printf("\t%.4f\t%.4f\t%.4f\n", all, (double)w.ns[WINDOWS] / 1e9, (double)w.ns[PLAN] / 1e9);
	ki_plan_free(w.plan);
	free(w.spans);
	free(syms);
	ki_target_free(t);
	return 0;
}
