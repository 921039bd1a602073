// SPDX-License-Identifier: GPL-2.0-only
/* What a function of this process calls by its code; where its indirect calls lead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kerninst/callees.h"

#define NOINLINE __attribute__((noinline, noclone, used))

NOINLINE static void leaf(void)
{
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void twig(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Calls leaf twice, getppid of the C library, leaves to twig, and calls through a register and
   through memory: base + index * 8 + 16. */
NOINLINE static void calls(void (*one)(void), void (**table)(void), long i)
{
	__asm__ volatile("call leaf\n\t"
			 "call *%[one]\n\t"
			 "call leaf\n\t"
			 "call *16(%[table],%[i],8)\n\t"
			 : [one] "+r"(one), [table] "+r"(table), [i] "+r"(i)
			 :
			 : "memory", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
	(void)getppid();
	twig();
}

static struct ki_target *t;
static struct ki_function *fn;

static uint64_t address_of(const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, NULL, name, NULL);

	assert_non_null(sym);
	return sym->addr;
}

static int open_self(void **state)
{
	(void)state;
	(void)getppid(); /* its entry of the linkage table leads there then */
	return ki_target_new_process(getpid(), &t, NULL) ||
	       ki_function_analyze(t, ki_target_symbol_named(t, NULL, "calls", NULL), &fn, NULL);
}

static int close_self(void **state)
{
	(void)state;
	ki_function_free(fn);
	ki_target_free(t);
	return 0;
}

static bool is_among(const uint64_t *v, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == addr)
			return true;
	return false;
}

static void by_its_code(void **state)
{
	uint64_t *v;
	size_t n, indirect;

	(void)state;
	assert_int_equal(ki_callees_direct(fn, &v, &n, &indirect, NULL), 0);
	assert_int_equal(indirect, 2);
	assert_true(is_among(v, n, address_of("leaf")));
	assert_true(is_among(v, n, address_of("twig")));
	assert_true(is_among(v, n, address_of("getppid")));
	for (size_t i = 1; i < n; i++)
		assert_true(v[i - 1] < v[i]);
	ki_free(v);
}

static void where_indirect_calls_lead(void **state)
{
	struct ki_compared x;
	unsigned int registers = 0, memory = 0;

	(void)state;
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		if (!ki_insn_leads(fn, &fn->insns[i], &x))
			continue;
		registers += x.kind == KI_COMPARED_REGISTER;
		memory += x.kind == KI_COMPARED_MEMORY && x.scale == 8 && x.number == 16 &&
			  x.base != KI_COMPARED_NONE && x.index != KI_COMPARED_NONE;
	}
	assert_int_equal(registers, 1);
	assert_int_equal(memory, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_its_code),
		cmocka_unit_test(where_indirect_calls_lead),
	};

	(void)calls;
	return cmocka_run_group_tests(tests, open_self, close_self);
}
