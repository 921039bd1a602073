// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacements of one plan that lead in a circle are refused, all that are on the way to it, and no
 * others. Functions are this program's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "process/judge.h"

#define MOST 8

void fa(void), fb(void), fc(void), fd(void);

__attribute__((noinline)) void fa(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
}

__attribute__((noinline)) void fb(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop");
}

__attribute__((noinline)) void fc(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

__attribute__((noinline)) void fd(void)
{
	__asm__ volatile("nop; nop; nop");
}

static struct ki_target *t;

static uint64_t at(char name)
{
	const char whole[] = {'f', name, 0};
	const struct ki_symbol *s = ki_target_symbol_named(t, NULL, whole, NULL);

	assert_non_null(s);
	return s->addr;
}

/* Arcs as "ab bc": a by b, and so on; refused, of each whether it is, as "01". */
static void check(const char *arcs, const char *refused)
{
	struct ki_window windows[MOST] = {0};
	struct plan_chunk chunks[MOST] = {0};
	struct ki_plan p = {0};
	char is[MOST + 1] = "";

	for (; p.chunks.n < (strlen(arcs) + 1) / 3; p.chunks.n++) {
		const size_t i = p.chunks.n;

		windows[i].addr = at(arcs[3 * i]) + 1; /* a call somewhere in it is as bad */
		chunks[i].bundle = KI_NONE;
		chunks[i].c = (struct ki_chunk){.window = (uint32_t)i,
						.kind = KI_CHUNK_REPLACE,
						.target = at(arcs[3 * i + 1])};
	}
	p.windows.v = windows;
	p.chunks.v = chunks;
	p.windows.n = p.chunks.n;
	assert_int_equal(ki_circle_refuse(&p, t), 0);
	for (size_t i = 0; i < p.chunks.n; i++) {
		assert_true(chunks[i].c.reason == KI_R_OK ||
			    chunks[i].c.reason == KI_R_REPLACE_CIRCLE);
		is[i] = chunks[i].c.reason ? '1' : '0';
	}
	assert_string_equal(is, refused);
}

static void chains_end(void **state)
{
	(void)state;
	check("ab", "0");
	check("ab bc cd", "000");
	check("cd bc ab", "000");
	check("ab ac bd cd", "0000");
	check("ab ab", "00");
}

static void circles_do_not(void **state)
{
	(void)state;
	check("aa", "1");
	check("ab ba", "11");
	check("ab bc ca", "111");
	check("ab ba cd", "110");
	check("ab ba ca", "111"); /* c leads there */
	check("ab ac ca", "011"); /* the first leads out of it */
	check("ab bb bc", "110");
}

/* What is refused already is not put in. */
static void what_is_refused_closes_nothing(void **state)
{
	struct ki_window windows[] = {{.addr = at('a')}, {.addr = at('b')}};
	struct plan_chunk chunks[2] = {{.bundle = KI_NONE}, {.bundle = KI_NONE}};
	struct ki_plan p = {0};

	(void)state;
	chunks[0].c = (struct ki_chunk){.kind = KI_CHUNK_REPLACE, .target = at('b')};
	chunks[1].c = (struct ki_chunk){
		.window = 1, .kind = KI_CHUNK_REPLACE, .target = at('a'), .reason = KI_R_NO_TRAP};
	p.windows.v = windows;
	p.chunks.v = chunks;
	p.windows.n = p.chunks.n = 2;
	assert_int_equal(ki_circle_refuse(&p, t), 0);
	assert_int_equal(chunks[0].c.reason, KI_R_OK);
	assert_int_equal(chunks[1].c.reason, KI_R_NO_TRAP);
}

static int open_this(void **state)
{
	(void)state;
	return ki_target_new_image("/proc/self/exe", &t, NULL);
}

static int close_this(void **state)
{
	(void)state;
	ki_target_free(t);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_end),
		cmocka_unit_test(circles_do_not),
		cmocka_unit_test(what_is_refused_closes_nothing),
	};

	return cmocka_run_group_tests(tests, open_this, close_this);
}
