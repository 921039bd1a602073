/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the reserved rows say of a function's instructions.
 *
 * Most rows keep text where it is. Those of the exception and bug tables do not: the kernel finds
 * such an instruction by its address, and the driver publishes the address of its copy too.
 */
#include "code/function/function.h"
#include "util/search.h"

/* A static branch is one in either state: what stands there now is a nop or a jump. */
static void set_jump_label(struct ki_analysis *a, const struct ki_reserved_row *row)
{
	struct ki_insn *in;

	if (row->reason != KI_R_JUMP_LABEL || !row->target || !ki_function_holds(a->fn, row->addr))
		return;
	in = &a->fn->insns[ki_function_covering(a->fn, row->addr)];
	if (row->addr != in->addr || (in->kind != KI_INSN_PLAIN && in->kind != KI_INSN_JMP))
		return;
	in->flags |= KI_INSN_JUMP_LABEL;
	in->kind = KI_INSN_JCC;
	in->target = row->target;
}

static bool is_ud2(const struct ki_function *fn, const struct ki_insn *in)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start);

	return in->len == 2 && p[0] == 0x0f && p[1] == 0x0b;
}

/*
 * A row of the exception or bug table: its instruction may be displaced, if all of the row is
 * about all of it: the driver gives the copy a row of its own.
 */
static void set_site(struct ki_analysis *a, const struct ki_reserved_row *row)
{
	struct ki_function *fn = a->fn;
	struct ki_insn *in;
	bool whole;
	uint32_t i;

	if (!ki_row_is_site(row) || !ki_function_holds(fn, row->addr))
		return;
	i = ki_function_covering(fn, row->addr);
	in = &fn->insns[i];
	whole = row->addr == in->addr && row->len <= in->len;
	if (row->reason == KI_R_EXTABLE)
		in->flags |= KI_INSN_EXTABLE;
	else if (whole && is_ud2(fn, in))
		in->flags |= KI_INSN_BUG;
	if (whole && in->flags & (row->reason == KI_R_EXTABLE ? KI_INSN_EXTABLE : KI_INSN_BUG))
		return;
	ki_refuse(&in->reason, row->reason);
	if (i + 1 < fn->ninsns && row->addr + row->len > in->addr + in->len)
		ki_refuse(&fn->insns[i + 1].reason, row->reason);
}

void ki_rows_apply(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;
	const struct ki_covering *covers = a->facts->covers.v;
	size_t c = ki_covers_from(&a->facts->covers, fn->start), n = a->facts->covers.n;

	for (uint32_t i = 0; i < fn->ninsns && c < n && covers[c].start < fn->end; i++) {
		struct ki_insn *in = &fn->insns[i];
		uint64_t end = in->addr + in->len;

		while (c < n && covers[c].start < end) {
			ki_refuse(&in->reason, covers[c].reason);
			if (covers[c].end > end)
				break;
			c++;
		}
	}
	for (size_t r = 0; r < a->nrows; r++) {
		set_jump_label(a, &a->rows[r]);
		set_site(a, &a->rows[r]);
	}
}

/* Number of the first row at or after addr. */
static size_t row_from(const struct ki_reserved_row *rows, size_t n, uint64_t addr)
{
	return KI_FIRST(i, n, rows[i].addr >= addr);
}

const struct ki_reserved_row *ki_analysis_rows(const struct ki_analysis *a,
					       const struct ki_insn *in, size_t *n)
{
	size_t first = row_from(a->rows, a->nrows, in->addr);

	*n = 0;
	if (first == a->nrows)
		return NULL;
	while (first + *n < a->nrows && a->rows[first + *n].addr < in->addr + in->len)
		++*n;
	return a->rows + first;
}

/* Rows that begin before the function say only that its text is reserved: that is in covers. */
int ki_rows_find(struct ki_analysis *a, const struct ki_symbol *sym, struct ki_err *err)
{
	size_t skip;
	int ret = ki_target_reserved(a->target, sym->addr, sym->addr + sym->size, &a->rows,
				     &a->nrows, err);

	if (ret || !a->nrows)
		return ret;
	skip = row_from(a->rows, a->nrows, sym->addr);
	a->rows += skip;
	a->nrows -= skip;
	return 0;
}
