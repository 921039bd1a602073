/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions, their text, and the liveness of flags, of hand-assembled functions.
 */
#include "common_code.h"

#include <string.h>

#include "code/decode/decode.h"

static void straight_line(void **state)
{
	/* push rbp; mov rbp,rsp; mov rax,[rip+0x10]; movl [rip+4],7; pop rbp; ret */
	TEXT(x, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0xc7, 0x05, 4, 0, 0, 0, 7,
	     0, 0, 0, 0x5d, 0xc3);

	(void)state;
	assert_int_equal(x.fn->ninsns, 6);
	assert_int_equal(x.fn->nblocks, 1);
	assert_int_equal(x.fn->reason, KI_R_OK);
	check_block(&x, 0, 0, 23);
	assert_int_equal(at(&x, 4)->flags, KI_INSN_RIP);
	assert_int_equal(at(&x, 4)->field, 3);
	assert_int_equal(at(&x, 4)->tail, 0);
	assert_int_equal(at(&x, 4)->target, BASE + 11 + 0x10);
	assert_int_equal(at(&x, 11)->field, 2);
	assert_int_equal(at(&x, 11)->tail, 4);
	assert_int_equal(at(&x, 11)->target, BASE + 21 + 4);
	assert_int_equal(at(&x, 22)->kind, KI_INSN_RET);
	assert_null(ki_function_insn_at(x.fn, BASE + 2));
	assert_null(ki_function_insn_at(x.fn, BASE + 23));
	assert_null(ki_function_insn_at(x.fn, BASE - 1));
	assert_null(ki_function_block_at(x.fn, BASE + 23));
	check_text(&x, 0, "push rbp");
	close_text(&x);
}

static void format_is_cut(void **state)
{
	TEXT(x, 0xe8, 0, 0x10, 0, 0, 0x06, 0xc3);
	char buf[8];

	(void)state;
	ki_insn_format(x.fn, at(&x, 0), buf, sizeof(buf));
	assert_string_equal(buf, "call 0x");
	ki_insn_format(x.fn, at(&x, 0), buf, 1);
	assert_string_equal(buf, "");
	ki_insn_format(x.fn, at(&x, 0), buf, 0);
	check_text(&x, 5, "(bad) 0x06");
	close_text(&x);
}

/* What one instruction alone gives. */
struct one {
	const char *name;
	uint8_t len, bytes[12];
	uint8_t kind;
	uint16_t reason;
};

static const struct one ones[] = {
	{"nop", 1, {0x90}, KI_INSN_PLAIN, KI_R_OK},
	{"pushf", 1, {0x9c}, KI_INSN_PLAIN, KI_R_OK},
	{"call *rax", 2, {0xff, 0xd0}, KI_INSN_CALL_INDIRECT, KI_R_OK},
	{"call *[rip]", 6, {0xff, 0x15, 1, 0, 0, 0}, KI_INSN_CALL_INDIRECT, KI_R_OK},
	{"call *rsp", 2, {0xff, 0xd4}, KI_INSN_CALL_INDIRECT, KI_R_STACK_CALL},
	{"call *r12", 3, {0x41, 0xff, 0xd4}, KI_INSN_CALL_INDIRECT, KI_R_OK},
	{"call *[rsp+8]", 4, {0xff, 0x54, 0x24, 8}, KI_INSN_CALL_INDIRECT, KI_R_STACK_CALL},
	{"call *[r12+8]", 5, {0x41, 0xff, 0x54, 0x24, 8}, KI_INSN_CALL_INDIRECT, KI_R_OK},
	{"call *[abs]", 7, {0xff, 0x14, 0x25, 0, 0, 0, 0}, KI_INSN_CALL_INDIRECT, KI_R_OK},
	{"call +0", 5, {0xe8, 0, 0, 0, 0}, KI_INSN_CALL, KI_R_STACK_CALL},
	{"jmp *rax", 2, {0xff, 0xe0}, KI_INSN_JMP_INDIRECT, KI_R_OK},
	{"jmp rel32", 5, {0xe9, 0, 1, 0, 0}, KI_INSN_JMP, KI_R_OK},
	{"cs jmp rel32", 6, {0x2e, 0xe9, 0, 1, 0, 0}, KI_INSN_JMP, KI_R_OK},
	{"ret", 1, {0xc3}, KI_INSN_RET, KI_R_OK},
	{"ret n", 3, {0xc2, 8, 0}, KI_INSN_RET, KI_R_OK},
	{"retf", 1, {0xcb}, KI_INSN_RET, KI_R_PRIVILEGED_INSN},
	{"iretq", 2, {0x48, 0xcf}, KI_INSN_RET, KI_R_PRIVILEGED_INSN},
	{"sysretq", 3, {0x48, 0x0f, 0x07}, KI_INSN_RET, KI_R_PRIVILEGED_INSN},
	{"sysexit", 2, {0x0f, 0x35}, KI_INSN_RET, KI_R_PRIVILEGED_INSN},
	{"far call", 2, {0xff, 0x1f}, KI_INSN_CALL_INDIRECT, KI_R_PRIVILEGED_INSN},
	{"far jmp", 2, {0xff, 0x2f}, KI_INSN_JMP_INDIRECT, KI_R_PRIVILEGED_INSN},
	{"loop", 2, {0xe2, 0xfe}, KI_INSN_LOOP, KI_R_OK},
	{"loope", 2, {0xe1, 0xfe}, KI_INSN_LOOP, KI_R_OK},
	{"jrcxz", 2, {0xe3, 0xfe}, KI_INSN_LOOP, KI_R_OK},
	{"jecxz", 3, {0x67, 0xe3, 0xfe}, KI_INSN_LOOP, KI_R_OK},
	{"xbegin", 6, {0xc7, 0xf8, 0, 0, 0, 0}, KI_INSN_JCC, KI_R_PRIVILEGED_INSN},
	{"ud0", 3, {0x0f, 0xff, 0xc0}, KI_INSN_TRAP, KI_R_BUG_SITE},
	{"ud1", 3, {0x0f, 0xb9, 0xcc}, KI_INSN_TRAP, KI_R_BUG_SITE},
	{"ud2", 2, {0x0f, 0x0b}, KI_INSN_TRAP, KI_R_OK},
	{"int3", 1, {0xcc}, KI_INSN_TRAP, KI_R_FOREIGN_BREAKPOINT},
	{"endbr64", 4, {0xf3, 0x0f, 0x1e, 0xfa}, KI_INSN_PLAIN, KI_R_ENDBR},
	{"sti", 1, {0xfb}, KI_INSN_PLAIN, KI_R_STI},
	{"cli", 1, {0xfa}, KI_INSN_PLAIN, KI_R_OK},
	{"hlt", 1, {0xf4}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"monitor", 3, {0x0f, 0x01, 0xc8}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mwait", 3, {0x0f, 0x01, 0xc9}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"swapgs", 3, {0x0f, 0x01, 0xf8}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"syscall", 2, {0x0f, 0x05}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"sysenter", 2, {0x0f, 0x34}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"int 0x80", 2, {0xcd, 0x80}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"int1", 1, {0xf1}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mov cr3,rax", 3, {0x0f, 0x22, 0xd8}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mov rax,cr2", 3, {0x0f, 0x20, 0xd0}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mov rbp,cr2", 3, {0x0f, 0x20, 0x15}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mov dr7,rax", 3, {0x0f, 0x23, 0xf8}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mov ss,eax", 2, {0x8e, 0xd0}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"mov ds,eax", 2, {0x8e, 0xd8}, KI_INSN_PLAIN, KI_R_OK},
	{"lgdt", 3, {0x0f, 0x01, 0x10}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"lidt", 3, {0x0f, 0x01, 0x18}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"ltr", 3, {0x0f, 0x00, 0xd8}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"lldt", 3, {0x0f, 0x00, 0xd0}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"clts", 2, {0x0f, 0x06}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"wbinvd", 2, {0x0f, 0x09}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"invd", 2, {0x0f, 0x08}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"rsm", 2, {0x0f, 0xaa}, KI_INSN_RET, KI_R_PRIVILEGED_INSN},
	{"vmcall", 3, {0x0f, 0x01, 0xc1}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"vmresume", 3, {0x0f, 0x01, 0xc3}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"vmrun", 3, {0x0f, 0x01, 0xd8}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"vmmcall", 3, {0x0f, 0x01, 0xd9}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"vmread", 3, {0x0f, 0x78, 0xc0}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"stgi", 3, {0x0f, 0x01, 0xdc}, KI_INSN_PLAIN, KI_R_PRIVILEGED_INSN},
	{"wrmsr", 2, {0x0f, 0x30}, KI_INSN_PLAIN, KI_R_OK},
	{"eip-relative", 7, {0x67, 0x8b, 0x05, 1, 0, 0, 0}, KI_INSN_PLAIN, KI_R_TOO_FAR},
	{"push es", 1, {0x06}, KI_INSN_BAD, KI_R_UNDECODABLE},
	{"cut off", 4, {0xe8, 0, 0, 0}, KI_INSN_BAD, KI_R_UNDECODABLE},
	{"prefixes",
	 12,
	 {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66},
	 KI_INSN_BAD,
	 KI_R_UNDECODABLE},
};

static void single_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ones) / sizeof(*ones); i++) {
		const struct one *o = &ones[i];
		struct ki_decoded d;

		ki_decode(o->bytes, o->len, BASE, &d);
		if (d.in.kind != o->kind || d.in.reason != o->reason)
			fail_msg("%s: kind %u, reason %s", o->name, d.in.kind,
				 ki_reason_tag(d.in.reason));
		if (d.in.len != (o->kind == KI_INSN_BAD ? 1 : o->len))
			fail_msg("%s: %u bytes", o->name, d.in.len);
		if (o->kind != KI_INSN_BAD)
			assert_int_equal(ki_decode_len(o->bytes, o->len), o->len);
	}
}

#define ALL KI_FLAG_ALL

static const struct {
	const char *name;
	uint8_t len, bytes[8], read, written;
} flag_cases[] = {
	{"mov", 3, {0x48, 0x89, 0xe5}, 0, 0},
	{"lea", 4, {0x48, 0x8d, 0x04, 0x07}, 0, 0},
	{"add", 3, {0x48, 0x01, 0xc0}, 0, ALL},
	{"adc", 3, {0x48, 0x11, 0xc0}, KI_FLAG_CF, ALL},
	{"inc", 3, {0x48, 0xff, 0xc0}, 0, ALL & ~KI_FLAG_CF},
	{"cmp", 3, {0x48, 0x39, 0xc0}, 0, ALL},
	{"test", 2, {0x85, 0xc0}, 0, ALL},
	{"not", 2, {0xf7, 0xd0}, 0, 0},
	{"neg", 2, {0xf7, 0xd8}, 0, ALL},
	{"mul", 2, {0xf7, 0xe0}, 0, ALL},
	{"shl 1", 2, {0xd1, 0xe0}, 0, ALL},
	{"shl 3", 3, {0xc1, 0xe0, 3}, 0, ALL},
	{"shl 32 of 32", 3, {0xc1, 0xe0, 32}, 0, 0},
	{"shl 32 of 64", 4, {0x48, 0xc1, 0xe0, 32}, 0, ALL},
	{"shl 0", 3, {0xc1, 0xe0, 0}, 0, 0},
	{"shl cl", 2, {0xd3, 0xe0}, 0, 0},
	{"sar cl", 3, {0x48, 0xd3, 0xf8}, 0, 0},
	{"shld cl", 3, {0x0f, 0xa5, 0xc0}, 0, 0},
	{"shld 4", 4, {0x0f, 0xa4, 0xc0, 4}, 0, ALL},
	{"rol 3", 3, {0xc1, 0xc0, 3}, 0, KI_FLAG_CF | KI_FLAG_OF},
	{"rol cl", 2, {0xd3, 0xc0}, 0, 0},
	{"rcr 1", 2, {0xd1, 0xd8}, KI_FLAG_CF, KI_FLAG_CF | KI_FLAG_OF},
	{"rcr 9", 3, {0xc0, 0xd8, 9}, KI_FLAG_CF, 0},
	{"cmpsb", 1, {0xa6}, 0, ALL},
	{"je", 2, {0x74, 0}, KI_FLAG_ZF, 0},
	{"jg", 2, {0x7f, 0}, KI_FLAG_ZF | KI_FLAG_SF | KI_FLAG_OF, 0},
	{"setb", 3, {0x0f, 0x92, 0xc0}, KI_FLAG_CF, 0},
	{"cmovne", 3, {0x0f, 0x45, 0xc1}, KI_FLAG_ZF, 0},
	{"pushf", 1, {0x9c}, ALL, 0},
	{"popf", 1, {0x9d}, 0, ALL},
	{"lahf", 1, {0x9f}, ALL & ~KI_FLAG_OF, 0},
	{"sahf", 1, {0x9e}, 0, ALL & ~KI_FLAG_OF},
	{"cmc", 1, {0xf5}, KI_FLAG_CF, KI_FLAG_CF},
	{"clc", 1, {0xf8}, 0, KI_FLAG_CF},
	{"cld", 1, {0xfc}, 0, 0},
	{"bt", 4, {0x48, 0x0f, 0xa3, 0xc8}, 0, ALL & ~KI_FLAG_ZF},
	{"cmpxchg", 4, {0xf0, 0x0f, 0xb1, 0x0f}, 0, ALL},
	{"cmpxchg8b", 3, {0x0f, 0xc7, 0x0f}, 0, KI_FLAG_ZF},
	{"shlx", 5, {0xc4, 0xe2, 0x79, 0xf7, 0xc0}, 0, 0},
	{"jrcxz", 2, {0xe3, 0}, 0, 0},
	{"loope", 2, {0xe1, 0}, KI_FLAG_ZF, 0},
	{"rep movsb", 2, {0xf3, 0xa4}, 0, 0},
	{"popcnt", 4, {0xf3, 0x0f, 0xb8, 0xc0}, 0, ALL},
	{"bad", 1, {0x06}, ALL, 0},
};

static void flags_of_instructions(void **state)
{
	static const uint8_t repe_cmpsb[] = {0xf3, 0xa6};
	struct ki_decoded d;
	uint8_t read, written;

	(void)state;
	for (size_t i = 0; i < sizeof(flag_cases) / sizeof(*flag_cases); i++) {
		ki_decode(flag_cases[i].bytes, flag_cases[i].len, BASE, &d);
		assert_int_equal(d.in.len, flag_cases[i].len);
		read = ki_regset_flags(d.use);
		written = ki_regset_flags(d.def);
		if (read != flag_cases[i].read || written != flag_cases[i].written)
			fail_msg("%s: reads %#x, writes %#x", flag_cases[i].name, read, written);
		assert_int_equal(!!(d.in.flags & KI_INSN_READS_FLAGS), !!read);
		assert_int_equal(!!(d.in.flags & KI_INSN_WRITES_FLAGS), written == ALL);
	}
	ki_decode(repe_cmpsb, 2, BASE, &d);
	assert_int_equal(ki_regset_flags(d.def), 0);
}

static void liveness_in_a_block(void **state)
{
	TEXT(x, 0x39, 0xf7,    /* 0 cmp edi,esi */
	     0x89, 0xc8,       /* 2 mov eax,ecx */
	     0x0f, 0x92, 0xc0, /* 4 setb al */
	     0xff, 0xc0,       /* 7 inc eax: writes all but CF, which nobody reads */
	     0x9c,	       /* 9 pushf: reads CF of the cmp after all */
	     0xd3, 0xe0,       /* 10 shl cl */
	     0x74, 0x01,       /* 12 je 15 */
	     0x90,	       /* 14 nop */
	     0xe8, 0, 1, 0, 0, /* 15 call */
	     0xc3);	       /* 20 ret */

	(void)state;
	assert_false(live(&x, 0));
	assert_true(live(&x, 2));
	assert_true(live(&x, 4));
	assert_true(live(&x, 7));
	assert_true(live(&x, 9));
	assert_true(live(&x, 10));
	assert_true(live(&x, 12));
	assert_false(live(&x, 14));
	assert_false(live(&x, 15));
	assert_false(live(&x, 20));
	close_text(&x);
}

static void liveness_around_a_loop(void **state)
{
	TEXT(x, 0x31, 0xc0,	  /* 0 xor eax,eax: CF is live after it, through the loop */
	     0x48, 0x8b, 0x17,	  /* 2 mov rdx,[rdi] */
	     0x48, 0x13, 0x16,	  /* 5 adc rdx,[rsi] */
	     0x48, 0x8d, 0x7f, 8, /* 8 lea rdi,[rdi+8] */
	     0xff, 0xc9,	  /* 12 dec ecx: keeps CF */
	     0x75, 0xf2,	  /* 14 jne 2 */
	     0x31, 0xd2,	  /* 16 xor edx,edx */
	     0xc3);

	(void)state;
	assert_int_equal(x.fn->nblocks, 3);
	assert_false(live(&x, 0));
	for (uint64_t off = 2; off < 16; off += at(&x, off)->len)
		assert_true(live(&x, off));
	assert_false(live(&x, 16));
	assert_false(live(&x, 18));
	close_text(&x);
}

static const struct ki_symbol three[] = {{.addr = BASE, .name = "f"},
					 {.addr = BASE + 16, .name = "g"},
					 {.addr = BASE + 32, .name = "f.cold"}};

static void liveness_over_the_edge(void **state)
{
	struct text x = {.m = {.kind = KI_TARGET_LIVE,
			       .symbols = three,
			       .nsymbols = 3,
			       BYTES(0x85, 0xff,			 /* 0 test */
				     0x0f, 0x84, 0x18, 0, 0, 0,		 /* 2 je f.cold */
				     0xe9, 0x03, 0, 0, 0,		 /* 8 jmp g */
				     0xcc, 0xcc, 0xcc,			 /* 13 */
				     0x90, 0xeb, 0x02, 0xcc, 0xcc, 0x90, /* g: 16 */
				     0x85, 0xff, 0x74, 0x01, 0x90, 0x90, /* 22: falls into .cold */
				     0x90, 0x90, 0x90, 0x90,		 /* 28 */
				     0xe9, 0xf5, 0xff, 0xff, 0xff)}};	 /* 32: jmp g+10 */

	(void)state;
	open_text(&x);
	look_at(&x, "f");
	/* ZF is read; what f.cold reads is not known. */
	assert_false(live(&x, 0));
	assert_true(live(&x, 2));
	assert_false(live(&x, 8));
	look_at(&x, "g");
	assert_false(live(&x, 0));
	assert_true(live(&x, 10));
	assert_true(live(&x, 12));
	look_at(&x, "f.cold");
	assert_true(live(&x, 0));
	close_text(&x);
}

static void emulated_cmpxchg_returns_flags(void **state)
{
	static const struct ki_symbol s[] = {{.addr = BASE, .name = "this_cpu_cmpxchg16b_emu"},
					     {.addr = BASE + 3, .name = "entry_SYSCALL_64"}};
	struct text x = {.m = {.kind = KI_TARGET_LIVE,
			       .symbols = s,
			       .nsymbols = 2,
			       BYTES(0x9d, 0x90, 0xc3, 0xc3)}};

	(void)state;
	open_text(&x);
	look_at(&x, s[0].name);
	assert_false(live(&x, 0));
	assert_true(live(&x, 1));
	assert_true(live(&x, 2));
	close_text(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight_line),
		cmocka_unit_test(format_is_cut),
		cmocka_unit_test(single_instructions),
		cmocka_unit_test(flags_of_instructions),
		cmocka_unit_test(liveness_in_a_block),
		cmocka_unit_test(liveness_around_a_loop),
		cmocka_unit_test(liveness_over_the_edge),
		cmocka_unit_test(emulated_cmpxchg_returns_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
