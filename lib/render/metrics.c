// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>

#include "kerninst/catalog.h"
#include "kerninst/metric.h"
#include "out/json.h"
#include "out/table.h"

static const char *const forms[KI_FORMS] = {
	[KI_FORM_TOTAL] = "total",
	[KI_FORM_MEAN] = "mean",
	[KI_FORM_HISTOGRAM] = "log2",
};

/* "yes", or why it cannot be measured here; "?": the kernel does not tell. */
static const char *here(const struct ki_metric *m, struct ki_err *err)
{
	if (!ki_metric_check(m, err))
		return "yes";
	return err->reason ? err->msg : "?";
}

static int print_json(const struct ki_metric *m, FILE *out)
{
	char derived[KI_METRIC_DERIVED];
	struct ki_err err = {0};
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "name", m->name);
	ki_json_str(&j, "unit", ki_unit_name((enum ki_unit)m->unit));
	ki_json_str(&j, "form", forms[m->form]);
	ki_json_bool(&j, "lasts", m->lasts);
	ki_json_str(&j, "text", m->text);
	ki_metric_derived(m, derived, sizeof(derived));
	if (*derived)
		ki_json_str(&j, "derived", derived);
	ki_json_str(&j, "code", m->code);
	ki_json_str(&j, "here", here(m, &err));
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int print_all_json(FILE *out)
{
	const struct ki_metric *m;

	int ret = 0;

	for (size_t i = 0; !ret && (m = ki_metric_at(i)); i++)
		ret = print_json(m, out);
	return ret;
}

static int print_table(const struct ki_page *page)
{
	static const struct ki_column columns[] = {
		{"METRIC", KI_ALIGN_LEFT, 0},  {"UNIT", KI_ALIGN_LEFT, 0},
		{"FORM", KI_ALIGN_LEFT, 0},    {"MEANING", KI_ALIGN_LEFT, 0},
		{"DERIVED", KI_ALIGN_LEFT, 0}, {"CODE", KI_ALIGN_LEFT, 0},
		{"HERE", KI_ALIGN_LEFT, 0}};
	const struct ki_metric *m;
	struct ki_table *t;
	int ret;

	if (ki_table_new(&t, columns, page->verbose ? 7 : 4))
		return -ENOMEM;
	for (size_t i = 0; (m = ki_metric_at(i)); i++) {
		const char *unit = ki_unit_name((enum ki_unit)m->unit);

		ki_table_cell(t, "%s", m->name);
		ki_table_cell(t, "%s", *unit ? unit : "-");
		ki_table_cell(t, "%s", forms[m->form]);
		ki_table_cell(t, "%s", m->text);
		if (page->verbose) {
			char derived[KI_METRIC_DERIVED];
			struct ki_err err = {0};

			ki_metric_derived(m, derived, sizeof(derived));
			ki_table_cell(t, "%s", *derived ? derived : "-");
			ki_table_cell(t, "%s", m->code);
			ki_table_cell(t, "%s", here(m, &err));
		}
	}
	ret = ki_table_print(t, page->out, page->bold);
	ki_table_free(t);
	return ret;
}

int ki_metrics_show(const struct ki_page *page)
{
	return page->json ? print_all_json(page->out) : print_table(page);
}
