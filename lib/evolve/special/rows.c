// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The unwinder's rows of the copies: an instruction's copy has its original's, because a copy does
 * to the stack what the original does.
 *
 * The kernel has two tables: addresses in order, each as a distance from itself, and rows. What is
 * in a row is not looked at, only copied.
 */
#include <errno.h>
#include <string.h>

#include "evolve/special/inside.h"
#include "target/names.h"

#define ROW_SIZE 6 /* struct orc_entry */

struct tables {
	struct ki_target *t;
	uint64_t ip, ip_end, rows;
};

static void find_tables(struct ki_target *t, struct tables *out)
{
	static const char *const names[] = {"__start_orc_unwind_ip", "__stop_orc_unwind_ip",
					    "__start_orc_unwind"};
	struct ki_err err = {0};
	uint64_t at[3];

	*out = (struct tables){.t = t};
	if (ki_target_kind(t) != KI_TARGET_LIVE || ki_kernel_names(names, at, 3, &err))
		return;
	out->ip = at[0];
	out->ip_end = at[1];
	out->rows = at[2];
}

static int address_of(const struct tables *o, uint64_t i, uint64_t *out, struct ki_err *err)
{
	int32_t far;
	int ret = ki_target_read_data(o->t, o->ip + 4 * i, &far, sizeof(far), err);

	*out = o->ip + 4 * i + (uint64_t)(int64_t)far;
	return ret;
}

/* The last row that begins at or before addr. */
static int find_row(const struct tables *o, uint64_t addr, uint8_t row[8], struct ki_err *err)
{
	uint64_t lo = 0, hi = (o->ip_end - o->ip) / 4, at;
	int ret = 0;

	while (lo + 1 < hi && !ret) {
		uint64_t mid = (lo + hi) / 2;

		ret = address_of(o, mid, &at, err);
		if (!ret && at <= addr)
			lo = mid;
		else
			hi = mid;
	}
	memset(row, 0, 8);
	return ret ? ret : ki_target_read_data(o->t, o->rows + ROW_SIZE * lo, row, ROW_SIZE, err);
}

int ki_special_rows(struct ki_special *s, struct ki_err *err)
{
	struct tables o;
	int ret = 0;

	find_tables(s->t, &o);
	if (!o.ip || !o.ip_end || !o.rows)
		return 0;
	s->row_size = ROW_SIZE;
	for (size_t i = 0; i < s->emitted.origins.n && !ret; i++) {
		const struct ki_emit_origin *at = &s->emitted.origins.v[i];
		struct ki_module_row row = {.off = at->off};

		if (i && at[-1].addr == at->addr)
			continue;
		ret = find_row(&o, at->addr, row.row, err);
		if (!ret && s->rows.n && !memcmp(s->rows.v[s->rows.n - 1].row, row.row, ROW_SIZE))
			continue;
		if (!ret && ki_vec_push(&s->rows, row))
			ret = ki_err_set(err, -ENOMEM, at->addr, "rows: out of memory");
	}
	return ret;
}
