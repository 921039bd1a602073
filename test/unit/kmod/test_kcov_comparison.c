// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes before a comparison for KCOV: the assembler says what instructions there are, a table
 * what each compares. The code is executed here: if the task is traced the helper gets both values,
 * or where they are, and nothing otherwise; all registers are as they were; the driver's check lets
 * it pass, and nothing that is nearly it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common_drv.h"
#include "common_exec.h"
#include "common_vet.h"
#include "kcov_fixture.h"
#include "code/decode/decode.h"
#include "kerninst/kcov.h"

#define ADDR	  0xffffffff81234567ull
#define HERE_DISP 64
#define ROUNDS	  50
#define AT_CODE	  0x1000 /* where the table's instructions are said to be */

static uint64_t here[32];

/* What an operand is: a number, a register (its high half too), base + index * scale + number. */
#define NUMBER(n)                                                                                  \
	{                                                                                          \
		KI_COMPARED_NUMBER, 0, false, 0, 0, 0, (int64_t)(n)                                \
	}
#define REG(r)                                                                                     \
	{                                                                                          \
		KI_COMPARED_REGISTER, KI_##r, false, 0, 0, 0, 0                                    \
	}
#define HIGH(r)                                                                                    \
	{                                                                                          \
		KI_COMPARED_REGISTER, KI_##r, true, 0, 0, 0, 0                                     \
	}
#define MEM(base, index, s, n)                                                                     \
	{                                                                                          \
		KI_COMPARED_MEMORY, 0, false, base, index, s, (int64_t)(n)                         \
	}
#define NONE KI_COMPARED_NONE

/* INSN(what the assembler is told, size, first, second); NOT(what compares nothing that is told) */
#define TABLE                                                                                      \
	INSN("cmp $5, %cl", 1, NUMBER(5), REG(RCX))                                                \
	INSN("cmp $-1, %al", 1, NUMBER(-1), REG(RAX))                                              \
	INSN("cmp $0x1234, %ax", 2, NUMBER(0x1234), REG(RAX))                                      \
	INSN("cmp $0x89abcdef, %eax", 4, NUMBER((int32_t)0x89abcdef), REG(RAX))                    \
	INSN("cmp $-4095, %rax", 8, NUMBER(-4095), REG(RAX))                                       \
	INSN("cmp $7, %edi", 4, NUMBER(7), REG(RDI))                                               \
	INSN("cmp $0x7fffffff, %r13", 8, NUMBER(0x7fffffff), REG(R13))                             \
	INSN("cmp $3, %dh", 1, NUMBER(3), HIGH(RDX))                                               \
	INSN("cmp $3, %sil", 1, NUMBER(3), REG(RSI))                                               \
	INSN("cmp %rsi, %rdi", 8, REG(RDI), REG(RSI))                                              \
	INSN("cmp %eax, %ebx", 4, REG(RBX), REG(RAX))                                              \
	INSN("cmp %rbp, %rax", 8, REG(RAX), REG(RBP))                                              \
	INSN("cmp %ah, %bl", 1, REG(RBX), HIGH(RAX))                                               \
	INSN("cmp %al, %ah", 1, HIGH(RAX), REG(RAX))                                               \
	INSN("cmp (%rdi), %rax", 8, REG(RAX), MEM(KI_RDI, NONE, 1, 0))                             \
	INSN("cmp (%rax), %rax", 8, REG(RAX), MEM(KI_RAX, NONE, 1, 0))                             \
	INSN("cmp 8(%rax,%rcx,4), %ah", 1, HIGH(RAX), MEM(KI_RAX, KI_RCX, 4, 8))                   \
	INSN("cmp %r9w, 0x1234(%r12)", 2, MEM(KI_R12, NONE, 1, 0x1234), REG(R9))                   \
	INSN("cmp %rax, -8(%rbp,%r12,8)", 8, MEM(KI_RBP, KI_R12, 8, -8), REG(RAX))                 \
	INSN("cmpl $1, (%rsp)", 4, NUMBER(1), MEM(KI_RSP, NONE, 1, 0))                             \
	INSN("cmpq $5, 8(%rsp)", 8, NUMBER(5), MEM(KI_RSP, NONE, 1, 8))                            \
	INSN("cmp %rcx, 16(%rsp,%rax,2)", 8, MEM(KI_RSP, KI_RAX, 2, 16), REG(RCX))                 \
	INSN("cmpb $0, 0x11223344(,%r13,8)", 1, NUMBER(0), MEM(NONE, KI_R13, 8, 0x11223344))       \
	INSN("cmpl $2, 0xffffffff81000000", 4, NUMBER(2), MEM(NONE, NONE, 1, 0xffffffff81000000))  \
	INSN("cmpw $-2, 4(%r13)", 2, NUMBER(-2), MEM(KI_R13, NONE, 1, 4))                          \
	INSN("{load} cmp %rax, %rdx", 8, REG(RDX), REG(RAX))                                       \
	INSN("test %rax, %rax", 8, NUMBER(0), REG(RAX))                                            \
	INSN("test %r8b, %r8b", 1, NUMBER(0), REG(R8))                                             \
	INSN("test %ah, %ah", 1, NUMBER(0), HIGH(RAX))                                             \
	INSN("test %ah, %al", 1, REG(RAX), HIGH(RAX))                                              \
	INSN("test %esi, %edi", 4, REG(RDI), REG(RSI))                                             \
	INSN("test $0x20, %ch", 1, NUMBER(0x20), HIGH(RCX))                                        \
	INSN("test $0x40, %al", 1, NUMBER(0x40), REG(RAX))                                         \
	INSN("test $0xfff7f7f0, %esi", 4, NUMBER((int32_t)0xfff7f7f0), REG(RSI))                   \
	INSN("test $-8, %rbx", 8, NUMBER(-8), REG(RBX))                                            \
	INSN("testb $4, 0x44(%r14)", 1, NUMBER(4), MEM(KI_R14, NONE, 1, 0x44))                     \
	INSN("test %rdx, (%rdi,%rsi)", 8, MEM(KI_RDI, KI_RSI, 1, 0), REG(RDX))                     \
	NOT("cmp %rax, %rax")                                                                      \
	NOT("cmp %rsp, %rax")                                                                      \
	NOT("cmp $8, %rsp")                                                                        \
	NOT("cmp %ah, %ah")                                                                        \
	NOT("cmpl $1, %gs:0x10")                                                                   \
	NOT("cmp %fs:(%rdi), %rax")                                                                \
	NOT("cmpl $1, (%edi)")                                                                     \
	NOT("sub $1, %eax")                                                                        \
	NOT("and $1, %eax")                                                                        \
	NOT("bt $3, %eax")                                                                         \
	NOT("dec %ecx")                                                                            \
	NOT("cmpsb")                                                                               \
	NOT("cmpxchg %rcx, (%rdi)")                                                                \
	NOT("ptest %xmm0, %xmm1")                                                                  \
	NOT("sete %al")

#define INSN(text, ...)                                                                            \
	"1: " text "\n.pushsection .data.rel.lengths, \"aw\"; .byte 2f - 1b; .popsection\n2:\n"
#define NOT(text) INSN(text)
asm(".pushsection .rodata.insns, \"a\"\n"
    ".pushsection .data.rel.lengths, \"aw\"\nlengths: .popsection\n"
    "insns:\n" TABLE ".popsection\n");
#undef INSN
#undef NOT
extern const uint8_t insns[], lengths[];

static const struct row {
	const char *text;
	uint8_t size; /* 0: it is none */
	struct ki_compared first, second;
} rows[] = {
#define INSN(text, ...) {text, __VA_ARGS__},
#define NOT(code)	{.text = (code)},
	TABLE
#undef INSN
#undef NOT
};
#define ROWS (sizeof(rows) / sizeof(*rows))

/* ---- what is compared ---- */

static bool read_at(const uint8_t *bytes, size_t len, uint8_t flags, struct ki_insn_comparison *out)
{
	struct ki_function fn = {.start = AT_CODE};
	struct ki_decoded d;
	uint8_t copy[16];

	memcpy(copy, bytes, len);
	fn.bytes = copy;
	ki_decode(copy, len, AT_CODE, &d);
	assert_int_equal(d.in.len, len);
	d.in.flags |= flags;
	return ki_insn_compares(&fn, &d.in, out);
}

static void same(const struct row *row, const struct ki_compared *a, const struct ki_compared *b)
{
	if (a->kind != b->kind || a->number != b->number)
		fail_msg("%s: another kind, or number", row->text);
	if (a->kind == KI_COMPARED_REGISTER && (a->reg != b->reg || a->high != b->high))
		fail_msg("%s: another register", row->text);
	if (a->kind == KI_COMPARED_MEMORY && (a->base != b->base || a->index != b->index ||
					      (a->index != NONE && a->scale != b->scale)))
		fail_msg("%s: other memory", row->text);
}

static void tells_what_is_compared(void **state)
{
	const uint8_t *at = insns;

	(void)state;
	for (size_t i = 0; i < ROWS; at += lengths[i++]) {
		struct ki_insn_comparison cmp, none;

		if (read_at(at, lengths[i], 0, &cmp) != (rows[i].size != 0))
			fail_msg("%s: is it one?", rows[i].text);
		assert_false(read_at(at, lengths[i], KI_INSN_EXTABLE, &none));
		if (!rows[i].size)
			continue;
		assert_int_equal(cmp.size, rows[i].size);
		same(&rows[i], &cmp.first, &rows[i].first);
		same(&rows[i], &cmp.second, &rows[i].second);
	}
}

/* What is relative to %rip is where the decoder says. */
static void knows_addresses(void **state)
{
	static const uint8_t code[] = {0x83, 0x3d, 0x78, 0x56,
				       0x34, 0x12, 9}; /* cmpl $9, x(%rip) */
	struct ki_insn_comparison cmp;

	(void)state;
	assert_true(read_at(code, sizeof(code), 0, &cmp));
	assert_int_equal(cmp.second.kind, KI_COMPARED_MEMORY);
	assert_int_equal(cmp.second.number, AT_CODE + sizeof(code) + 0x12345678);
	assert_int_equal(cmp.second.base, NONE);
	assert_int_equal(cmp.second.index, NONE);
}

/* ---- what is done ---- */

static uint64_t *said(void)
{
	return (uint64_t *)exec_mem->data;
}

static uint8_t *put32(uint8_t *at, uintptr_t v)
{
	memcpy(at, &(uint32_t){(uint32_t)v}, 4);
	return at + 4;
}

/* A helper: the words on the stack go to said[0..2], how often it was called to said[3]. */
static void write_helper(uint8_t *at)
{
	for (unsigned int i = 0; i < KI_COMPARISON_WORDS; i++) {
		const uint8_t load[] = {0x48, 0x8b, 0x44, 0x24, (uint8_t)(8 + 8 * i)};
		const uint8_t store[] = {0x48, 0x89, 0x04, 0x25};

		memcpy(at, load, sizeof(load));			 /* mov 8 + 8 * i(%rsp), %rax */
		memcpy(at + sizeof(load), store, sizeof(store)); /* mov %rax, said[i] */
		at = put32(at + sizeof(load) + sizeof(store), (uintptr_t)&said()[i]);
	}
	memcpy(at, (const uint8_t[]){0x83, 0x04, 0x25}, 3); /* addl $1, said[3] */
	at = put32(at + 3, (uintptr_t)&said()[3]);
	memcpy(at, (const uint8_t[]){1, 0xb8}, 2); /* mov $GARBAGE, %eax; ret */
	at = put32(at + 2, 0x11223344);
	*at = 0xc3;
}

static void place(const struct ki_long_code *c)
{
	place_code(&(struct kcov_fixture){KI_SELF_KCOV_COMPARISONS, KI_HELPER_KCOV_COMPARISON,
					  HERE_DISP},
		   c);
	write_helper(exec_mem->patch);
}

static uint64_t in_register(unsigned int reg)
{
	return reg == KI_RSP ? exec_in.rsp : exec_in.r[reg < KI_RSP ? reg : reg - 1];
}

/* The word that the helper is to get, as far as it counts; flags: how it is to be told of it. */
static uint64_t word(const struct ki_compared *c, uint64_t *flags, uint64_t *counts)
{
	const uint64_t mask = *counts;

	*flags = c->high			 ? KI_COMPARISON_HIGH
		 : c->kind == KI_COMPARED_MEMORY ? KI_COMPARISON_MEMORY
						 : 0;
	if (c->kind == KI_COMPARED_NUMBER)
		return (uint64_t)c->number & mask;
	*counts = c->high ? UINT64_MAX : mask;
	if (c->kind == KI_COMPARED_REGISTER)
		return in_register(c->reg) & *counts;
	*counts = UINT64_MAX;
	return (c->base == NONE ? 0 : in_register(c->base)) +
	       (c->index == NONE ? 0 : in_register(c->index) * c->scale) + (uint64_t)c->number;
}

static void check_said(const struct row *row)
{
	const uint64_t mask = row->size == 8 ? UINT64_MAX : (1ull << 8 * row->size) - 1;
	const uint64_t log2 = (uint64_t)__builtin_ctz(row->size);
	uint64_t flags[2], counts[2] = {mask, mask};
	uint64_t first = word(&row->first, &flags[0], &counts[0]);
	uint64_t second = word(&row->second, &flags[1], &counts[1]);
	uint64_t constant = row->first.kind == KI_COMPARED_NUMBER;

	assert_int_equal(said()[0],
			 (uint32_t)ADDR | log2 << 32 | (constant | flags[0] | flags[1] << 1) << 34);
	if ((said()[1] & counts[0]) != first || (said()[2] & counts[1]) != second)
		fail_msg("%s: other values", row->text);
}

static void run_once(const struct row *row, bool keeps_rax, uint64_t trace)
{
	for (int r = 0; r < EXEC_REGS; r++)
		exec_in.r[r] = exec_random();
	exec_in.rsp = (uintptr_t)exec_mem->stack + sizeof(exec_mem->stack) / 2;
	exec_in.flags = 2;
	memset(here, 0xff, sizeof(here)); /* blocks may be traced */
	here[HERE_DISP / 8] = trace;
	memset(exec_mem->data, 0, sizeof(exec_mem->data));
	assert_int_equal(exec_at(exec_mem->code), 7);
	assert_int_equal(said()[3], trace != 0);
	if (trace)
		check_said(row);
	assert_int_equal(exec_out.rsp, exec_in.rsp);
	for (int r = 0; r < EXEC_REGS; r++)
		if (r != RAX || keeps_rax)
			assert_int_equal(exec_out.r[r], exec_in.r[r]);
}

static void vet(const struct row *row, const struct ki_long_code *c)
{
	const char *why = vet_long(c, 1, 1, 1);
	unsigned int reason = drv_vet_long(c->code, c->len, c->fix, c->nfix, 1, 1);

	if (why || reason)
		fail_msg("%s: %s; the driver: %u", row->text, why, reason);
}

static void run_row(const struct row *row, bool keeps_rax)
{
	static const uint64_t traces[] = {0, 1, 1ull << 32, 1ull << 63, 0xffff888000000000ull};
	const struct ki_site_regs site = {.dead = keeps_rax ? 0 : KI_REGSET_REG(KI_RAX)};
	const struct ki_insn_comparison cmp = {row->size, row->first, row->second};
	struct ki_long_code c;

	assert_int_equal(ki_snippet_kcov_comparison(ADDR, &cmp, &site, &c, NULL), 0);
	vet(row, &c);
	place(&c);
	for (unsigned int i = 0; i < ROUNDS; i++)
		run_once(row, keeps_rax, traces[i % (sizeof(traces) / sizeof(*traces))]);
	ki_long_code_free(&c);
}

static void says_what_is_compared(void **state)
{
	(void)state;
	exec_set_gs(here);
	for (size_t i = 0; i < ROWS; i++)
		for (int keeps = 0; rows[i].size && keeps < 2; keeps++)
			run_row(&rows[i], keeps);
}

/* ---- what may not be ---- */

static void make(struct ki_long_code *c)
{
	const struct ki_site_regs site = {.dead = KI_REGSET_REG(KI_RAX)};
	const struct ki_insn_comparison cmp = {4, NUMBER(7), REG(RDI)};

	assert_int_equal(ki_snippet_kcov_comparison(ADDR, &cmp, &site, c, NULL), 0);
}

static void refuse(struct ki_long_code *c)
{
	assert_non_null(vet_long(c, 1, 1, 1));
	assert_int_not_equal(drv_vet_long(c->code, c->len, c->fix, c->nfix, 1, 1), 0);
	ki_long_code_free(c);
}

/* Words that are not the chunk's would go to user space. */
static void needs_its_own_words(void **state)
{
	struct ki_long_code c;
	uint32_t call, len;

	(void)state;
	make(&c);
	len = c.len;
	call = c.fix[1].off - 1u;
	assert_int_equal(c.code[call - 1], 0x50); /* push %rax: %rax it stays */
	assert_int_equal(c.code[len - 1], 0x58);
	c.code[call - 1] = c.code[len - 1] = 0x90;
	refuse(&c);
}

/* The comparison is the only thing that may be done with where the trace is. */
static void leaves_the_trace_alone(void **state)
{
	static const struct {
		uint8_t at, byte;
	} changes[] = {{3, 0x04}, {3, 0x2c}, {1, 0x40}, {2, 0x39}, {2, 0x89}, {0, 0x64}, {4, 0x05}};
	struct ki_long_code c;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		make(&c);
		c.code[changes[i].at] = changes[i].byte;
		refuse(&c);
	}
	make(&c);
	c.fix[0].target = KI_SELF_TASK;
	refuse(&c);
}

static void is_of_the_kernel(void **state)
{
	const struct ki_insn_comparison cmp = {4, NUMBER(7), REG(RDI)};
	const struct ki_site_regs site = {0};
	struct ki_long_code c;

	(void)state;
	assert_int_equal(ki_snippet_kcov_comparison(0x80000000ull, &cmp, &site, &c, NULL), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_is_compared), cmocka_unit_test(knows_addresses),
		cmocka_unit_test(says_what_is_compared),  cmocka_unit_test(needs_its_own_words),
		cmocka_unit_test(leaves_the_trace_alone), cmocka_unit_test(is_of_the_kernel),
	};

	exec_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
