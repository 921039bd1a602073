// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/top.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int ki_top_model_new(struct ki_top_model *m, size_t nrows)
{
	m->rows = calloc(nrows + 1, sizeof(*m->rows));
	m->order = calloc(nrows + 1, sizeof(*m->order));
	if (!m->rows || !m->order)
		return -ENOMEM;
	m->nrows = nrows;
	m->selected = KI_TOP_NONE;
	return 0;
}

void ki_top_model_free(struct ki_top_model *m)
{
	free(m->rows);
	free(m->order);
	m->rows = NULL;
	m->order = NULL;
}

unsigned int ki_top_model_column(struct ki_top_model *m, const char *metric, bool seconds)
{
	for (unsigned int i = 0; i < m->ncolumns; i++)
		if (!strcmp(m->columns[i].metric, metric))
			return i;
	if (m->ncolumns == KI_TOP_COLUMNS)
		return KI_TOP_COLUMNS;
	m->columns[m->ncolumns] = (struct ki_top_column){metric, seconds};
	return m->ncolumns++;
}

static bool is_refused(const struct ki_top_model *m, const struct ki_top_row *r)
{
	for (unsigned int i = 0; i < m->ncolumns; i++)
		if (!isnan(r->values[i].total))
			return false;
	return true;
}

static bool has_happened(const struct ki_top_model *m, const struct ki_top_row *r)
{
	for (unsigned int i = 0; i < m->ncolumns; i++)
		if (r->values[i].total > 0)
			return true;
	return false;
}

/* Large ones first, those that are none last. */
static int descending(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int in_order(const void *a, const void *b, void *arg)
{
	const struct ki_top_model *m = arg;
	const size_t ia = *(const size_t *)a, ib = *(const size_t *)b;
	const struct ki_top_value *va = &m->rows[ia].values[m->by],
				  *vb = &m->rows[ib].values[m->by];
	int ret = 0;

	if (m->sort == KI_TOP_BY_RATE)
		ret = descending(va->rate, vb->rate);
	if (!ret && m->sort != KI_TOP_BY_NAME)
		ret = descending(va->total, vb->total);
	if (!ret)
		ret = strverscmp(m->rows[ia].name, m->rows[ib].name);
	return ret ? ret : (ia > ib) - (ia < ib);
}

void ki_top_model_sort(struct ki_top_model *m)
{
	m->shown = m->refused = 0;
	for (size_t i = 0; i < m->nrows; i++) {
		const struct ki_top_row *r = &m->rows[i];

		if (is_refused(m, r))
			m->refused++;
		else if (m->idle || has_happened(m, r))
			m->order[m->shown++] = i;
	}
	qsort_r(m->order, m->shown, sizeof(*m->order), in_order, m);
}

/* Where the selected one is in order: 0 if it is not shown. */
static size_t place(const struct ki_top_model *m)
{
	for (size_t i = 0; i < m->shown; i++)
		if (m->order[i] == m->selected)
			return i;
	return 0;
}

void ki_top_model_move(struct ki_top_model *m, long by)
{
	size_t at = place(m), last = m->shown ? m->shown - 1 : 0;

	if (by < 0)
		at = (size_t)-by < at ? at - (size_t)-by : 0;
	else
		at = (size_t)by < last - at ? at + (size_t)by : last;
	m->selected = at ? m->order[at] : KI_TOP_NONE;
}

size_t ki_top_model_selected(const struct ki_top_model *m)
{
	return m->shown ? m->order[place(m)] : KI_TOP_NONE;
}

void ki_top_model_scroll(struct ki_top_model *m, size_t height)
{
	size_t at = place(m);

	if (!height || at < m->first)
		m->first = at;
	else if (at - m->first >= height)
		m->first = at - height + 1;
	if (height && m->first + height > m->shown)
		m->first = m->shown > height ? m->shown - height : 0;
}
