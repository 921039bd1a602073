// SPDX-License-Identifier: GPL-2.0-only
/*
 * The relocated copy of every kind of instruction has the one form that the driver expects, byte
 * for byte. That the forms do what the originals do is test_execute.c's business.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kerninst/splice.h"

struct form {
	const char *name;
	uint8_t kind, flags, field, tail;
	uint64_t target;
	const char *bytes, *copy; /* hexadecimal */
	struct ki_fixup fix[KI_FIXUPS];
};

#define AT   0x81000000ul /* sign-extended below */
#define HERE (0xffffffff00000000ul | AT)
#define REL(o, t, ...)                                                                             \
	{                                                                                          \
		.kind = KI_FIX_REL32, .off = o, .target = t, ##__VA_ARGS__                         \
	}
#define RET(n)                                                                                     \
	{                                                                                          \
		.kind = KI_FIX_ABS32, .off = 10, .target = HERE + (n)                              \
	}

#define OVER                                                                                       \
	"e8 01 00 00 00 cc 48 c7 04 24 00 00 00 00 " /* what every displaced call begins with */

/* clang-format off */
static const struct form forms[] = {
	{"plain", KI_INSN_PLAIN, 0, 0, 0, 0, "48 89 e5", "48 89 e5", {{0}}},
	{"rip", KI_INSN_PLAIN, KI_INSN_RIP, 3, 0, HERE + 7 + 0x10, "48 8b 05 10 00 00 00",
	 "48 8b 05 00 00 00 00", {REL(3, HERE + 7 + 0x10)}},
	{"rip with immediate", KI_INSN_PLAIN, KI_INSN_RIP, 2, 4, HERE + 10 + 0x20,
	 "c7 05 20 00 00 00 78 56 34 12",
	 "c7 05 00 00 00 00 78 56 34 12", {REL(2, HERE + 10 + 0x20, .tail = 4)}},
	{"jcc rel8", KI_INSN_JCC, 0, 1, 0, HERE + 2 - 16, "74 f0",
	 "0f 84 00 00 00 00", {REL(2, HERE + 2 - 16)}},
	{"jcc rel32", KI_INSN_JCC, 0, 2, 0, HERE + 6 + 0x1000, "0f 8f 00 10 00 00",
	 "0f 8f 00 00 00 00", {REL(2, HERE + 6 + 0x1000)}},
	{"jcc with a hint", KI_INSN_JCC, 0, 2, 0, HERE + 3 + 4, "2e 75 04",
	 "0f 85 00 00 00 00", {REL(2, HERE + 3 + 4)}},
	{"jmp rel8", KI_INSN_JMP, 0, 1, 0, HERE + 2 + 0x7f, "eb 7f",
	 "e9 00 00 00 00", {REL(1, HERE + 2 + 0x7f)}},
	{"jmp rel32", KI_INSN_JMP, 0, 1, 0, HERE + 5 - 1, "e9 ff ff ff ff",
	 "e9 00 00 00 00", {REL(1, HERE + 4)}},
	{"return thunk", KI_INSN_RET, 0, 1, 0, 0, "e9 00 01 00 00",
	 "e9 00 00 00 00", {REL(1, HERE + 5 + 0x100)}},
	{"retpoline jump", KI_INSN_JMP_INDIRECT, 0, 2, 0, 0, "2e e9 00 01 00 00",
	 "e9 00 00 00 00", {REL(1, HERE + 6 + 0x100)}},
	{"retpoline jcc", KI_INSN_JMP_INDIRECT, 0, 2, 0, 0, "2e 0f 84 00 01 00 00",
	 "0f 84 00 00 00 00", {REL(2, HERE + 7 + 0x100)}},
	{"call", KI_INSN_CALL, 0, 1, 0, HERE + 5 + 0x40, "e8 40 00 00 00",
	 OVER "e9 00 00 00 00", {RET(5), REL(15, HERE + 5 + 0x40)}},
	{"retpoline call", KI_INSN_CALL_INDIRECT, 0, 2, 0, 0, "2e e8 40 00 00 00",
	 OVER "e9 00 00 00 00", {RET(6), REL(15, HERE + 6 + 0x40)}},
	{"call *%rax", KI_INSN_CALL_INDIRECT, 0, 0, 0, 0, "ff d0",
	 OVER "ff e0", {RET(2)}},
	{"call *%r11", KI_INSN_CALL_INDIRECT, 0, 0, 0, 0, "41 ff d3",
	 OVER "41 ff e3", {RET(3)}},
	{"notrack call *8(%rax)", KI_INSN_CALL_INDIRECT, 0, 3, 0, 0, "3e ff 50 08",
	 OVER "3e ff 60 08", {RET(4)}},
	{"call *%gs:0x28(%rbx)", KI_INSN_CALL_INDIRECT, 0, 3, 0, 0, "65 ff 53 28",
	 OVER "65 ff 63 28", {RET(4)}},
	{"call *rip", KI_INSN_CALL_INDIRECT, KI_INSN_RIP, 2, 0, HERE + 6 + 0x30, "ff 15 30 00 00 00",
	 OVER "ff 25 00 00 00 00", {RET(6), REL(16, HERE + 6 + 0x30)}},
	{"call *(%r12)", KI_INSN_CALL_INDIRECT, 0, 0, 0, 0, "41 ff 14 24",
	 OVER "41 ff 24 24", {RET(4)}},
	{"jmp *%rdx", KI_INSN_JMP_INDIRECT, 0, 0, 0, 0, "ff e2", "ff e2", {{0}}},
	{"jmp *rip", KI_INSN_JMP_INDIRECT, KI_INSN_RIP, 2, 0, HERE + 6 + 8, "ff 25 08 00 00 00",
	 "ff 25 00 00 00 00", {REL(2, HERE + 6 + 8)}},
	{"ret", KI_INSN_RET, 0, 0, 0, 0, "c3", "c3", {{0}}},
	{"ret $16", KI_INSN_RET, 0, 0, 0, 0, "c2 10 00", "c2 10 00", {{0}}},
	{"rep ret", KI_INSN_RET, 0, 0, 0, 0, "f3 c3", "f3 c3", {{0}}},
	{"loop", KI_INSN_LOOP, 0, 1, 0, HERE, "e2 fe",
	 "e2 02 eb 05 e9 00 00 00 00", {REL(5, HERE)}},
	{"loope", KI_INSN_LOOP, 0, 1, 0, HERE + 2 + 0x7f, "e1 7f",
	 "e1 02 eb 05 e9 00 00 00 00", {REL(5, HERE + 2 + 0x7f)}},
	{"loopne", KI_INSN_LOOP, 0, 1, 0, HERE + 2 - 0x80, "e0 80",
	 "e0 02 eb 05 e9 00 00 00 00", {REL(5, HERE + 2 - 0x80)}},
	{"jrcxz", KI_INSN_LOOP, 0, 1, 0, HERE + 2, "e3 00",
	 "e3 02 eb 05 e9 00 00 00 00", {REL(5, HERE + 2)}},
	{"jecxz", KI_INSN_LOOP, 0, 2, 0, HERE + 3 + 5, "67 e3 05",
	 "67 e3 02 eb 05 e9 00 00 00 00", {REL(6, HERE + 3 + 5)}},
	{"loop with a hint, %ecx, REX", KI_INSN_LOOP, 0, 4, 0, HERE + 5 + 5, "2e 67 48 e2 05",
	 "67 e2 02 eb 05 e9 00 00 00 00", {REL(6, HERE + 5 + 5)}},
	{"ud2", KI_INSN_TRAP, 0, 0, 0, 0, "0f 0b", "0f 0b", {{0}}},
	{"mov with a fixup", KI_INSN_PLAIN, KI_INSN_EXTABLE, 0, 0, 0, "48 8b 07", "48 8b 07", {{0}}},
	{"mov %gs:rip", KI_INSN_PLAIN, KI_INSN_RIP, 4, 0, HERE + 8 + 0x10, "65 48 8b 05 10 00 00 00",
	 "65 48 8b 05 00 00 00 00", {REL(4, HERE + 8 + 0x10)}},
	{"endbr64, by somebody who may", KI_INSN_PLAIN, 0, 0, 0, 0, "f3 0f 1e fa", "f3 0f 1e fa",
	 {{0}}},
};
/* clang-format on */

static size_t parse_hex(const char *s, uint8_t *out)
{
	size_t n = 0;

	for (; *s; s += s[2] ? 3 : 2)
		out[n++] = (uint8_t)strtoul((char[]){s[0], s[1], 0}, NULL, 16);
	return n;
}

static void canonical_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const struct form *f = &forms[i];
		struct ki_insn in = {.addr = HERE,
				     .target = f->target,
				     .kind = f->kind,
				     .flags = f->flags,
				     .field = f->field,
				     .tail = f->tail};
		struct ki_copy copy, want = {0};
		uint8_t bytes[16] = {0};

		in.len = want.orig_len = (uint8_t)parse_hex(f->bytes, bytes);
		want.len = (uint8_t)parse_hex(f->copy, want.code);
		memcpy(want.fix, f->fix, sizeof(want.fix));
		want.nfix = (uint8_t)(!!f->fix[0].kind + !!f->fix[1].kind);
		if (ki_relocate(&in, bytes, &copy) != KI_R_OK)
			fail_msg("%s: refused", f->name);
		if (memcmp(&copy, &want, sizeof(want)))
			fail_msg("%s: another copy", f->name);
	}
}

static const struct {
	const char *bytes;
	uint8_t kind;
	uint16_t given, reason; /* of the instruction; of the refusal */
} refusals[] = {
	{"66 e3 00", KI_INSN_LOOP, 0, KI_R_UNDECODABLE},
	{"67 66 e2 fe", KI_INSN_LOOP, 0, KI_R_UNDECODABLE},
	{"f3 e0 00", KI_INSN_LOOP, 0, KI_R_LOOP_INSN},
	{"f2 e1 00", KI_INSN_LOOP, 0, KI_R_LOOP_INSN},
	{"e2", KI_INSN_LOOP, 0, KI_R_UNDECODABLE},
	{"ff d4", KI_INSN_CALL_INDIRECT, 0, KI_R_STACK_CALL},	    /* call *%rsp */
	{"ff 14 24", KI_INSN_CALL_INDIRECT, 0, KI_R_STACK_CALL},    /* call *(%rsp) */
	{"ff 54 24 08", KI_INSN_CALL_INDIRECT, 0, KI_R_STACK_CALL}, /* call *8(%rsp) */
	{"ff 54 c4 08", KI_INSN_CALL_INDIRECT, 0, KI_R_STACK_CALL}, /* call *8(%rsp,%rax,8) */
	{"e8 00 00 00 00", KI_INSN_CALL, 0, KI_R_STACK_CALL},	    /* call to what follows */
	{"ff 1c 25 00 00 00 00", KI_INSN_CALL_INDIRECT, 0, KI_R_UNDECODABLE}, /* far */
	{"ff 2c 25 00 00 00 00", KI_INSN_JMP_INDIRECT, 0, KI_R_UNDECODABLE},  /* far */
	{"66 e9 00 00 00 00", KI_INSN_JMP, 0, KI_R_UNDECODABLE},
	{"66 75 00", KI_INSN_JCC, 0, KI_R_UNDECODABLE},
	{"66 e8 00 00", KI_INSN_CALL, 0, KI_R_UNDECODABLE},
	{"e9", KI_INSN_JMP, 0, KI_R_UNDECODABLE},
	{"0f", KI_INSN_JCC, 0, KI_R_UNDECODABLE},
	{"2e", KI_INSN_JMP, 0, KI_R_UNDECODABLE},
	{"0f b9 c0", KI_INSN_TRAP, 0, KI_R_BUG_SITE},
	{"0f ff c0", KI_INSN_TRAP, 0, KI_R_BUG_SITE},
	{"cc", KI_INSN_TRAP, 0, KI_R_BUG_SITE},
	{"f3 0f 1e fa", KI_INSN_PLAIN, KI_R_ENDBR, KI_R_ENDBR},
	{"06", KI_INSN_BAD, 0, KI_R_UNDECODABLE},
	{"c7 f8 10 00 00 00", KI_INSN_PLAIN, 0, KI_R_PRIVILEGED_INSN}, /* xbegin */
	{"90", KI_INSN_PLAIN, KI_R_EXTABLE, KI_R_EXTABLE},
	{"0f 1f 44 00 00", KI_INSN_PLAIN, KI_R_FTRACE_SITE, KI_R_FTRACE_SITE},
};

static void refused_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct ki_insn in = {
			.addr = HERE, .kind = refusals[i].kind, .reason = refusals[i].given};
		uint8_t bytes[16] = {0};
		struct ki_copy copy;
		unsigned int got;

		in.len = (uint8_t)parse_hex(refusals[i].bytes, bytes);
		got = ki_relocate(&in, bytes, &copy);
		if (got != refusals[i].reason)
			fail_msg("%s: %s, not %s", refusals[i].bytes, ki_reason_tag(got),
				 ki_reason_tag(refusals[i].reason));
	}
}

/* A return address that push cannot extend to 64 bits: a process's is put together. */
static void return_address_out_of_reach(void **state)
{
	static const uint8_t call[] = {0xe8, 1, 2, 3, 4};
	static const uint8_t far[] = {0x68, 5,	  0, 0,	   0, 0xc7, 0x44,
				      0x24, 0x04, 0, 0x7f, 0, 0,    0xe9};
	struct ki_insn in = {.addr = 0x7f0000000000, .len = 5, .kind = KI_INSN_CALL, .field = 1};
	struct ki_copy copy;

	(void)state;
	assert_int_equal(ki_relocate(&in, call, &copy), KI_R_OK);
	assert_int_equal(copy.len, sizeof(far) + 4);
	assert_memory_equal(copy.code, far, sizeof(far));
	assert_int_equal(copy.nfix, 1);
	assert_int_equal(copy.fix[0].off, sizeof(far));
	in.addr = 0x80000000 - 5;
	assert_int_equal(ki_relocate(&in, call, &copy), KI_R_OK);
	assert_int_equal(copy.len, sizeof(far) + 4);
	in.addr = 1ull << 47;
	assert_int_equal(ki_relocate(&in, call, &copy), KI_R_TOO_FAR);
	in.addr = 0x80000000 - 6;
	assert_int_equal(ki_relocate(&in, call, &copy), KI_R_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canonical_forms),
		cmocka_unit_test(refused_forms),
		cmocka_unit_test(return_address_out_of_reach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
