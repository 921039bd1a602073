// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is put where: the code of points, and what the driver says to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "out/json.h"
#include "out/table.h"
#include "kerninst/measured.h"

static void json_begin(struct ki_json *j, const struct ki_measured *r, const char *metric,
		       const struct ki_named_point *pt)
{
	ki_json_init(j, r->out);
	ki_json_open(j, NULL, '{');
	ki_json_str(j, "metric", metric);
	ki_json_str(j, "point", pt->name);
	ki_json_hex(j, "address", pt->addr);
}

static int json_end(struct ki_json *j)
{
	ki_json_close(j);
	return ki_json_end_line(j);
}

static int code_row(const struct ki_measured *r, const struct ki_points *p,
		    const struct ki_named_point *pt, const struct ki_cell *c, struct ki_err *err)
{
	unsigned int most = ki_measure_cost(p->measure, c->curve);
	struct ki_json j;
	char *text;
	int ret = ki_measure_listing(p->measure, c->curve, &text, err);

	if (ret)
		return ret;
	if (r->table) {
		fprintf(r->out, "=== %s  %s%s%s  at most %u instructions\n%s\n", pt->name,
			c->metric->name, r->split ? "  " : "",
			r->split ? ki_points_part(p, c->part) : "", most, text);
		ret = ferror(r->out) ? -EIO : 0;
	} else {
		json_begin(&j, r, "code", pt);
		ki_json_str(&j, "of", c->metric->name);
		if (r->split)
			ki_json_str(&j, "part", ki_points_part(p, c->part));
		ki_json_u64(&j, "instructions", most);
		ki_json_str(&j, "code", text);
		ret = json_end(&j);
	}
	free(text);
	return ret;
}

int ki_measured_code(struct ki_measured *r, const struct ki_points *p, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; !ret && k < p->v.v[i].cell + p->v.v[i].ncells; k++)
			if (!p->cells.v[k].reason)
				ret = code_row(r, p, &p->v.v[i], &p->cells.v[k], err);
	if (!ret && !fflush(r->out))
		return 0;
	return ki_err_set(err, -EIO, 0, "writing the result failed");
}

static void put_prediction(struct ki_table *t, const struct ki_points *p,
			   const struct ki_named_point *pt, const struct ki_cell *c,
			   const struct ki_prediction *pr)
{
	double hits = pr->hits[pt - p->v.v], cost = ki_prediction_cost(pr, p, pt, c);

	if (c->reason || isnan(hits)) {
		for (int i = 0; i < 4; i++)
			ki_table_cell(t, "-");
		return;
	}
	ki_table_cell(t, "%.1f", hits);
	ki_table_cell(t, "%.1f", ki_prediction_pass(p, c));
	ki_table_cell(t, "%.0f", cost);
	ki_table_cell(t, "%.3f%%", 100 * cost / pr->machine);
}

static void json_prediction(struct ki_json *j, const struct ki_points *p,
			    const struct ki_named_point *pt, const struct ki_cell *c,
			    const struct ki_prediction *pr)
{
	if (c->reason)
		return;
	ki_json_double(j, "hits_per_second", pr->hits[pt - p->v.v]);
	ki_json_double(j, "instructions", ki_prediction_pass(p, c));
	ki_json_double(j, "cost_per_second", ki_prediction_cost(pr, p, pt, c));
}

static int plan_row(const struct ki_measured *r, struct ki_table *t, const struct ki_points *p,
		    const struct ki_named_point *pt, const struct ki_cell *c,
		    const struct ki_prediction *pr)
{
	struct ki_json j;

	if (t) {
		ki_table_cell(t, "%s", c->reason ? ki_reason_tag(c->reason) : "yes");
		ki_table_cell(t, "%s%s%s", c->metric->name, r->split ? " " : "",
			      r->split ? ki_points_part(p, c->part) : "");
		if (pr)
			put_prediction(t, p, pt, c, pr);
		ki_table_cell(t, "%s", pt->name);
		ki_table_cell(t, "0x%" PRIx64, pt->addr);
		return 0;
	}
	json_begin(&j, r, "dry_run", pt);
	ki_json_str(&j, "of", c->metric->name);
	if (r->split)
		ki_json_str(&j, "part", ki_points_part(p, c->part));
	ki_json_str(&j, "reason", ki_reason_tag(c->reason));
	if (pr)
		json_prediction(&j, p, pt, c, pr);
	return json_end(&j);
}

static int overhead_row(const struct ki_measured *r, struct ki_table *t, const struct ki_points *p,
			const struct ki_prediction *pr)
{
	double all = ki_prediction_all(pr, p);
	struct ki_json j;

	if (t) {
		for (int i = 0; i < 4; i++)
			ki_table_cell(t, "-");
		ki_table_cell(t, "%.0f", all);
		ki_table_cell(t, "%.3f%%", 100 * all / pr->machine);
		ki_table_cell(t, "overhead");
		ki_table_cell(t, "-");
		return 0;
	}
	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", "overhead");
	ki_json_str(&j, "point", "all");
	ki_json_bool(&j, "predicted", true);
	ki_json_double(&j, "value", all / pr->machine);
	ki_json_double(&j, "cost_per_second", all);
	ki_json_double(&j, "machine", pr->machine);
	ki_json_double(&j, "seconds", pr->seconds);
	return json_end(&j);
}

static int plan_table(bool predicted, struct ki_table **out)
{
	static const struct ki_column all[] = {
		{"POSSIBLE", KI_ALIGN_LEFT, 0}, {"METRIC", KI_ALIGN_LEFT, 0},
		{"HITS/S", KI_ALIGN_RIGHT, 12}, {"EACH", KI_ALIGN_RIGHT, 6},
		{"COST/S", KI_ALIGN_RIGHT, 10}, {"MACHINE", KI_ALIGN_RIGHT, 8},
		{"POINT", KI_ALIGN_LEFT, 0},	{"ADDRESS", KI_ALIGN_LEFT, 18},
	};
	const struct ki_column few[] = {all[0], all[1], all[6], all[7]};

	return predicted ? ki_table_new(out, all, 8) : ki_table_new(out, few, 4);
}

static int show_plan(struct ki_measured *r, const struct ki_points *p,
		     const struct ki_prediction *pr)
{
	struct ki_table *t = NULL;
	int ret = r->table ? plan_table(pr != NULL, &t) : 0;

	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; !ret && k < p->v.v[i].cell + p->v.v[i].ncells; k++)
			ret = plan_row(r, t, p, &p->v.v[i], &p->cells.v[k], pr);
	if (!ret && pr)
		ret = overhead_row(r, t, p, pr);
	if (!ret && t)
		ret = ki_measured_table(r, t);
	ki_table_free(t);
	return ret || fflush(r->out) ? -EIO : 0;
}

int ki_measured_dry(struct ki_measured *r, struct ki_points *p, const struct ki_prediction *pr,
		    struct ki_err *err)
{
	int ret = ki_measure_check(p->measure, err);

	if (ret)
		return ret;
	ki_points_note_refusals(p);
	return show_plan(r, p, pr) ? ki_err_set(err, -EIO, 0, "writing the result failed") : 0;
}
