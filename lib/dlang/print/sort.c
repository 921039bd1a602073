// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/print/bars.h"

/* ---- keys ---- */

const char *ki_d_key_text(const struct ki_dlang *d, uint8_t form, const uint64_t *key,
			  char text[KI_D_KEY_TEXT])
{
	size_t size = 8 * ki_d_form_words(form);

	if (form == KI_D_FORM_TEXT)
		return ki_texts_get(d->run->strings, *key);
	if (form == KI_D_FORM_NUMBERED)
		return *key && *key <= d->strings.n ? d->strings.v[*key - 1] : "";
	memcpy(text, key, size);
	text[size] = 0;
	return text;
}

static const uint64_t *key_at(const struct ki_d_agg *a, const uint64_t *key, unsigned int i)
{
	while (i--)
		key += ki_d_form_words(a->forms[i]);
	return key;
}

static int compare_one(const struct ki_dlang *d, uint8_t form, const uint64_t *x, uint8_t other,
		       const uint64_t *y)
{
	char one[KI_D_KEY_TEXT], two[KI_D_KEY_TEXT];

	if (form == KI_D_FORM_USER && *x == *y)
		x++, y++;
	if (form == KI_D_FORM_WORD || form == KI_D_FORM_STACK || form == KI_D_FORM_ADDRESS ||
	    form == KI_D_FORM_USER)
		return *x != *y ? (*x < *y ? -1 : 1) : 0;
	return strcmp(ki_d_key_text(d, form, x, one), ki_d_key_text(d, other, y, two));
}

int ki_d_key_compare(const struct ki_dlang *d, const struct ki_d_agg *a, const uint64_t *x,
		     const struct ki_d_agg *b, const uint64_t *y, unsigned int first)
{
	int order = 0;

	for (unsigned int n = 0; !order && n < a->nkeys; n++) {
		unsigned int i = (first + n) % a->nkeys;

		order = compare_one(d, a->forms[i], key_at(a, x, i), b->forms[i], key_at(b, y, i));
	}
	return order;
}

/* ---- values ---- */

int ki_d_value_compare(const struct ki_d_agg *a, const uint64_t *x, const uint64_t *y)
{
	int64_t i, k;

	if (ki_d_is_distribution(a)) {
		long double v = ki_d_bars_weight(a, x, &i), w = ki_d_bars_weight(a, y, &k);

		if (v < w || v > w)
			return v < w ? -1 : 1;
	} else {
		i = ki_d_row_number(a, x);
		k = ki_d_row_number(a, y);
	}
	return i != k ? (i < k ? -1 : 1) : 0;
}

/* ---- rows of several ---- */

struct sorting {
	const struct ki_dlang *d;
	const struct ki_d_join *j;
	bool by_values;
};

static int by_keys(const struct sorting *s, const struct ki_d_joined *x,
		   const struct ki_d_joined *y)
{
	const int64_t first = s->d->set.aggsortkeypos;

	return ki_d_key_compare(s->d, x->of, x->key, y->of, y->key,
				first < x->of->nkeys ? (unsigned int)first : 0);
}

static int by_values(const struct sorting *s, const struct ki_d_joined *x,
		     const struct ki_d_joined *y)
{
	const int64_t pos = s->d->set.aggsortpos;
	const unsigned int first = pos < s->j->n ? (unsigned int)pos : 0;
	int order = 0;

	for (unsigned int n = 0; !order && n < s->j->n; n++) {
		unsigned int i = (first + n) % s->j->n;

		order = ki_d_value_compare(s->j->aggs[i], x->values[i], y->values[i]);
	}
	return order;
}

static int compare(const void *x, const void *y, void *arg)
{
	const struct sorting *s = arg;
	int order;

	if (!s->by_values) {
		order = by_keys(s, x, y);
		return order || !s->d->set.aggsortkey ? order : by_values(s, x, y);
	}
	order = by_values(s, x, y);
	return order ? order : by_keys(s, x, y);
}

static void reverse(struct ki_d_join *j)
{
	for (size_t i = 0; i < j->nv / 2; i++) {
		struct ki_d_joined swap = j->v[i];

		j->v[i] = j->v[j->nv - 1 - i];
		j->v[j->nv - 1 - i] = swap;
	}
}

/* Neighbours with one key become one row. */
static void merge(struct ki_dlang *d, struct ki_d_join *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->nv; i++) {
		struct ki_d_joined *to = kept ? &j->v[kept - 1] : NULL, *row = &j->v[i];

		if (!to || ki_d_key_compare(d, to->of, to->key, row->of, row->key, 0)) {
			j->v[kept++] = *row;
			continue;
		}
		for (unsigned int k = 0; k < j->n; k++)
			if (row->values[k] != j->zeros)
				to->values[k] = row->values[k];
	}
	j->nv = kept;
}

static int list_rows(struct ki_d_join *j, struct ki_err *err)
{
	size_t n = 0, most = 1;

	for (unsigned int i = 0; i < j->n; i++) {
		n += j->rows[i].n;
		most = most < j->rows[i].values ? j->rows[i].values : most;
	}
	j->v = calloc(n + 1, sizeof(*j->v));
	j->zeros = calloc(most, sizeof(*j->zeros));
	if (!j->v || !j->zeros)
		return ki_d_no_memory(err);
	for (unsigned int i = 0; i < j->n; i++)
		for (size_t k = 0; k < j->rows[i].n; k++) {
			struct ki_d_joined *to = &j->v[j->nv++];

			to->of = j->aggs[i];
			to->key = ki_d_row_key(&j->rows[i], k);
			for (unsigned int m = 0; m < j->n; m++)
				to->values[m] = j->zeros;
			to->values[i] = ki_d_row_values(&j->rows[i], k);
		}
	return 0;
}

int ki_d_join_read(struct ki_dlang *d, struct ki_d_agg *const *aggs, unsigned int n,
		   struct ki_d_join *out, struct ki_err *err)
{
	struct sorting s = {.d = d, .j = out};
	int ret = 0;

	*out = (struct ki_d_join){.aggs = aggs, .n = n};
	for (unsigned int i = 0; !ret && i < n; i++)
		ret = ki_d_rows_read(d, aggs[i], &out->rows[i], err);
	if (!ret)
		ret = list_rows(out, err);
	if (ret)
		return ret;
	if (n > 1) {
		qsort_r(out->v, out->nv, sizeof(*out->v), compare, &s);
		merge(d, out);
	}
	s.by_values = !d->set.aggsortkey;
	qsort_r(out->v, out->nv, sizeof(*out->v), compare, &s);
	if (d->set.aggsortrev)
		reverse(out);
	return 0;
}

void ki_d_join_free(struct ki_d_join *j)
{
	for (unsigned int i = 0; i < j->n; i++)
		ki_d_rows_free(&j->rows[i]);
	free(j->v);
	free(j->zeros);
	j->v = NULL;
	j->zeros = NULL;
}
