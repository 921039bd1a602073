// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a block does for KCOV, executed here: it says its address if the task is traced, and nothing
 * otherwise; what is live is as it was; the driver's check lets it pass, and nothing that is nearly
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common_drv.h"
#include "common_exec.h"
#include "common_vet.h"
#include "kcov_fixture.h"
#include "kerninst/kcov.h"

#define ADDR	  0xffffffff81234567ull
#define HERE_DISP 64
#define GARBAGE	  0x11223344u
#define ROUNDS	  200

static uint64_t here[32];

/* Each combination of what is dead. */
#define VARIANTS 4
static ki_regset dead(unsigned int variant)
{
	return (variant & 1 ? KI_REGSET_REG(KI_RAX) : 0) | (variant & 2 ? KI_REGSET_FLAGS : 0);
}

static void make(struct ki_long_code *c, unsigned int variant)
{
	const struct ki_site_regs site = {.dead = dead(variant)};

	assert_int_equal(ki_snippet_kcov(ADDR, &site, c, NULL), 0);
}

static uint32_t *said(void)
{
	return (uint32_t *)exec_mem->data;
}

static void put32(uint8_t *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* A helper: notes %eax, how often it was called, and spoils what it may. */
static void write_helper(uint8_t *at)
{
	const uint8_t code[] = {0x89, 0x04, 0x25, 0, 0, 0, 0,	 /* mov %eax, said[0] */
				0x83, 0x04, 0x25, 0, 0, 0, 0, 1, /* addl $1, said[1] */
				0xb8, 0,    0,	  0, 0,		 /* mov $GARBAGE, %eax */
				0x85, 0xc0, 0xc3};		 /* test %eax, %eax; ret */

	memcpy(at, code, sizeof(code));
	put32(at + 3, (uint32_t)(uintptr_t)&said()[0]);
	put32(at + 10, (uint32_t)(uintptr_t)&said()[1]);
	put32(at + 16, GARBAGE);
}

static void place(const struct ki_long_code *c)
{
	place_code(&(struct kcov_fixture){KI_SELF_KCOV, KI_HELPER_KCOV, HERE_DISP}, c);
	write_helper(exec_mem->patch);
}

static void run_once(unsigned int variant, uint64_t trace)
{
	const ki_regset free = dead(variant);

	for (int r = 0; r < EXEC_REGS; r++)
		exec_in.r[r] = exec_random();
	exec_in.rsp = (uintptr_t)exec_mem->stack + sizeof(exec_mem->stack) / 2;
	exec_in.flags = (exec_random() & EXEC_FLAGS) | 2;
	here[HERE_DISP / 8] = trace;
	memset(exec_mem->data, 0, sizeof(exec_mem->data));
	assert_int_equal(exec_at(exec_mem->code), 7);
	assert_int_equal(said()[1], trace != 0);
	assert_int_equal(said()[0], trace ? (uint32_t)ADDR : 0);
	assert_int_equal(exec_out.rsp, exec_in.rsp);
	for (int r = 0; r < EXEC_REGS; r++)
		if (r != RAX || !(free & KI_REGSET_REG(KI_RAX)))
			assert_int_equal(exec_out.r[r], exec_in.r[r]);
	if (!(free & KI_REGSET_FLAGS))
		assert_int_equal(exec_out.flags & EXEC_FLAGS, exec_in.flags & EXEC_FLAGS);
}

static void says_its_address(void **state)
{
	static const uint64_t traces[] = {0, 1, 1ull << 32, 1ull << 63, 0xffff888000000000ull};
	struct ki_long_code c;

	(void)state;
	exec_set_gs(here);
	for (unsigned int variant = 0; variant < VARIANTS; variant++) {
		make(&c, variant);
		place(&c);
		for (unsigned int i = 0; i < ROUNDS; i++)
			run_once(variant, traces[i % (sizeof(traces) / sizeof(*traces))]);
		ki_long_code_free(&c);
	}
}

static const char *vet(const struct ki_long_code *c)
{
	const char *why = vet_long(c, 1, 1, 1);
	unsigned int reason = drv_vet_long(c->code, c->len, c->fix, c->nfix, 1, 1);

	assert_int_equal(!why, !reason); /* both say the same */
	return why;
}

static void may_run(void **state)
{
	struct ki_long_code c;

	(void)state;
	for (unsigned int variant = 0; variant < VARIANTS; variant++) {
		uint16_t offs[32];

		make(&c, variant);
		assert_null(vet(&c));
		assert_int_equal(vet_offsets(&c, offs, 32), c.ninsns);
		ki_long_code_free(&c);
	}
}

/* The comparison is the only thing that may be done with it. */
static void nothing_else_may(void **state)
{
	static const struct {
		uint8_t at, byte;
	} changes[] = {
		{3, 0x04}, /* addq */
		{3, 0x2c}, /* subq */
		{3, 0x24}, /* andq */
		{1, 0x40}, /* cmpl */
		{2, 0x81}, /* cmpq $imm32, of which the fixup's field is the first half */
		{2, 0x39}, /* cmp %rdi, */
		{2, 0x89}, /* mov %rdi, */
		{0, 0x64}, /* %fs */
		{4, 0x05}, /* with an index */
	};
	struct ki_long_code c;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		make(&c, 2);
		c.code[changes[i].at] = changes[i].byte;
		assert_non_null(vet(&c));
		ki_long_code_free(&c);
	}
	make(&c, 2);
	c.fix[0].target = KI_SELF_TASK;
	assert_non_null(vet(&c));
	ki_long_code_free(&c);
}

static void is_of_the_kernel(void **state)
{
	const struct ki_site_regs site = {0};
	struct ki_long_code c;
	struct ki_err err = {0};

	(void)state;
	assert_int_equal(ki_snippet_kcov(0x80000000ull, &site, &c, &err), -ERANGE);
	assert_int_equal(ki_snippet_kcov(0xffff888000000000ull, &site, &c, &err), -ERANGE);
	assert_int_equal(ki_snippet_kcov(0xffffffff80000000ull, &site, &c, &err), 0);
	ki_long_code_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_its_address),
		cmocka_unit_test(may_run),
		cmocka_unit_test(nothing_else_may),
		cmocka_unit_test(is_of_the_kernel),
	};

	exec_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
