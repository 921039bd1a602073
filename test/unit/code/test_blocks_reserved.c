// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reserved text in hand-assembled functions: what of it must not be moved, and why.
 */
#include "common_code.h"

#include <string.h>

static const struct ki_reserved_row rows[] = {
	{BASE + 4, 2, KI_R_JUMP_LABEL, BASE + 12}, {BASE + 6, 1, KI_R_EXTABLE, BASE + 14},
	{BASE + 12, 2, KI_R_BUG_SITE, 0},	   {BASE + 14, 1, KI_R_LOCK_PREFIX, 0},
	{BASE + 100, 50, KI_R_NOINSTR, 0},
};

static void reserved_instructions(void **state)
{
	struct text x = {.m = {.kind = KI_TARGET_LIVE,
			       .rows = rows,
			       .nrows = 5,
			       BYTES(0x85, 0xff,	     /* 0 test */
				     0x89, 0xc8,	     /* 2 mov */
				     0x66, 0x90,	     /* 4 static branch, off */
				     0x48, 0x8b, 0x07,	     /* 6 mov rax,[rdi]: may fault */
				     0xeb, 0x03, 0xcc,	     /* 9 jmp 14 */
				     0x0f, 0x0b,	     /* 12 ud2: a WARN? */
				     0xf0, 0x48, 0xff, 0x07, /* 14 lock incq [rdi] */
				     0x74, 0xf4,	     /* 18 je 8: inside an instruction */
				     0xc3)}};

	(void)state;
	open_text(&x);
	look_at(&x, "f");
	assert_int_equal(x.fn->reason, KI_R_OK);
	assert_int_equal(at(&x, 4)->reason, KI_R_JUMP_LABEL);
	assert_int_equal(at(&x, 4)->kind, KI_INSN_JCC);
	assert_int_equal(at(&x, 4)->target, BASE + 12);
	assert_true(at(&x, 4)->flags & KI_INSN_JUMP_LABEL);
	assert_int_equal(at(&x, 6)->reason, KI_R_WINDOW_ENTERED);
	assert_int_equal(at(&x, 6)->flags & (KI_INSN_EXTABLE | KI_INSN_BUG), KI_INSN_EXTABLE);
	assert_int_equal(at(&x, 9)->reason, KI_R_OK);
	assert_int_equal(at(&x, 12)->reason, KI_R_OK);
	assert_int_equal(at(&x, 12)->flags & (KI_INSN_EXTABLE | KI_INSN_BUG), KI_INSN_BUG);
	assert_int_equal(at(&x, 14)->reason, KI_R_LOCK_PREFIX);
	assert_int_equal(x.fn->nblocks, 5);
	check_block(&x, 0, 0, 6);
	check_block(&x, 1, 6, 11);
	check_block(&x, 2, 12, 14);
	check_block(&x, 3, 14, 20);
	check_block(&x, 4, 20, 21);
	close_text(&x);
}

/* What a row of the exception or bug table makes of f: mov; ud2; jmp, all in one block. */
static const struct {
	const char *what;
	struct ki_reserved_row row;
	uint16_t mov, ud2;
	uint8_t mov_flags, ud2_flags;
} sites[] = {
	{"a fixup", {BASE, 1, KI_R_EXTABLE, BASE + 5}, 0, 0, KI_INSN_EXTABLE, 0},
	{"of its whole length", {BASE, 2, KI_R_EXTABLE, 0}, 0, 0, KI_INSN_EXTABLE, 0},
	{"inside", {BASE + 1, 1, KI_R_EXTABLE, 0}, KI_R_EXTABLE, 0, KI_INSN_EXTABLE, 0},
	{"at its end",
	 {BASE + 2, 2, KI_R_EXTABLE, 0},
	 KI_R_EXTABLE,
	 KI_R_EXTABLE,
	 KI_INSN_EXTABLE,
	 0},
	{"long", {BASE, 4, KI_R_EXTABLE, 0}, KI_R_EXTABLE, KI_R_EXTABLE, 0, 0},
	{"of a ud2", {BASE + 3, 1, KI_R_EXTABLE, 0}, 0, 0, 0, KI_INSN_EXTABLE},
	{"a bug", {BASE + 3, 2, KI_R_BUG_SITE, 0}, 0, 0, 0, KI_INSN_BUG},
	{"no ud2", {BASE, 2, KI_R_BUG_SITE, 0}, KI_R_BUG_SITE, 0, 0, 0},
	{"in a ud2", {BASE + 4, 1, KI_R_BUG_SITE, 0}, 0, KI_R_BUG_SITE, 0, 0},
	{"before and in it", {BASE + 2, 2, KI_R_BUG_SITE, 0}, KI_R_BUG_SITE, KI_R_BUG_SITE, 0, 0},
};

static void rows_that_move_with_their_instruction(void **state)
{
	const uint8_t both = KI_INSN_EXTABLE | KI_INSN_BUG;

	(void)state;
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
		struct text x = {.m = {.kind = KI_TARGET_LIVE,
				       .rows = &sites[i].row,
				       .nrows = 1,
				       BYTES(0x48, 0x8b, 0x07, 0x0f, 0x0b, 0xeb, 0xf9)}};

		open_text(&x);
		look_at(&x, "f");
		if (at(&x, 0)->reason != sites[i].mov ||
		    (at(&x, 0)->flags & both) != sites[i].mov_flags)
			fail_msg("%s: mov: %s", sites[i].what, ki_reason_tag(at(&x, 0)->reason));
		if (at(&x, 3)->reason != sites[i].ud2 ||
		    (at(&x, 3)->flags & both) != sites[i].ud2_flags)
			fail_msg("%s: ud2: %s", sites[i].what, ki_reason_tag(at(&x, 3)->reason));
		assert_int_equal(at(&x, 5)->reason, KI_R_OK);
		close_text(&x);
	}
}

static void ud2_for_a_hypervisor(void **state)
{
	/* ud2; "xen", which looks like js and outsb; cpuid; ud2; "xe", ret */
	TEXT(x, 0x0f, 0x0b, 0x78, 0x65, 0x6e, 0x0f, 0xa2, 0x0f, 0x0b, 0x78, 0x65, 0xc3);

	(void)state;
	for (uint64_t off = 0; off < 7; off += off == 4 ? 1 : 2)
		assert_int_equal(at(&x, off)->reason, KI_R_BUG_SITE);
	assert_int_equal(at(&x, 7)->reason, KI_R_OK);
	assert_int_equal(at(&x, 9)->reason, KI_R_OK);
	close_text(&x);
}

static void static_branch_in_either_state(void **state)
{
	static const uint8_t off[] = {0x85, 0xff, 0x0f, 0x1f, 0x44, 0x00,
				      0x00, 0x74, 0x01, 0x90, 0xc3};
	static const uint8_t on[] = {0x85, 0xff, 0xe9, 0x03, 0x00, 0x00,
				     0x00, 0x74, 0x01, 0x90, 0xc3};
	static const struct ki_reserved_row row = {BASE + 2, 5, KI_R_JUMP_LABEL, BASE + 10};
	struct text x[2] = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		x[i].m = (struct ki_memory){
			.bytes = i ? on : off, .len = sizeof(on), .rows = &row, .nrows = 1};
		open_text(&x[i]);
		look_at(&x[i], "f");
		assert_true(live(&x[i], 2));
	}
	assert_int_equal(x[0].fn->nblocks, 4);
	assert_int_equal(x[1].fn->nblocks, 4);
	assert_memory_equal(x[0].fn->blocks, x[1].fn->blocks, 4 * sizeof(struct ki_block));
	assert_int_equal(at(&x[0], 2)->kind, at(&x[1], 2)->kind);
	close_text(&x[0]);
	close_text(&x[1]);
}

static void reserved_functions(void **state)
{
	static const struct ki_symbol s[] = {{.addr = BASE, .name = "f"},
					     {.addr = BASE + 4, .name = "g"},
					     {.addr = BASE + 8, .name = "h"}};
	static const struct ki_reserved_row r[] = {{BASE, 7, KI_R_KPROBES_BLACKLIST, 0},
						   {BASE, 6, KI_R_NOINSTR, 0},
						   {BASE + 6, 5, KI_R_COPIED, 0}};
	struct text y = {0}, x = {.m = {.kind = KI_TARGET_LIVE,
					.symbols = s,
					.nsymbols = 3,
					.rows = r,
					.nrows = 3,
					BYTES(0x90, 0x55, 0x5d, 0xc3, 0x55, 0x5d, 0xc3, 0xcc, 0x55,
					      0x5d, 0xc3)}};

	(void)state;
	open_text(&x);
	look_at(&x, "f");
	assert_int_equal(x.fn->reason, KI_R_NOINSTR);
	look_at(&x, "g");
	assert_int_equal(x.fn->reason, KI_R_NOINSTR);
	assert_int_equal(at(&x, 0)->reason, KI_R_NOINSTR);
	assert_int_equal(at(&x, 2)->reason, KI_R_KPROBES_BLACKLIST);
	look_at(&x, "h");
	assert_int_equal(x.fn->reason, KI_R_COPIED);
	assert_int_equal(at(&x, 0)->reason, KI_R_COPIED);
	close_text(&x);

	y.m = x.m;
	y.m.nrows = 2;
	open_text(&y);
	look_at(&y, "h");
	assert_int_equal(y.fn->reason, KI_R_OK);
	close_text(&y);
}

static void ftrace_sites(void **state)
{
	static const uint8_t heads[][9] = {
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0xe8, 0x00, 0x10, 0x00, 0x00},
		{0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x00, 0xe8, 0x00, 0x10, 0x00, 0x00},
		{0x0f, 0x1f, 0x40, 0xd6, 0x0f, 0x1f, 0x44, 0x00, 0x00},
	};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		uint8_t code[11] = {0};
		size_t skip = i < 2 ? 0 : 4;
		struct text x = {.m = {.bytes = code, .len = skip + 6}};

		memcpy(code, heads[i], skip + 5);
		code[skip + 5] = 0xc3;
		open_text(&x);
		look_at(&x, "f");
		assert_int_equal(at(&x, skip)->reason, KI_R_FTRACE_SITE);
		assert_int_equal(at(&x, skip + 5)->reason, KI_R_OK);
		if (skip)
			assert_int_equal(at(&x, 0)->reason, i == 2 ? KI_R_ENDBR : KI_R_OK);
		close_text(&x);
	}
}

static void sti_keeps_its_shadow(void **state)
{
	TEXT(x, 0xfb, 0x89, 0xc8, 0x90, 0xc3);

	(void)state;
	assert_int_equal(at(&x, 0)->reason, KI_R_STI);
	assert_int_equal(at(&x, 1)->reason, KI_R_STI);
	assert_int_equal(at(&x, 3)->reason, KI_R_OK);
	close_text(&x);
}

static void backwards_from_std_to_cld(void **state)
{
	TEXT(x, 0x89, 0xc8, 0xfd, 0xf3, 0x48, 0xa5, 0xfc, 0x90, 0xc3);

	(void)state;
	assert_int_equal(at(&x, 0)->reason, KI_R_OK);
	assert_int_equal(at(&x, 2)->reason, KI_R_BACKWARD);
	assert_int_equal(at(&x, 3)->reason, KI_R_BACKWARD);
	assert_int_equal(at(&x, 6)->reason, KI_R_BACKWARD);
	assert_int_equal(at(&x, 7)->reason, KI_R_OK);
	close_text(&x);
}

static void breakpoints_of_others(void **state)
{
	TEXT(x, 0x55, 0xcc, 0x89, 0xe5, 0x5d, 0xc3);

	(void)state;
	assert_int_equal(x.fn->reason, KI_R_FOREIGN_BREAKPOINT);
	assert_int_equal(at(&x, 1)->kind, KI_INSN_TRAP);
	close_text(&x);
	{
		/* An optimized kprobe: a jump to nowhere that is known. */
		TEXT(y, 0x55, 0xe9, 0, 0, 0, 0x10, 0x5d, 0xc3);

		assert_int_equal(y.fn->reason, KI_R_FOREIGN_BREAKPOINT);
		close_text(&y);
	}
	{
		/* In a file they are the program's own. */
		struct text z = {.m = {.kind = KI_TARGET_IMAGE, BYTES(0x55, 0xcc, 0x5d, 0xc3)}};

		open_text(&z);
		look_at(&z, "f");
		assert_int_equal(z.fn->reason, KI_R_OK);
		assert_int_equal(at(&z, 1)->reason, KI_R_FOREIGN_BREAKPOINT);
		close_text(&z);
	}
}

static void driver_is_not_instrumented(void **state)
{
	static const struct ki_symbol s[] = {{.addr = BASE, .name = "f", .module = "kerninst"}};
	struct text x = {.m = {.kind = KI_TARGET_LIVE,
			       .symbols = s,
			       .nsymbols = 1,
			       BYTES(0x55, 0x5d, 0xc3)}};

	(void)state;
	open_text(&x);
	look_at(&x, "f");
	assert_int_equal(x.fn->reason, KI_R_SELF);
	close_text(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserved_instructions),
		cmocka_unit_test(rows_that_move_with_their_instruction),
		cmocka_unit_test(ud2_for_a_hypervisor),
		cmocka_unit_test(static_branch_in_either_state),
		cmocka_unit_test(reserved_functions),
		cmocka_unit_test(ftrace_sites),
		cmocka_unit_test(sti_keeps_its_shadow),
		cmocka_unit_test(backwards_from_std_to_cld),
		cmocka_unit_test(breakpoints_of_others),
		cmocka_unit_test(driver_is_not_instrumented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
