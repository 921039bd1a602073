// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is put where: the code of points, and what the driver says to it.
 */
#include <errno.h>
#include <inttypes.h>

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

static int code_row(const struct report *r, const struct point *pt)
{
	struct ki_json j;

	if (r->table) {
		fprintf(r->out, "=== %s  0x%" PRIx64 "\n%s\n", pt->name, pt->addr, pt->code);
		return ferror(r->out) ? -EIO : 0;
	}
	json_begin(&j, r, "code", pt);
	ki_json_str(&j, "code", pt->code);
	return json_end(&j);
}

int report_code(struct report *r, const struct points *p)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < p->v.n; i++)
		if (p->v.v[i].code)
			ret = code_row(r, &p->v.v[i]);
	return ret || fflush(r->out) ? -EIO : 0;
}

static int plan_row(const struct report *r, struct ki_table *t, const struct point *pt)
{
	struct ki_json j;

	if (t) {
		ki_table_cell(t, "%s", pt->reason ? ki_reason_tag(pt->reason) : "yes");
		ki_table_cell(t, "%" PRIu32, pt->nchunks);
		ki_table_cell(t, "%s", pt->name);
		ki_table_cell(t, "0x%" PRIx64, pt->addr);
		return 0;
	}
	json_begin(&j, r, "dry_run", pt);
	ki_json_str(&j, "reason", ki_reason_tag(pt->reason));
	ki_json_u64(&j, "places", pt->nchunks);
	return json_end(&j);
}

int report_plan(struct report *r, const struct points *p)
{
	static const struct ki_column columns[] = {
		{"POSSIBLE", KI_ALIGN_LEFT, 0},
		{"PLACES", KI_ALIGN_RIGHT, 0},
		{"POINT", KI_ALIGN_LEFT, 0},
		{"ADDRESS", KI_ALIGN_LEFT, 18},
	};
	struct ki_table *t = NULL;
	int ret = r->table ? ki_table_new(&t, columns, 4) : 0;

	for (size_t i = 0; !ret && i < p->v.n; i++)
		ret = plan_row(r, t, &p->v.v[i]);
	if (!ret && t)
		ret = report_table(r, t);
	ki_table_free(t);
	return ret;
}
