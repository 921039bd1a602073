// SPDX-License-Identifier: GPL-2.0-only
#include "openmetrics.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct text *out;
	bool open;
};

static const struct {
	const char *form, *type, *suffix;
} forms[] = {
	{"total", "counter", "_total"},
	{"mean", "gauge", ""},
	{"histogram", "histogram", ""},
};

static const struct {
	const char *unit, *name;
} units[] = {{"s", "seconds"}, {"threads", "threads"}};

static size_t form_of(const struct openmetrics_row *row)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!strcmp(forms[i].form, row->form))
			return i;
	return 0;
}

static const char *unit_of(const struct openmetrics_row *row)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].unit, row->unit))
			return units[i].name;
	return NULL;
}

/* "walltime/call" in seconds: kerninst_walltime_per_call_seconds. */
static void put_name(struct writer *w, const struct openmetrics_row *row, const char *suffix)
{
	const char *unit = unit_of(row);

	text_str(w->out, "kerninst_");
	for (const char *s = row->metric; *s; s++) {
		if (*s == '/')
			text_str(w->out, "_per_");
		else
			text_put(w->out, isalnum((unsigned char)*s) ? s : "_", 1);
	}
	if (unit)
		text_printf(w->out, "_%s", unit);
	text_str(w->out, suffix);
}

/* In the text format the counter's family has the suffix too. */
static void put_about(struct writer *w, const struct openmetrics_row *row)
{
	size_t form = form_of(row);
	const char *suffix = w->open ? "" : forms[form].suffix;

	text_str(w->out, "# TYPE ");
	put_name(w, row, suffix);
	text_printf(w->out, " %s\n", forms[form].type);
	if (w->open && unit_of(row)) {
		text_str(w->out, "# UNIT ");
		put_name(w, row, suffix);
		text_printf(w->out, " %s\n", unit_of(row));
	}
	text_str(w->out, "# HELP ");
	put_name(w, row, suffix);
	text_printf(w->out, " %s\n", row->help);
}

static void put_label(struct writer *w, const char *name, const char *value)
{
	text_printf(w->out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			text_str(w->out, "\\");
		if (*value == '\n')
			text_str(w->out, "\\n");
		else
			text_put(w->out, value, 1);
	}
	text_str(w->out, "\"");
}

static void put_sample(struct writer *w, const struct openmetrics_row *row, const char *suffix,
		       const char *le, double value)
{
	const struct {
		const char *name, *value;
	} labels[] = {{"{function", row->function},
		      {",module", row->module},
		      {",point", *row->point ? row->point : "entry"},
		      {",predicate", row->predicate ? row->predicate : ""}};

	put_name(w, row, suffix);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		put_label(w, labels[i].name, labels[i].value);
	if (row->cpu >= 0)
		text_printf(w->out, ",cpu=\"%d\"", row->cpu);
	if (le)
		put_label(w, ",le", le);
	text_str(w->out, "} ");
	if (isnan(value))
		text_str(w->out, "NaN");
	else
		text_double(w->out, value);
	text_str(w->out, "\n");
}

/* Bucket k holds up to 2^k - 1 ns. */
static void put_histogram(struct writer *w, const struct openmetrics_row *row)
{
	double scale = unit_of(row) ? 1e-9 : 1, all = 0;
	unsigned int last = OPENMETRICS_BUCKETS - 1;
	char le[32];

	while (last > 1 && row->buckets[last] <= 0)
		last--;
	for (unsigned int k = 0; k <= last; k++) {
		all += row->buckets[k];
		snprintf(le, sizeof(le), "%.10g", (ldexp(1, (int)k) - 1) * scale);
		put_sample(w, row, "_bucket", le, all);
	}
	put_sample(w, row, "_bucket", "+Inf", all);
	if (!w->open)
		put_sample(w, row, "_count", NULL, all);
}

static int by_labels(const void *a, const void *b)
{
	const struct openmetrics_row *x = a, *y = b;
	const char *const p[] = {x->metric, x->module, x->function, x->point,
				 x->predicate ? x->predicate : ""};
	const char *const q[] = {y->metric, y->module, y->function, y->point,
				 y->predicate ? y->predicate : ""};
	int c = 0;

	for (size_t i = 0; !c && i < sizeof(p) / sizeof(*p); i++)
		c = strcmp(p[i], q[i]);
	return c ? c : x->cpu - y->cpu;
}

static int by_age(const void *a, const void *b)
{
	const struct openmetrics_row *x = a, *y = b;
	int c = by_labels(a, b);

	return c ? c : (x->since > y->since) - (x->since < y->since);
}

static void put_all(struct writer *w, const struct openmetrics_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct openmetrics_row *row = &rows[i];

		if (i && !by_labels(row, row - 1))
			continue;
		if (!i || strcmp(row->metric, row[-1].metric) != 0)
			put_about(w, row);
		if (row->buckets)
			put_histogram(w, row);
		else
			put_sample(w, row, forms[form_of(row)].suffix, NULL, row->value);
	}
	if (w->open)
		text_str(w->out, "# EOF\n");
}

void openmetrics_reply(struct openmetrics_row *rows, size_t n, bool open, struct reply *r)
{
	struct writer w = {&r->body, open};

	if (n)
		qsort(rows, n, sizeof(*rows), by_age);
	put_all(&w, rows, n);
	if (r->body.failed) {
		reply_no_memory(r);
		return;
	}
	r->status = 200;
	r->type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}
