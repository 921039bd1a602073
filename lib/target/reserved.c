/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reserved text: the driver's table, read once and searched for each function.
 */
#include "target/priv.h"

#include "util/sort.h"
#include "util/search.h"

static uint64_t row_end(const struct ki_reserved_row *r)
{
	return r->addr > UINT64_MAX - r->len ? UINT64_MAX : r->addr + r->len;
}

/* Into order of address, however they came. */
static int order(struct ki_rows *rows)
{
	struct ki_sort_item *items = malloc((rows->n + 1) * sizeof(*items));
	struct ki_reserved_row *v = malloc((rows->n + 1) * sizeof(*v));
	int ret = items && v ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < rows->n; i++)
		items[i] = (struct ki_sort_item){rows->v[i].addr, i};
	if (!ret)
		ret = ki_sort(items, rows->n);
	if (ret) {
		free(v);
	} else {
		for (size_t i = 0; i < rows->n; i++)
			v[i] = rows->v[items[i].value];
		free(rows->v);
		rows->v = v;
	}
	free(items);
	return ret;
}

static int load(struct ki_target *t, struct ki_err *err)
{
	struct ki_rows *rows = &t->rows;
	uint64_t reach = 0;
	int ret;

	if (!t->ops->reserved) {
		rows->read = true;
		return 0;
	}
	ret = t->ops->reserved(t, rows, err);
	if (ret)
		return ret;
	free(rows->reach);
	rows->reach = malloc((rows->n + 1) * sizeof(*rows->reach));
	if (!rows->reach || order(rows))
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the reserved text");
	for (size_t i = 0; i < rows->n; i++) {
		if (row_end(&rows->v[i]) > reach)
			reach = row_end(&rows->v[i]);
		rows->reach[i] = reach;
	}
	rows->read = true;
	return 0;
}

int ki_target_reserved(struct ki_target *t, uint64_t start, uint64_t end,
		       const struct ki_reserved_row **rows, size_t *count, struct ki_err *err)
{
	size_t first;

	if (!t->rows.read) {
		int ret = load(t, err);

		if (ret)
			return ret;
	}
	first = KI_FIRST(i, t->rows.n, t->rows.reach[i] > start);
	*rows = t->rows.n ? t->rows.v + first : NULL;
	*count = KI_FIRST(i, t->rows.n - first, t->rows.v[first + i].addr >= end);
	return 0;
}
