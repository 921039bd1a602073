/* SPDX-License-Identifier: GPL-2.0-only */
#include "common_code.h"

static const struct ki_symbol only_f[] = {{.addr = BASE, .name = "f"}};

void open_text(struct text *x)
{
	struct ki_err err = {0};

	if (!x->m.base)
		x->m.base = BASE;
	if (!x->m.symbols) {
		x->m.symbols = only_f;
		x->m.nsymbols = 1;
	}
	if (ki_target_open_memory(&x->m, &x->t, &err))
		fail_msg("%s", err.msg);
}

void look_at(struct text *x, const char *name)
{
	struct ki_err err = {0};
	const struct ki_symbol *s = ki_target_symbol_named(x->t, NULL, name, NULL);

	assert_non_null(s);
	ki_function_free(x->fn);
	if (ki_function_analyze(x->t, s, &x->fn, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(err.code, 0);
	check_function(x->fn);
}

void close_text(struct text *x)
{
	ki_function_free(x->fn);
	ki_target_free(x->t);
}

const struct ki_insn *at(const struct text *x, uint64_t off)
{
	const struct ki_insn *in = ki_function_insn_at(x->fn, x->fn->start + off);

	if (!in)
		fail_msg("no instruction at +0x%llx", (unsigned long long)off);
	return in;
}

int live(const struct text *x, uint64_t off)
{
	return !!(at(x, off)->flags & KI_INSN_FLAGS_LIVE);
}

void check_block(const struct text *x, uint32_t n, uint64_t start, uint64_t end)
{
	const struct ki_block *b;

	assert_true(n < x->fn->nblocks);
	b = &x->fn->blocks[n];
	assert_int_equal(b->start - x->fn->start, start);
	assert_int_equal(b->end - x->fn->start, end);
	assert_ptr_equal(ki_function_block_at(x->fn, b->start), b);
	assert_ptr_equal(ki_function_block_at(x->fn, b->end - 1), b);
}

void check_text(const struct text *x, uint64_t off, const char *text)
{
	char buf[200];

	ki_insn_format(x->fn, at(x, off), buf, sizeof(buf));
	assert_string_equal(buf, text);
}

void check_function(const struct ki_function *fn)
{
	uint64_t addr = fn->start;
	uint32_t in_blocks = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];
		const struct ki_block *b = ki_function_block_at(fn, in->addr);

		assert_int_equal(in->addr, addr);
		assert_true(in->len >= 1 && in->len <= 15);
		addr += in->len;
		in_blocks += in->kind != KI_INSN_PAD;
		assert_ptr_equal(ki_function_insn_at(fn, in->addr), in);
		assert_int_equal(in->kind == KI_INSN_PAD, !b);
		assert_int_equal(in->block_start, b && b->start == in->addr);
	}
	assert_int_equal(addr, fn->end);
	for (uint32_t i = 0; i < fn->nblocks; i++) {
		const struct ki_block *b = &fn->blocks[i];

		assert_true(b->count && b->first + b->count <= fn->ninsns);
		assert_int_equal(fn->insns[b->first].addr, b->start);
		assert_true(!i || b[-1].end <= b->start);
		in_blocks -= b->count;
	}
	assert_int_equal(in_blocks, 0);
}
