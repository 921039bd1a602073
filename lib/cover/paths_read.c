// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What has been counted of paths, in the kernel or in a process.
 */
#include <errno.h>
#include <stdlib.h>

#include "cover/paths_live.h"

const struct ki_path_numbers *ki_paths_numbers(const struct ki_paths *p)
{
	return p->numbers;
}

const struct ki_function *ki_paths_function(const struct ki_paths *p)
{
	return p->fn;
}

size_t ki_paths_probes(const struct ki_paths *p)
{
	return ki_plan_chunks(p->plan);
}

const struct ki_splice_process *ki_paths_process(const struct ki_paths *p)
{
	return p->process;
}

static uint64_t counter(const struct ki_paths *p, uint32_t number)
{
	return p->process ? ki_process_read(p->process, number)
			  : ki_counter_read(p->counters, number);
}

static int most_first(const void *x, const void *y)
{
	const struct ki_path_count *a = x, *b = y;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int read_counters(const struct ki_paths *p, struct ki_path_counts *out)
{
	out->v = calloc(p->numbers->count + 1, sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->numbers->count; i++) {
		uint64_t n = counter(p, p->first_count + i);

		if (n)
			out->v[out->n++] = (struct ki_path_count){i, n};
	}
	return 0;
}

static int read_table(const struct ki_paths *p, struct ki_path_counts *out, struct ki_err *err)
{
	struct ki_table_reading *r;
	int ret = ki_table_read(p->table, &r, err);

	if (ret)
		return ret;
	out->lost = r->lost;
	out->v = calloc(r->n + 1, sizeof(*out->v));
	ret = out->v ? 0 : -ENOMEM;
	for (size_t i = 0; !ret && i < r->n; i++)
		out->v[out->n++] =
			(struct ki_path_count){*ki_table_key(r, i), *ki_table_values(r, i)};
	ki_table_reading_free(r);
	return ret;
}

int ki_paths_read(struct ki_paths *p, struct ki_path_counts *out, struct ki_err *err)
{
	int ret;

	*out = (struct ki_path_counts){0};
	ret = p->table ? read_table(p, out, err) : read_counters(p, out);
	if (ret)
		return ki_err_set(err, ret, 0, "paths: out of memory");
	qsort(out->v, out->n, sizeof(*out->v), most_first);
	for (size_t i = 0; i < out->n; i++)
		out->taken += out->v[i].count;
	out->begun = counter(p, p->first_own + BEGUN);
	out->left = counter(p, p->first_own + LEFT);
	out->deep = counter(p, p->first_own + DEEP);
	return 0;
}
