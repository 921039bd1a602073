// SPDX-License-Identifier: GPL-2.0-only
#include "common_spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_window(const struct ki_function *fn, const struct ki_spans *s, size_t i)
{
	const struct ki_span *v = &s->v[i];
	const struct ki_insn *in = &fn->insns[v->first], *last = in + v->count - 1;
	const struct ki_block *b = ki_function_block_at(fn, v->addr);
	uint64_t end = last->addr + last->len;

	assert_true(v->count >= 1 && v->count <= KI_WINDOW_INSNS && v->len <= KI_WINDOW_MAX);
	assert_int_equal(v->addr, in->addr);
	assert_true(!i || s->v[i - 1].addr + s->v[i - 1].len <= v->addr);
	assert_non_null(b);
	assert_true(end <= b->end);
	for (uint32_t k = 0; k < v->count; k++) {
		struct ki_copy c;

		assert_ptr_equal(ki_spans_at(s, fn, in[k].addr), v);
		assert_int_equal(ki_relocate(&in[k], fn->bytes + (in[k].addr - fn->start), &c), 0);
		assert_true(!k || !in[k].block_start);
		if (k + 1 < v->count)
			assert_true(in[k].kind == KI_INSN_PLAIN);
	}
	for (; end < v->addr + v->len; end++) {
		assert_int_equal(fn->bytes[end - fn->start], 0xcc);
		assert_null(ki_function_block_at(fn, end));
		assert_int_equal(v->len, v->board == KI_BOARD_JMP ? 5 : 2);
	}
}

void spans_check_cut(const struct ki_function *fn, const struct ki_spans *s)
{
	struct ki_copy c;

	for (size_t i = 0; i < s->n; i++)
		check_window(fn, s, i);
	for (uint32_t b = 0; !fn->reason && b < fn->nblocks; b++)
		for (uint32_t i = 0; i < fn->blocks[b].count; i++) {
			const struct ki_insn *in = &fn->insns[fn->blocks[b].first + i];
			bool can = !ki_relocate(in, fn->bytes + (in->addr - fn->start), &c);

			assert_int_equal(can, ki_spans_at(s, fn, in->addr) != NULL);
		}
}

/* Five bytes of padding that is entered nowhere, after a jump or return. */
static void check_filler(const struct ki_function *fn, uint64_t at)
{
	const struct ki_insn *in = fn->insns;

	assert_true(at >= fn->start && at + 5 <= fn->end);
	while (in->addr + in->len <= at)
		in++;
	for (const struct ki_insn *p = in; p < fn->insns + fn->ninsns && p->addr < at + 5; p++)
		assert_true(p->kind == KI_INSN_PAD && !p->block_start);
	while (in > fn->insns && in->kind == KI_INSN_PAD)
		in--;
	assert_true(in->kind == KI_INSN_RET || in->kind == KI_INSN_JMP ||
		    in->kind == KI_INSN_JMP_INDIRECT);
}

/* Where a window's bytes end that a bounce may take: before a call. */
static uint64_t tail_end(const struct ki_function *fn, const struct ki_span *v)
{
	const struct ki_insn *last = &fn->insns[v->first + v->count - 1];

	if (last->kind == KI_INSN_CALL || last->kind == KI_INSN_CALL_INDIRECT)
		return last->addr;
	return v->addr + v->len;
}

static void check_bounce(const struct ki_function *fn, const struct ki_spans *s,
			 const struct ki_span *v)
{
	int64_t reach = (int64_t)(v->bounce - (v->addr + 2));

	assert_true(reach >= -128 && reach <= 127);
	if (v->host == KI_NONE) {
		check_filler(fn, v->bounce);
		for (size_t i = 0; i < s->n; i++)
			assert_true(s->v[i].addr + s->v[i].len <= v->bounce ||
				    v->bounce + 5 <= s->v[i].addr);
		return;
	}
	assert_true(v->host < s->n && s->v[v->host].board == KI_BOARD_JMP);
	assert_true(v->bounce >= s->v[v->host].addr + 5 &&
		    v->bounce + 5 <= tail_end(fn, &s->v[v->host]));
}

/* Small functions only: every pair is compared. */
void spans_check_boards(const struct ki_function *fn, const struct ki_spans *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct ki_span *v = &s->v[i];

		assert_int_equal(v->board == KI_BOARD_JMP, v->len >= 5);
		if (v->board != KI_BOARD_BOUNCE) {
			assert_int_equal(v->bounce, 0);
			assert_int_equal(v->host, KI_NONE);
			continue;
		}
		assert_true(v->len >= 2);
		check_bounce(fn, s, v);
		for (size_t k = 0; k < i; k++)
			assert_true(!s->v[k].bounce || s->v[k].bounce + 5 <= v->bounce ||
				    v->bounce + 5 <= s->v[k].bounce);
	}
}
