// SPDX-License-Identifier: GPL-2.0-only
#include "cost.h"

#include <errno.h>
#include <stdlib.h>

#include "out/json.h"
#include "out/table.h"

/* A probe that has been passed, or taken out. */
struct row {
	struct ki_dlang_probe probe;
	struct ki_dlang_probe_cost cost;
	char name[512];
};

struct rows {
	struct row *v;
	size_t n;
};

static int by_cost(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->cost.instructions != y->cost.instructions)
		return x->cost.instructions < y->cost.instructions ? 1 : -1;
	return x->probe.id < y->probe.id ? -1 : x->probe.id > y->probe.id;
}

static int gather(const struct ki_dlang *d, struct rows *out)
{
	const size_t n = ki_dlang_probes(d);

	out->n = 0;
	out->v = calloc(n + 1, sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct row *r = &out->v[out->n];

		ki_dlang_probe(d, i, &r->probe);
		ki_dlang_probe_cost(d, i, &r->cost);
		snprintf(r->name, sizeof(r->name), "%s:%s:%s:%s", r->probe.provider,
			 r->probe.module, r->probe.function, r->probe.name);
		out->n += r->cost.hits || r->cost.out_at >= 0;
	}
	qsort(out->v, out->n, sizeof(*out->v), by_cost);
	return 0;
}

static int print_json(const struct rows *rows, const struct ki_dlang_cost *all, FILE *out)
{
	struct ki_json j;
	int ret = 0;

	for (size_t i = 0; !ret && i < rows->n; i++) {
		const struct row *r = &rows->v[i];

		ki_json_init(&j, out);
		ki_json_open(&j, NULL, '{');
		ki_json_str(&j, "type", "cost");
		ki_json_u64(&j, "id", r->probe.id);
		ki_json_str(&j, "probe", r->name);
		ki_json_u64(&j, "hits", r->cost.hits);
		ki_json_double(&j, "instructions", r->cost.instructions);
		if (r->cost.out_at >= 0)
			ki_json_double(&j, "out_at", r->cost.out_at);
		ki_json_close(&j);
		ret = ki_json_end_line(&j);
	}
	if (ret)
		return ret;
	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "overhead");
	ki_json_double(&j, "share", all->share);
	ki_json_double(&j, "seconds", all->seconds);
	ki_json_double(&j, "instructions", all->instructions);
	ki_json_double(&j, "own_seconds", all->own);
	ki_json_double(&j, "machine", all->machine);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static void put(struct ki_table *t, const char *hits, double instructions, double each,
		const struct ki_dlang_cost *all)
{
	const double seconds = all->seconds > 0 ? all->seconds : 1;

	ki_table_cell(t, "%s", hits);
	if (each < 0)
		ki_table_cell(t, "-");
	else
		ki_table_cell(t, "%.1f", each);
	ki_table_cell(t, "%.0f", instructions / seconds);
	ki_table_cell(t, "%.3f%%", 100 * instructions / (seconds * all->machine));
}

static void put_row(struct ki_table *t, const struct row *r, const struct ki_dlang_cost *all)
{
	char hits[24];

	snprintf(hits, sizeof(hits), "%llu", (unsigned long long)r->cost.hits);
	put(t, hits, r->cost.instructions,
	    r->cost.hits ? r->cost.instructions / (double)r->cost.hits : -1, all);
	if (r->cost.out_at >= 0)
		ki_table_cell(t, "%s (until %.3f s)", r->name, r->cost.out_at);
	else
		ki_table_cell(t, "%s", r->name);
}

static int print_table(const struct rows *rows, const struct ki_dlang_cost *all, FILE *out)
{
	static const struct ki_column columns[] = {{"HITS", KI_ALIGN_RIGHT, 10},
						   {"COST/HIT", KI_ALIGN_RIGHT, 0},
						   {"COST/S", KI_ALIGN_RIGHT, 10},
						   {"MACHINE", KI_ALIGN_RIGHT, 0},
						   {"PROBE", KI_ALIGN_LEFT, 0}};
	struct ki_table *t;
	int ret = ki_table_new(&t, columns, sizeof(columns) / sizeof(*columns));

	if (ret)
		return ret;
	for (size_t i = 0; i < rows->n; i++)
		put_row(t, &rows->v[i], all);
	put(t, "-", all->share * all->machine * all->seconds, -1, all);
	ki_table_cell(t, "overhead, with %.3f s of this process", all->own);
	fprintf(out, "\n");
	ret = ki_table_print(t, out, false);
	ki_table_free(t);
	return ret;
}

int cost_print(const struct ki_dlang *d, FILE *out, bool json)
{
	struct ki_dlang_cost all;
	struct rows rows;
	int ret;

	if (!ki_dlang_cost(d, &all))
		return 0;
	ret = gather(d, &rows);
	if (!ret)
		ret = json ? print_json(&rows, &all, out) : print_table(&rows, &all, out);
	free(rows.v);
	return ret;
}
