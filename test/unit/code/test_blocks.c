/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of hand-assembled functions, and why some have none.
 *
 * promise: K6: Jump tables are read, relative and absolute; a function with another computed
 *   jump is flagged. [oracles.sh]
 */
#include "common_code.h"

#include <string.h>

static void branches_make_blocks(void **state)
{
	/* 0: test edi,edi; 2: je 8; 4: jmp 12 (rel32 back and forth below); ... */
	TEXT(x, 0x85, 0xff,			 /* 0 test */
	     0x74, 0x05,			 /* 2 je 9 */
	     0xe8, 0xf7, 0xff, 0xff, 0xff,	 /* 4 call f */
	     0x90,				 /* 9 nop: not filler, reached */
	     0x0f, 0x85, 0xf0, 0xff, 0xff, 0xff, /* 10 jne 0 */
	     0xeb, 0x02,			 /* 16 jmp 20 */
	     0xcc, 0xcc,			 /* 18 padding */
	     0xc3,				 /* 20 ret */
	     0x66, 0x90, 0xcc);			 /* 21 padding */

	(void)state;
	assert_int_equal(x.fn->nblocks, 5);
	check_block(&x, 0, 0, 4);
	check_block(&x, 1, 4, 9);
	check_block(&x, 2, 9, 16);
	check_block(&x, 3, 16, 18);
	check_block(&x, 4, 20, 21);
	assert_int_equal(at(&x, 4)->kind, KI_INSN_CALL);
	assert_int_equal(at(&x, 4)->target, BASE);
	assert_int_equal(at(&x, 4)->field, 1);
	assert_int_equal(at(&x, 4)->reason, KI_R_OK);
	assert_int_equal(at(&x, 9)->kind, KI_INSN_PLAIN);
	assert_int_equal(at(&x, 10)->field, 2);
	assert_int_equal(at(&x, 10)->target, BASE);
	assert_int_equal(at(&x, 18)->kind, KI_INSN_PAD);
	assert_int_equal(at(&x, 18)->reason, KI_R_NO_CODE);
	assert_int_equal(at(&x, 21)->kind, KI_INSN_PAD);
	assert_int_equal(at(&x, 23)->kind, KI_INSN_PAD);
	assert_int_equal(x.fn->reason, KI_R_OK);
	assert_null(ki_function_block_at(x.fn, BASE + 18));
	check_text(&x, 2, "je f+0x9");
	check_text(&x, 4, "call f");
	check_text(&x, 10, "jne f");
	close_text(&x);
}

static void calls_into_oneself(void **state)
{
	TEXT(x, 0xe8, 0x02, 0, 0, 0, /* 0 call 7, as a return stack is filled */
	     0xcc, 0xcc,	     /* 5 never reached */
	     0x48, 0x83, 0xc4, 8,    /* 7 add rsp,8 */
	     0xc3);

	(void)state;
	assert_int_equal(at(&x, 0)->reason, KI_R_FTRACE_SITE);
	close_text(&x);
	{
		TEXT(y, 0x90, 0xe8, 0x02, 0, 0, 0, 0xcc, 0xcc, 0x48, 0x83, 0xc4, 8, 0xc3);

		assert_int_equal(at(&y, 1)->reason, KI_R_STACK_CALL);
		assert_true(at(&y, 1)->flags & KI_INSN_NORETURN);
		assert_int_equal(at(&y, 6)->kind, KI_INSN_PAD);
		assert_int_equal(y.fn->nblocks, 2);
		check_block(&y, 1, 8, 13);
		assert_int_equal(y.fn->reason, KI_R_OK);
		close_text(&y);
	}
}

static void calls_that_do_not_return(void **state)
{
	TEXT(x, 0x74, 0x06,	/* 0 je 8 */
	     0xe8, 0, 1, 0, 0,	/* 2 call panic */
	     0xcc,		/* 7 */
	     0x75, 0x06,	/* 8 jne 16 */
	     0xe8, 0, 1, 0, 0,	/* 10 call something */
	     0x90,		/* 15 nop: alignment, reached */
	     0xe8, 0, 1, 0, 0,	/* 16 call panic */
	     0x66, 0x90, 0xcc); /* 21 */

	(void)state;
	assert_true(at(&x, 2)->flags & KI_INSN_NORETURN);
	assert_false(at(&x, 10)->flags & KI_INSN_NORETURN);
	assert_true(at(&x, 16)->flags & KI_INSN_NORETURN);
	assert_int_equal(at(&x, 7)->kind, KI_INSN_PAD);
	assert_int_equal(at(&x, 15)->kind, KI_INSN_PLAIN);
	assert_int_equal(at(&x, 21)->kind, KI_INSN_PAD);
	assert_int_equal(x.fn->reason, KI_R_OK);
	close_text(&x);
}

/* A function that nobody calls any more keeps its code, not its symbol. */
static void code_without_a_symbol(void **state)
{
	TEXT(x, 0x90, 0x55, 0xe8, 0, 1, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	     0x89, 0xc8, 0xc3);

	(void)state;
	assert_true(at(&x, 2)->flags & KI_INSN_NORETURN);
	assert_int_equal(at(&x, 15)->kind, KI_INSN_PAD);
	assert_int_equal(x.fn->nblocks, 2);
	assert_int_equal(x.fn->reason, KI_R_OK);
	close_text(&x);
	{
		/* One that stands elsewhere is somebody's. */
		TEXT(y, 0x90, 0xe8, 0, 1, 0, 0, 0xcc, 0x5d, 0xc3);

		assert_int_equal(y.fn->reason, KI_R_FOREIGN_BREAKPOINT);
		close_text(&y);
	}
}

static const struct ki_symbol thunks[] = {
	{.addr = BASE, .name = "f"},
	{.addr = BASE + 32, .name = "__x86_indirect_thunk_rax"},
	{.addr = BASE + 40, .name = "srso_alias_return_thunk"},
	{.addr = BASE + 48, .name = "g"},
};

static void thunks_are_what_they_do(void **state)
{
	struct text x = {.m = {.kind = KI_TARGET_LIVE,
			       .symbols = thunks,
			       .nsymbols = 4,
			       BYTES(0x85, 0xff,	      /* 0 */
				     0xe8, 25, 0, 0, 0,	      /* 2 call thunk */
				     0x74, 5,		      /* 7 je 14 */
				     0xe9, 18, 0, 0, 0,	      /* 9 jmp thunk */
				     0x0f, 0x84, 28, 0, 0, 0, /* 14 je g */
				     0xe9, 15, 0, 0, 0,	      /* 20 jmp return */
				     0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xff, 0xe0, 0xcc,
				     0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
				     0xcc, 0xcc, 0xcc, 0xc3)}};

	(void)state;
	open_text(&x);
	look_at(&x, "f");
	assert_int_equal(x.fn->reason, KI_R_OK);
	assert_int_equal(at(&x, 2)->kind, KI_INSN_CALL_INDIRECT);
	assert_int_equal(at(&x, 2)->target, BASE + 32);
	assert_int_equal(at(&x, 2)->field, 1);
	assert_int_equal(at(&x, 9)->kind, KI_INSN_JMP_INDIRECT);
	assert_int_equal(at(&x, 14)->kind, KI_INSN_JCC);
	assert_int_equal(at(&x, 20)->kind, KI_INSN_RET);
	assert_int_equal(at(&x, 25)->kind, KI_INSN_PAD);
	check_text(&x, 2, "call __x86_indirect_thunk_rax");
	check_text(&x, 14, "je g");
	close_text(&x);
}

static void traps(void **state)
{
	TEXT(x, 0x74, 0x03, 0x0f, 0x0b, 0xcc, /* 2 ud2; 4 int3 never reached */
	     0x75, 0x03,		      /* 5 jne 10 */
	     0x0f, 0x0b,		      /* 7 ud2: a WARN goes on to the nop */
	     0x90, 0xc3);

	(void)state;
	assert_int_equal(at(&x, 4)->kind, KI_INSN_PAD);
	assert_int_equal(at(&x, 9)->kind, KI_INSN_PLAIN);
	assert_int_equal(at(&x, 9)->block_start, 1);
	assert_int_equal(x.fn->reason, KI_R_OK);
	close_text(&x);
}

static void functions_without_code(void **state)
{
	static const struct ki_symbol s[] = {{.addr = BASE, .name = "__pfx_f"},
					     {.addr = BASE + 4, .name = "f"},
					     {.addr = BASE + 5, .name = "end"}};
	struct text x = {.m = {.symbols = s,
			       .nsymbols = 3,
			       BYTES(0x90, 0x90, 0x66, 0x90, 0xc3, 0xcc, 0xcc)}};

	(void)state;
	open_text(&x);
	look_at(&x, "__pfx_f");
	assert_int_equal(x.fn->reason, KI_R_NO_CODE);
	assert_int_equal(x.fn->nblocks, 0);
	assert_int_equal(x.fn->ninsns, 3);
	assert_int_equal(x.fn->end, BASE + 4);
	look_at(&x, "end");
	assert_int_equal(x.fn->reason, KI_R_NO_CODE);
	look_at(&x, "f");
	assert_int_equal(x.fn->reason, KI_R_OK);
	assert_int_equal(x.fn->nblocks, 1);
	close_text(&x);
}

/* sarq $5, %gs:0(%rip) before g counts its calls; they are calls of g. */
static void calls_that_are_counted(void **state)
{
	static const struct ki_symbol s[] = {{.addr = BASE, .name = "f"},
					     {.addr = BASE + 8, .name = "__pfx_g"},
					     {.addr = BASE + 24, .name = "g"}};
	struct text x = {.m = {.symbols = s,
			       .nsymbols = 3,
			       BYTES(0x50, 0xe8, 9, 0, 0, 0, 0xc3, 0xcc, /* push; call 15; ret */
				     0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* 8 */
				     0x65, 0x48, 0xc1, 0x3d, 0, 0, 0, 0, 5,    /* 15 */
				     0xc3)}};

	(void)state;
	open_text(&x);
	look_at(&x, "f");
	assert_int_equal(x.fn->reason, KI_R_OK);
	assert_int_equal(at(&x, 1)->kind, KI_INSN_CALL);
	assert_int_equal(at(&x, 1)->target, BASE + 24);
	close_text(&x);
}

static void bytes_that_are_no_code(void **state)
{
	TEXT(x, 0x55, 0x06, 0x5d, 0xc3);

	(void)state;
	assert_int_equal(x.fn->reason, KI_R_UNDECODABLE);
	assert_int_equal(at(&x, 1)->len, 1);
	assert_true(live(&x, 1));
	close_text(&x);
	{
		/* Data after the code: nothing runs into it. */
		TEXT(y, 0x55, 0x5d, 0xc3, 0x06, 0x06, 0x06);

		assert_int_equal(y.fn->reason, KI_R_OK);
		assert_int_equal(y.fn->nblocks, 4);
		close_text(&y);
	}
}

static void computed_jumps(void **state)
{
	static const struct ki_symbol bpf[] = {{.addr = BASE, .name = "___bpf_prog_run.cold"}};
	/* movslq (rdx,rax,4),rax; add rdx,rax; jmp *rax */
	static const uint8_t pic[] = {0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0};
	static const uint8_t table[] = {0xff, 0x24, 0xc5, 0, 0, 0, 0};
	static const uint8_t notrack[] = {0x3e, 0xff, 0xe0};
	static const uint8_t tail[] = {0xff, 0xe0};
	const struct ki_memory m[] = {
		{.kind = KI_TARGET_IMAGE, .bytes = pic, .len = sizeof(pic)},
		{.kind = KI_TARGET_LIVE, .bytes = table, .len = sizeof(table)},
		{.kind = KI_TARGET_IMAGE, .bytes = notrack, .len = sizeof(notrack)},
		{.symbols = bpf, .nsymbols = 1, .bytes = tail, .len = sizeof(tail)},
		{.kind = KI_TARGET_IMAGE, .bytes = tail, .len = sizeof(tail)},
		{.kind = KI_TARGET_LIVE, .bytes = tail, .len = sizeof(tail)},
	};

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct text x = {.m = m[i]};

		open_text(&x);
		look_at(&x, x.m.symbols->name);
		assert_int_equal(x.fn->reason, i < 4 ? KI_R_COMPUTED_GOTO : KI_R_OK);
		close_text(&x);
	}
}

static void random_bytes(void **state)
{
	static uint8_t code[4096];
	struct ki_symbol s[64];
	struct ki_reserved_row r[64];
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct text x = {.m = {.kind = round & 1 ? KI_TARGET_LIVE : KI_TARGET_IMAGE,
				       .bytes = code,
				       .len = sizeof(code),
				       .symbols = s,
				       .nsymbols = 64,
				       .rows = r,
				       .nrows = 64}};
		const struct ki_symbol *all;
		size_t n;

		for (size_t i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		for (int i = 0; i < 64; i++) {
			seed = seed * 1103515245 + 12345;
			s[i] = (struct ki_symbol){.addr = BASE + (seed >> 16) % 5000, .name = "s"};
			r[i] = (struct ki_reserved_row){s[i].addr - 7, seed & 63, seed >> 8 & 63,
							BASE + (seed >> 12) % 5000};
		}
		open_text(&x);
		all = ki_target_symbols(x.t, &n);
		for (size_t i = 0; i < n; i++) {
			char buf[64];

			assert_int_equal(ki_function_analyze(x.t, &all[i], &x.fn, NULL), 0);
			check_function(x.fn);
			for (uint32_t k = 0; k < x.fn->ninsns; k++)
				ki_insn_format(x.fn, &x.fn->insns[k], buf, sizeof(buf));
			ki_function_free(x.fn);
		}
		x.fn = NULL;
		close_text(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_make_blocks),
		cmocka_unit_test(calls_into_oneself),
		cmocka_unit_test(calls_that_do_not_return),
		cmocka_unit_test(code_without_a_symbol),
		cmocka_unit_test(thunks_are_what_they_do),
		cmocka_unit_test(traps),
		cmocka_unit_test(functions_without_code),
		cmocka_unit_test(calls_that_are_counted),
		cmocka_unit_test(bytes_that_are_no_code),
		cmocka_unit_test(computed_jumps),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
