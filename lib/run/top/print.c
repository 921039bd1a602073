// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/top.h"

#include <errno.h>
#include <math.h>

#include "out/json.h"
#include "out/table.h"

static void table_row(struct ki_table *t, const struct ki_top_model *m, const struct ki_top_row *r)
{
	char text[KI_TOP_TEXT];

	for (unsigned int i = 0; i < m->ncolumns; i++)
		for (int total = 0; total < 2; total++)
			ki_table_cell(
				t, "%s",
				ki_top_draw_value(&m->columns[i], &r->values[i], total, text));
	ki_table_cell(t, "%s", r->name);
}

static int print_table(const struct ki_top_model *m, size_t rows, const struct ki_page *page)
{
	char titles[2 * KI_TOP_COLUMNS][KI_TOP_TEXT], summary[256];
	struct ki_column columns[2 * KI_TOP_COLUMNS + 1];
	unsigned int n = 0;
	struct ki_table *t;
	int ret;

	for (unsigned int i = 0; i < m->ncolumns; i++)
		for (int total = 0; total < 2; total++, n++)
			columns[n] = (struct ki_column){
				ki_top_draw_title(&m->columns[i], total, titles[n]), KI_ALIGN_RIGHT,
				12};
	columns[n++] = (struct ki_column){"POINT", KI_ALIGN_LEFT, 0};
	if (ki_table_new(&t, columns, n))
		return -ENOMEM;
	ki_top_draw_summary(m, summary, sizeof(summary));
	fprintf(page->out, "%.3f s, the last %.3f; %s\n", m->time, m->seconds, summary);
	for (size_t i = 0; i < rows; i++)
		table_row(t, m, &m->rows[m->order[i]]);
	ret = ki_table_print(t, page->out, page->bold);
	ki_table_free(t);
	return ret || putc('\n', page->out) == EOF || fflush(page->out) ? -EIO : 0;
}

static void json_value(struct ki_json *j, const struct ki_top_column *c,
		       const struct ki_top_value *v)
{
	ki_json_open(j, c->metric, '{');
	ki_json_double(j, "rate", v->rate);
	if (c->seconds || isnan(v->total))
		ki_json_double(j, "total", v->total);
	else
		ki_json_u64(j, "total", (uint64_t)v->total);
	ki_json_close(j);
}

static int json_row(const struct ki_top_view *v, size_t row, FILE *out)
{
	const struct ki_top_model *m = &v->model;
	const struct ki_named_point *p = ki_top_view_point(v, row);
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_double(&j, "time", m->time);
	ki_json_double(&j, "seconds", m->seconds);
	ki_json_str(&j, "point", p->name);
	ki_json_hex(&j, "address", p->addr);
	ki_json_str(&j, "module", ki_symbol_module(p->sym));
	ki_json_str(&j, "function", p->sym->name);
	for (unsigned int i = 0; i < m->ncolumns; i++)
		json_value(&j, &m->columns[i], &m->rows[row].values[i]);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

int ki_top_print(const struct ki_top_view *v, unsigned int rows, const struct ki_page *page)
{
	const struct ki_top_model *m = &v->model;
	size_t n = rows && rows < m->shown ? rows : m->shown;
	int ret = 0;

	if (!page->json)
		return print_table(m, n, page);
	for (size_t i = 0; !ret && i < n; i++)
		ret = json_row(v, m->order[i], page->out);
	return ret || fflush(page->out) ? -EIO : 0;
}
