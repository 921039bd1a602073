// SPDX-License-Identifier: GPL-2.0-only
/* Where arguments of probes are that are written into programs; and text that says nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dlang/probe/operand.h"

static const struct row {
	const char *text;
	struct ki_d_operand want;
} rows[] = {
	{"8@%rax", {KI_D_REGISTER, 8, false, 0, -1, 0, 0, 0}},
	{"-4@%eax", {KI_D_REGISTER, 4, true, 0, -1, 0, 0, 0}},
	{"2@%r9w", {KI_D_REGISTER, 2, false, 9, -1, 0, 0, 0}},
	{"-1@%r15b", {KI_D_REGISTER, 1, true, 15, -1, 0, 0, 0}},
	{"1@%bh", {KI_D_REGISTER, 1, false, 3, -1, 8, 0, 0}},
	{"1@%dil", {KI_D_REGISTER, 1, false, 7, -1, 0, 0, 0}},
	{"-4@$-5", {KI_D_IMMEDIATE, 4, true, -1, -1, 0, 0, -5}},
	{"8@$0x10", {KI_D_IMMEDIATE, 8, false, -1, -1, 0, 0, 16}},
	{"8@-16(%rbp)", {KI_D_IN_MEMORY, 8, false, 5, -1, 0, 1, -16}},
	{"4@(%r12)", {KI_D_IN_MEMORY, 4, false, 12, -1, 0, 1, 0}},
	{"4@8(%rax,%rdx,4)", {KI_D_IN_MEMORY, 4, false, 0, 2, 0, 4, 8}},
	{"4@8(,%rdx,8)", {KI_D_IN_MEMORY, 4, false, -1, 2, 0, 8, 8}},
	{"4@(%rax,%rbx)", {KI_D_IN_MEMORY, 4, false, 0, 3, 0, 1, 0}},
};

static const char *const nothing[] = {
	"",	     "8",
	"@%rax",     "3@%rax",
	"8@",	     "8@%",
	"8@%rip",    "8@%xmm0",
	"8@%r16",    "8@%r7",
	"8@$",	     "8@x(%rip)",
	"8@4(%rip)", "8@(%rax",
	"8@(%rax)x", "8@(,,)",
	"8@()",	     "8f@%xmm0",
	"16@%rax",   "8@%raxraxrax",
	"8@sym",     "-9223372036854775808@%rax",
};

static void test_operands(void **state)
{
	struct ki_d_operand o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ki_d_operands(rows[i].text, &o, 1);
		assert_memory_equal(&o, &rows[i].want, sizeof(o));
	}
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
		ki_d_operands(nothing[i], &o, 1);
		assert_int_equal(o.kind, KI_D_NO_OPERAND);
	}
}

static void test_several(void **state)
{
	struct ki_d_operand o[4];

	(void)state;
	ki_d_operands(" -4@%edi  8@what 8@$7", o, 4);
	assert_int_equal(o[0].kind, KI_D_REGISTER);
	assert_int_equal(o[1].kind, KI_D_NO_OPERAND);
	assert_int_equal(o[2].kind, KI_D_IMMEDIATE);
	assert_int_equal(o[2].disp, 7);
	assert_int_equal(o[3].kind, KI_D_NO_OPERAND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
