/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries into the middle of functions, from the code of others.
 */
#include "common_code.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/memo.h"
#include "code/function/function.h"

/* f at 0, g at 64, h at 256, up to 512: nops, but for what is put in. */
struct big {
	uint8_t code[512];
	struct text x;
};

static const struct ki_symbol fgh[] = {{.addr = BASE, .name = "f"},
				       {.addr = BASE + 64, .name = "g"},
				       {.addr = BASE + 256, .name = "h"}};

static void big_open(struct big *b)
{
	b->x.m = (struct ki_memory){.kind = KI_TARGET_LIVE,
				    .bytes = b->code,
				    .len = sizeof(b->code),
				    .symbols = fgh,
				    .nsymbols = 3};
	open_text(&b->x);
}

static void put(struct big *b, size_t at_off, const char *hex_bytes, size_t n)
{
	memcpy(b->code + at_off, hex_bytes, n);
}

static void entries_from_other_functions(void **state)
{
	struct big b = {0};

	(void)state;
	memset(b.code, 0x97, sizeof(b.code)); /* xchg edi,eax */
	put(&b, 63, "\xc3", 1);
	put(&b, 255, "\xc3", 1);
	put(&b, 511, "\xc3", 1);
	put(&b, 300, "\xe9\x1f\xff\xff\xff", 5);     /* jmp g+16 */
	put(&b, 310, "\x0f\x84\x24\xff\xff\xff", 6); /* je g+32 */
	put(&b, 320, "\xe8\x2b\xff\xff\xff", 5);     /* call g+48 */
	put(&b, 330, "\x2e\xe9\x40\xff\xff\xff", 6); /* cs jmp g+80 */
	put(&b, 340, "\xb8\xe9\xff\xff\xff", 5);     /* mov eax, 0xffffffe9 */
	put(&b, 350, "\xb8\xe9\x24\xff\xff\xff", 6); /* mov eax, ..24e9; then ff ff: bad */
	put(&b, 356, "\x90", 1);
	put(&b, 400, "\xb8\x97\xe9\xcc\xfe", 5); /* e9 inside a mov: "jmp" g+.. */
	put(&b, 405, "\xff\xc0", 2);
	put(&b, 10, "\xeb\x54", 2);		 /* jmp g+32 again */
	put(&b, 20, "\x74\x50", 2);		 /* je g+38 */
	put(&b, 30, "\xb8\x75\x43\x97\x97", 5);	 /* 75 43 inside a mov: not to g+34 */
	put(&b, 260, "\xe2\xf0", 2);		 /* loop g+182 */
	put(&b, 268, "\xe8\x97\x97\xeb\x90", 5); /* call; its last bytes are not a jmp g+97 */
	big_open(&b);
	look_at(&b.x, "g");
	for (uint64_t off = 0; off < 192; off++) {
		const struct ki_insn *in = at(&b.x, off);
		bool want = off == 0 || off == 16 || off == 32 || off == 38 || off == 48 ||
			    off == 80 || off == 182;

		if (in->block_start != want)
			fail_msg("g+%d: leader %d", (int)off, in->block_start);
	}
	assert_int_equal(b.x.fn->nblocks, 7);
	look_at(&b.x, "h");
	assert_int_equal(at(&b.x, 0)->block_start, 1);
	close_text(&b.x);
}

static void entries_into_instructions(void **state)
{
	struct big b = {0};

	(void)state;
	memset(b.code, 0x97, sizeof(b.code));
	put(&b, 64 + 16, "\xf0\x48\xff\x07", 4); /* lock incq [rdi] */
	put(&b, 300, "\xe9\x20\xff\xff\xff", 5); /* jmp g+17, past the lock */
	big_open(&b);
	look_at(&b.x, "g");
	assert_int_equal(at(&b.x, 16)->reason, KI_R_WINDOW_ENTERED);
	assert_int_equal(at(&b.x, 15)->reason, KI_R_OK);
	close_text(&b.x);
}

static void entries_of_rows(void **state)
{
	static const struct ki_reserved_row r[] = {{BASE + 4, 5, KI_R_JUMP_LABEL, BASE + 70},
						   {BASE + 12, 5, KI_R_EXTABLE, BASE + 80},
						   {BASE + 90, 5, KI_R_EXTABLE, BASE + 100}};
	struct big b = {0};

	(void)state;
	memset(b.code, 0x97, sizeof(b.code));
	b.x.m = (struct ki_memory){.bytes = b.code,
				   .len = sizeof(b.code),
				   .symbols = fgh,
				   .nsymbols = 3,
				   .rows = r,
				   .nrows = 3};
	open_text(&b.x);
	look_at(&b.x, "g");
	assert_int_equal(b.x.fn->nblocks, 4);
	assert_int_equal(at(&b.x, 6)->block_start, 1);
	assert_int_equal(at(&b.x, 16)->block_start, 1);
	assert_int_equal(at(&b.x, 36)->block_start, 1);
	close_text(&b.x);
}

/* ---- real code ---- */

static const char *library(void)
{
	Dl_info info;

	assert_int_not_equal(dladdr((void *)(uintptr_t)strtoul, &info), 0);
	return info.dli_fname;
}

static struct ki_target *open_file(const char *path)
{
	struct ki_target *t;
	struct ki_err err = {0};

	if (ki_target_new_image(path, &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

static bool leads_inside(struct ki_target *t, const struct ki_symbol *own, const struct ki_insn *in)
{
	const struct ki_symbol *to = ki_target_symbol_at(t, in->target);

	if (in->kind != KI_INSN_JMP && in->kind != KI_INSN_JCC && in->kind != KI_INSN_CALL)
		return false;
	return in->len - in->field == 4 && in->target - own->addr >= own->size && to &&
	       to->addr != in->target;
}

/* The symbol's branches that lead into others, by decoding all of it: they must be entries. */
static size_t look_for_branches(struct ki_target *t, const struct ki_facts *f,
				const struct ki_symbol *own, uint8_t *seen)
{
	uint8_t *code = malloc(own->size);
	struct ki_decoded d;
	size_t found = 0, n;

	assert_non_null(code);
	assert_int_equal(ki_target_read(t, own->addr, code, own->size, KI_VIEW_ORIG, NULL), 0);
	for (uint64_t pos = 0; pos < own->size; pos += d.in.len) {
		const uint64_t *e;

		ki_decode(code + pos, own->size - pos, own->addr + pos, &d);
		if (!leads_inside(t, own, &d.in))
			continue;
		e = ki_facts_entries(f, d.in.target - 1, d.in.target + 1, &n);
		if (!e)
			fail_msg("%s+0x%llx leads to 0x%llx, unnoticed", own->name,
				 (unsigned long long)pos, (unsigned long long)d.in.target);
		found += !seen[e - f->entries.v];
		seen[e - f->entries.v] = 1;
	}
	free(code);
	return found;
}

static size_t look_before_symbols(struct ki_target *t, const struct ki_facts *f,
				  const struct ki_text_range *r, uint8_t *seen)
{
	struct ki_symbol nameless = {.addr = r->start, .name = "", .size = r->end - r->start};
	const struct ki_symbol *first = &t->symbols[ki_target_symbol_after(t, r->start)];

	if (ki_target_symbol_at(t, r->start))
		return 0;
	if (first < t->symbols + t->nsymbols && first->addr < r->end)
		nameless.size = first->addr - r->start;
	return look_for_branches(t, f, &nameless, seen);
}

/* The entries in functions are those that are found by decoding all symbols, and no others. */
static void entries_are_all(void **state)
{
	struct ki_target *t = open_file(library());
	const struct ki_facts *f;
	struct ki_err err = {0};
	size_t found = 0;
	uint8_t *seen;

	(void)state;
	assert_int_equal(ki_facts_get(t, &f, &err), 0);
	assert_int_equal(f->entries.n, 0);
	assert_true(f->branches.n > 0);
	assert_int_equal(ki_facts_complete(t, NULL, NULL, &f, &err), 0);
	assert_int_equal(f->branches.n, 0);
	assert_true(f->entries.n > 100);
	seen = calloc(f->entries.n, 1);
	for (size_t i = 0; i < t->nsymbols; i++)
		if (!t->symbols[i].alias)
			found += look_for_branches(t, f, &t->symbols[i], seen);
	for (size_t i = 0; i < t->ranges.n; i++)
		found += look_before_symbols(t, f, &t->ranges.v[i], seen);
	for (size_t i = 0; i < f->entries.n; i++)
		found += !ki_target_symbol_at(t, f->entries.v[i]); /* into no function */
	assert_int_equal(found, f->entries.n);
	free(seen);
	ki_target_free(t);
}

/* The same function, with all entries known, and with those looked for that lead into it. */
static size_t compare(struct ki_analysis *all, struct ki_analysis *some, size_t i)
{
	size_t entered = 0;

	assert_int_equal(ki_analysis_run(all, &all->target->symbols[i], NULL), 0);
	assert_int_equal(ki_analysis_run(some, &some->target->symbols[i], NULL), 0);
	assert_int_equal(all->fn->ninsns, some->fn->ninsns);
	assert_int_equal(all->fn->nblocks, some->fn->nblocks);
	for (uint32_t k = 0; k < all->fn->ninsns; k++) {
		if (memcmp(&all->fn->insns[k], &some->fn->insns[k], sizeof(struct ki_insn)) ||
		    all->extra[k].entered != some->extra[k].entered ||
		    all->extra[k].leader != some->extra[k].leader)
			fail_msg("%s+0x%llx", all->fn->symbol->name,
				 (unsigned long long)(all->fn->insns[k].addr - all->fn->start));
		entered += all->extra[k].entered;
	}
	return entered;
}

static void single_functions_have_the_same(void **state)
{
	struct ki_target *t = open_file(library()), *u = open_file(library());
	const struct ki_facts *f;
	struct ki_analysis all, some;
	struct ki_err err = {0};
	struct ki_text text;
	size_t entered = 0;

	(void)state;
	assert_int_equal(ki_text_read(t, &text, &err), 0);
	assert_int_equal(ki_facts_complete(t, &text, NULL, &f, &err), 0);
	assert_int_equal(ki_analysis_init(&all, t, &err), 0);
	assert_int_equal(ki_analysis_init(&some, u, &err), 0);
	all.text = &text;
	assert_int_equal(ki_memo_new(&all.memo), 0);
	assert_int_equal(all.facts->branches.n, 0);
	for (size_t i = 0; i < t->nsymbols; i++)
		entered += compare(&all, &some, i);
	assert_true(entered > 100);
	assert_true(some.facts->branches.n > 0);
	ki_memo_free(all.memo);
	ki_text_free(&text);
	ki_analysis_free(&all);
	ki_analysis_free(&some);
	ki_target_free(t);
	ki_target_free(u);
}

/* Whoever asks for one function after the other gets the same ones before and after the entries
   have all been found. */
static void asking_often_changes_nothing(void **state)
{
	struct ki_target *t = open_file(library());
	struct ki_function *first, *again;
	const struct ki_facts *f;
	struct ki_err err = {0};

	(void)state;
	assert_int_equal(ki_facts_get(t, &f, &err), 0);
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < 512; i++) {
			const struct ki_symbol *s = &t->symbols[i * (t->nsymbols / 512)];

			assert_int_equal(ki_function_analyze(t, s, &first, &err), 0);
			assert_int_equal(ki_function_analyze(t, s, &again, &err), 0);
			assert_int_equal(first->ninsns, again->ninsns);
			assert_int_equal(first->nblocks, again->nblocks);
			assert_memory_equal(first->insns, again->insns,
					    first->ninsns * sizeof(*first->insns));
			ki_function_free(first);
			ki_function_free(again);
		}
	assert_int_equal(f->branches.n, 0);
	assert_non_null(f->memo);
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_from_other_functions),
		cmocka_unit_test(entries_into_instructions),
		cmocka_unit_test(entries_of_rows),
		cmocka_unit_test(entries_are_all),
		cmocka_unit_test(single_functions_have_the_same),
		cmocka_unit_test(asking_often_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
