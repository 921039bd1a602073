// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snippets about a thread of a process: registers, parameters, results and memory are the thread's,
 * from where a parameter says that its registers are (struct pt_regs of asm/ptrace.h).
 */
#include <asm/ptrace.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kerninst/predicate.h"
#include "kerninst/snippet.h"

#define REGS  0xffff888000001000ull /* where the thread's are */
#define STACK 0x7ffc00001000ull

static const struct pt_regs thread = {
	.r15 = 15,
	.r14 = 14,
	.r13 = 13,
	.r12 = 12,
	.rbp = 105,
	.rbx = 103,
	.r11 = 11,
	.r10 = 10,
	.r9 = 9,
	.r8 = 8,
	.rax = 100,
	.rcx = 101,
	.rdx = 102,
	.rsi = 106,
	.rdi = 107,
	.rip = 0x401000,
	.rsp = STACK,
};

static uint64_t load(void *arg, uint64_t addr, unsigned int size)
{
	uint64_t v = 0;

	(void)arg;
	assert_true(addr >= REGS && addr + size <= REGS + sizeof(thread));
	memcpy(&v, (const char *)&thread + (addr - REGS), size);
	return v;
}

/* Words of the process's memory are their own addresses, one's complement. */
static uint64_t user(void *arg, uint64_t addr, unsigned int size)
{
	(void)arg;
	return size == 8 ? ~addr : ~addr & ((UINT64_C(1) << 8 * size) - 1);
}

/* What the text is where the thread is; else the error's reason. */
static uint64_t value(const char *text, const struct ki_site_regs *at, unsigned int *reason)
{
	const struct ki_var result = {.kind = KI_VAR_GLOBAL, .type = KI_U64};
	const struct ki_site_regs here = {.at_entry = true};
	uint64_t out = 0;
	struct ki_machine m = {.regs = {[KI_RDI] = 0x401000, [KI_RSI] = REGS},
			       .globals = &out,
			       .nglobals = 1,
			       .tgid = 77,
			       .load = load,
			       .user = user};
	struct ki_err err = {0};
	struct ki_predicate *p;
	struct ki_snippet *s;
	struct ki_node *x;
	int ret;

	assert_int_equal(ki_predicate_new_value(text, &p, &err), 0);
	assert_int_equal(ki_snippet_new(&s), 0);
	ki_snippet_of_thread(s, 1, at);
	ret = ki_predicate_build(p, s, NULL, &x, &err);
	ki_snippet_of_thread(s, 1, NULL);
	*reason = err.reason;
	if (!ret) {
		/* what is built now is the kernel's */
		x = ki_expr_cond(s,
				 ki_expr_binary(s, KI_EQ, ki_expr_param(s, 0),
						ki_expr_const(s, KI_U64, 0x401000)),
				 x, ki_expr_const(s, KI_I64, -1));
		ki_snippet_body(s, ki_stmt_update(s, KI_SET, &result, NULL, x));
		assert_int_equal(ki_snippet_run(s, &here, &m, &err), 0);
	}
	ki_snippet_free(s);
	ki_predicate_free(p);
	return out;
}

static uint64_t is(const char *text, const struct ki_site_regs *at)
{
	unsigned int reason;
	const uint64_t v = value(text, at, &reason);

	assert_int_equal(reason, KI_R_OK);
	return v;
}

static void registers(void **state)
{
	static const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{"$rax", 100},	 {"$rcx", 101}, {"$rdx", 102}, {"$rbx", 103},
		{"$rsp", STACK}, {"$rbp", 105}, {"$rsi", 106}, {"$rdi", 107},
		{"$r8", 8},	 {"$r9", 9},	{"$r10", 10},  {"$r11", 11},
		{"$r12", 12},	 {"$r13", 13},	{"$r14", 14},  {"$r15", 15},
	};
	const struct ki_site_regs at = {.user = true};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(is(rows[i].name, &at), rows[i].value);
	assert_int_equal(is("pid * 2", &at), 154);
}

static void parameters(void **state)
{
	const struct ki_site_regs at = {.user = true, .at_entry = true, .pushed = 2};
	static const uint64_t want[] = {107, 106, 102, 101, 8, 9};
	char name[8] = "arg0";
	unsigned int reason;

	(void)state;
	for (unsigned int i = 0; i < 6; i++, name[3]++)
		assert_int_equal(is(name, &at), want[i]);
	assert_int_equal(is("arg6", &at), ~(STACK + 8 * 3));
	assert_int_equal(is("arg7", &at), ~(STACK + 8 * 4));
	value("arg0", &(struct ki_site_regs){.user = true, .at_exit = true}, &reason);
	assert_int_equal(reason, KI_R_NO_PARAMETER);
}

static void results(void **state)
{
	unsigned int reason;

	(void)state;
	assert_int_equal(is("retval", &(struct ki_site_regs){.at_exit = true}), 100);
	value("retval", &(struct ki_site_regs){.at_entry = true}, &reason);
	assert_int_equal(reason, KI_R_NO_RETVAL);
}

static void memory(void **state)
{
	const struct ki_site_regs at = {.user = true, .at_entry = true};

	(void)state;
	assert_int_equal(is("*(u64 *)arg0", &at), ~UINT64_C(107));
	assert_int_equal(is("*(u8 *)(arg0 + 1)", &at), (uint8_t)~108);
	assert_int_equal(is("*(short *)arg0", &at), (uint64_t)(int16_t)~107);
	assert_int_equal(is("*(u32 *)$rsp", &at), (uint32_t)~STACK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers),
		cmocka_unit_test(parameters),
		cmocka_unit_test(results),
		cmocka_unit_test(memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
