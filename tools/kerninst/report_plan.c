// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is put where: the code of points, and what the driver says to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "out/json.h"
#include "report.h"

static void json_begin(struct ki_json *j, const struct report *r, const char *metric,
		       const struct point *pt)
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

static int code_row(const struct report *r, const struct points *p, const struct point *pt,
		    const struct cell *c, struct ki_err *err)
{
	unsigned int most = ki_measure_cost(p->measure, c->curve);
	struct ki_json j;
	char *text;
	int ret = ki_measure_listing(p->measure, c->curve, &text, err);

	if (ret)
		return ret;
	if (r->table) {
		fprintf(r->out, "=== %s  %s  at most %u instructions\n%s\n", pt->name,
			c->metric->name, most, text);
		ret = ferror(r->out) ? -EIO : 0;
	} else {
		json_begin(&j, r, "code", pt);
		ki_json_str(&j, "of", c->metric->name);
		ki_json_u64(&j, "instructions", most);
		ki_json_str(&j, "code", text);
		ret = json_end(&j);
	}
	free(text);
	return ret;
}

int report_code(struct report *r, const struct points *p, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; !ret && k < p->v.v[i].cell + p->v.v[i].ncells; k++)
			if (!p->cells.v[k].reason)
				ret = code_row(r, p, &p->v.v[i], &p->cells.v[k], err);
	return ret ? ret : fflush(r->out) ? -EIO : 0;
}

static int plan_row(const struct report *r, struct ki_table *t, const struct point *pt,
		    const struct cell *c)
{
	struct ki_json j;

	if (t) {
		ki_table_cell(t, "%s", c->reason ? ki_reason_tag(c->reason) : "yes");
		ki_table_cell(t, "%s", c->metric->name);
		ki_table_cell(t, "%s", pt->name);
		ki_table_cell(t, "0x%" PRIx64, pt->addr);
		return 0;
	}
	json_begin(&j, r, "dry_run", pt);
	ki_json_str(&j, "of", c->metric->name);
	ki_json_str(&j, "reason", ki_reason_tag(c->reason));
	return json_end(&j);
}

int report_plan(struct report *r, const struct points *p)
{
	static const struct ki_column columns[] = {
		{"POSSIBLE", KI_ALIGN_LEFT, 0},
		{"METRIC", KI_ALIGN_LEFT, 0},
		{"POINT", KI_ALIGN_LEFT, 0},
		{"ADDRESS", KI_ALIGN_LEFT, 18},
	};
	struct ki_table *t = NULL;
	int ret = r->table ? ki_table_new(&t, columns, 4) : 0;

	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; !ret && k < p->v.v[i].cell + p->v.v[i].ncells; k++)
			ret = plan_row(r, t, &p->v.v[i], &p->cells.v[k]);
	if (!ret && t)
		ret = report_table(r, t);
	ki_table_free(t);
	return ret || fflush(r->out) ? -EIO : 0;
}
