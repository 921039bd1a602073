// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The unwinder's rows of the copies: an instruction's copy has its original's, because a copy does
 * to the stack what the original does.
 *
 * The kernel, and each module, has two tables: addresses in order, each as a distance from itself,
 * and rows. What is in a row is not looked at, only copied.
 */
#include <errno.h>
#include <string.h>

#include "evolve/special/inside.h"

#define ROW_SIZE 6 /* struct orc_entry */

static int address_of(const struct ki_special *s, uint64_t i, uint64_t *out, struct ki_err *err)
{
	int32_t far;
	int ret = ki_target_read_data(s->t, s->tables.orc_ip + 4 * i, &far, sizeof(far), err);

	*out = s->tables.orc_ip + 4 * i + (uint64_t)(int64_t)far;
	return ret;
}

/* The last row that begins at or before addr. */
static int find_row(const struct ki_special *s, uint64_t addr, uint8_t row[8], struct ki_err *err)
{
	uint64_t lo = 0, hi = s->tables.norcs, at;
	int ret = 0;

	while (lo + 1 < hi && !ret) {
		uint64_t mid = (lo + hi) / 2;

		ret = address_of(s, mid, &at, err);
		if (!ret && at <= addr)
			lo = mid;
		else
			hi = mid;
	}
	memset(row, 0, 8);
	return ret ? ret
		   : ki_target_read_data(s->t, s->tables.orc + ROW_SIZE * lo, row, ROW_SIZE, err);
}

int ki_special_rows(struct ki_special *s, struct ki_err *err)
{
	int ret = 0;

	if (!s->tables.orc_ip || !s->tables.orc || !s->tables.norcs)
		return 0;
	s->row_size = ROW_SIZE;
	for (size_t i = 0; i < s->emitted.origins.n && !ret; i++) {
		const struct ki_emit_origin *at = &s->emitted.origins.v[i];
		struct ki_module_row row = {.off = at->off};

		if (i && at[-1].addr == at->addr)
			continue;
		ret = find_row(s, at->addr, row.row, err);
		if (!ret && s->rows.n && !memcmp(s->rows.v[s->rows.n - 1].row, row.row, ROW_SIZE))
			continue;
		if (!ret && ki_vec_push(&s->rows, row))
			ret = ki_err_set(err, -ENOMEM, at->addr, "rows: out of memory");
	}
	return ret;
}
