// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points on all sides of instructions: the places of small functions made for the purpose. Their
 * names: test_point_names.c; what the places count: test_point_run.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "function_fixture.h"

static size_t assemble(uint8_t *to, const char *hex)
{
	uint8_t *p = to;
	char *end;

	for (; *hex; hex = *end ? end + 1 : end)
		*p++ = (uint8_t)strtoul(hex, &end, 16);
	return (size_t)(p - to);
}

static void load_with(const char *hex, const char *cold, const struct ki_reserved_row *row)
{
	static const struct ki_symbol syms[] = {{.addr = BASE, .name = "f"},
						{.addr = BASE + G, .name = "g"},
						{.addr = BASE + COLD, .name = "f.cold"}};
	const struct ki_memory m = {.kind = KI_TARGET_LIVE,
				    .base = BASE,
				    .bytes = text,
				    .len = sizeof(text),
				    .symbols = syms,
				    .nsymbols = 3,
				    .rows = row,
				    .nrows = row ? 1 : 0};
	struct ki_err err = {0};

	unload(NULL);
	memset(text, 0xcc, sizeof(text));
	text[G] = text[COLD] = 0xc3;
	assemble(text, hex);
	if (cold)
		assemble(text + COLD, cold);
	if (ki_target_open_memory(&m, &target, &err) ||
	    ki_function_analyze(target, ki_target_symbol_at(target, BASE), &fn, &err) ||
	    ki_spans_find(fn, &spans, &err))
		fail_msg("%s", err.msg);
}

static void load(const char *hex)
{
	load_with(hex, NULL, NULL);
}

/*
 * The places of a point, with commas: "offset" or "offset REASON"; '>': after the instruction,
 * '^': where its branch is taken, '!': the flags are live.
 */
static const char *places(struct ki_point pt)
{
	static const char *const sides[] = {"", ">", "^"};
	static char s[400];
	struct ki_place *v;
	size_t n;

	pt.addr += BASE;
	assert_int_equal(ki_point_places(fn, &spans, &pt, &v, &n, NULL), 0);
	*s = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(s + strlen(s), sizeof(s) - strlen(s), "%s%u%s%s%s%s", i ? ", " : "",
			 (unsigned int)(v[i].addr - BASE), v[i].reason ? "" : sides[v[i].where],
			 v[i].reason ? " " : "", v[i].reason ? ki_reason_tag(v[i].reason) : "",
			 !v[i].reason && v[i].flags_live ? "!" : "");
	free(v);
	return s;
}

#define POINT(what)   places((struct ki_point){.kind = KI_POINT_##what})
#define BLOCK(n)      places((struct ki_point){.kind = KI_POINT_BLOCK, .block = (n)})
#define END(n)	      places((struct ki_point){.kind = KI_POINT_BLOCK_END, .block = (n)})
#define BEFORE(off)   places((struct ki_point){.kind = KI_POINT_INSN, .addr = (off)})
#define AFTER(off)    places((struct ki_point){.kind = KI_POINT_AFTER, .addr = (off)})
#define IS(got, want) assert_string_equal(got, want)

/* The places of all edges, in their order. */
static const char *edges(void)
{
	static char s[1000];

	*s = '\0';
	for (uint32_t e = 0; e < fn->nedges; e++)
		snprintf(s + strlen(s), sizeof(s) - strlen(s), "%s%s", e ? "; " : "",
			 places((struct ki_point){.kind = KI_POINT_EDGE, .edge = e}));
	return s;
}

static void edges_of_branches(void **state)
{
	(void)state;
	/* test; je 1f; mov; 1: mov; ret */
	load("85 ff 74 03 48 89 f8 48 89 f3 c3");
	IS(edges(), "2^; 2>; 4>; 10");
	/* xor; 1: add; sub; jne 1b; ret: flags are dead on both sides */
	load("31 c0 01 f8 83 ef 01 75 f9 c3");
	IS(edges(), "0>; 7^; 7>; 9");
	/* jb over a mov to setb: live on both sides */
	load("39 c7 72 03 48 89 f8 0f 92 c0 c3");
	IS(edges(), "2^!; 2>!; 4>!; 10");
	/* jmp over filler */
	load("31 c0 eb 02 cc cc 89 f8 c3");
	IS(edges(), "2; 8");
	/* a call, a jump to another function */
	load("89 f8 e8 39 00 00 00 89 c7 e9 32 00 00 00");
	IS(edges(), "2; 9");
	/* jmp *%rax */
	load("89 f8 48 ff c0 ff e0");
	IS(edges(), "5");
}

static void edges_to_other_functions(void **state)
{
	(void)state;
	/* test; je g; ret: the tail jump is an exit, on its taken side; g takes no flags */
	load("85 ff 0f 84 38 00 00 00 48 89 f8 c3");
	IS(edges(), "2^; 2>; 11");
	IS(POINT(EXIT), "2^, 11");
	/* into the cold part: no exit, and what is live there is not known */
	load("85 ff 0f 84 58 00 00 00 48 89 f8 c3");
	IS(edges(), "2^!; 2>; 11");
	IS(POINT(EXIT), "11");
}

static const struct ki_reserved_row label_at_2 = {
	.addr = BASE + 2, .len = 2, .reason = KI_R_JUMP_LABEL, .target = BASE + 7};

static void edges_of_static_branches(void **state)
{
	(void)state;
	/* mov; nop, or jmp 1f; mov; 1: mov; ret: two edges come to 1, one to the mov */
	load_with("89 f8 66 90 48 89 fb 48 89 f3 c3", NULL, &label_at_2);
	IS(edges(), "2 JUMP_LABEL; 4; 4>; 10");
	IS(END(0), "0>");
	IS(BEFORE(2), "0>");
	IS(AFTER(2), "4");
	/* mov; nop, or jmp 1f; mov; ret; 1: mov; ret: both sides lead to blocks of their own */
	load_with("89 f8 66 90 89 fb c3 89 f3 c3", NULL, &label_at_2);
	IS(edges(), "7; 4; 6; 9");
	/* the same, and the cold part jumps there too */
	load_with("89 f8 66 90 89 fb c3 89 f3 c3", "eb a5", &label_at_2);
	IS(edges(), "2 JUMP_LABEL; 4; 6; 9");
	/* the same, and its address is pushed */
	load_with("89 f8 66 90 89 fb c3 68 07 00 00 81 c3", NULL, &label_at_2);
	IS(edges(), "2 JUMP_LABEL; 4; 6; 12");
	/* the same, and lea 1f(%rip) */
	load_with("89 f8 66 90 89 fb c3 48 8d 05 f9 ff ff ff c3", NULL, &label_at_2);
	IS(edges(), "2 JUMP_LABEL; 4; 6; 14");
}

static void edges_of_exceptions(void **state)
{
	static const struct ki_reserved_row at_2 = {
		.addr = BASE + 2, .len = 1, .reason = KI_R_EXTABLE, .target = BASE + 8};
	static const struct ki_reserved_row out_at_2 = {
		.addr = BASE + 2, .len = 1, .reason = KI_R_EXTABLE, .target = BASE + 300};
	static const struct ki_reserved_row call_at_2 = {
		.addr = BASE + 2, .len = 1, .reason = KI_R_EXTABLE, .target = BASE + 7};

	(void)state;
	/* mov; mov (%rdi) that may fault; mov; ret; fixup: xor; ret */
	load_with("89 f8 48 8b 07 89 c3 c3 31 c0 c3", NULL, &at_2);
	IS(edges(), "8; 7; 10");
	IS(BEFORE(2), "2");
	IS(AFTER(2), "2>");
	IS(BLOCK(0), "0");
	/* the fixup is where the function goes on anyhow */
	load_with("89 f8 48 8b 07 48 89 c3 89 c3 c3", NULL, &at_2);
	IS(edges(), "2^; 5>; 10");
	/* out of the function */
	load_with("89 f8 48 8b 07 48 89 c3 89 c3 c3", "90", &out_at_2);
	IS(edges(), "2^!; 10");
	IS(POINT(EXIT), "2^!, 10");
	IS(POINT(EXIT_AFTER), "2^!, 10");
	/* a call has a row, for what stands there on other processors: it is never left for its
	 * fixup */
	load_with("89 f8 e8 00 01 00 00 89 c3 c3", NULL, &call_at_2);
	IS(edges(), "2; 7; 9");
	/* flags that the fixup reads */
	load_with("89 f8 48 8b 07 48 89 c3 74 01 c3 c3", NULL, &at_2);
	IS(edges(), "2^!; 5>!; 8^; 8>; 10; 11");
}

static void loop_instructions(void **state)
{
	(void)state;
	/* 1: add; loop 1b; ret */
	load("89 f1 01 f8 e2 fc 89 c3 c3");
	IS(edges(), "0>; 4^; 4>; 8");
	IS(END(1), "4");
}

static void ends_of_blocks(void **state)
{
	(void)state;
	/* test; je 1f; mov; 1: mov; ret */
	load("85 ff 74 03 48 89 f8 48 89 f3 c3");
	IS(END(0), "2!");
	IS(END(1), "4>");
	IS(END(2), "10");
	/* a call that is last because something jumps after it */
	load("85 ff 74 05 e8 37 00 00 00 89 c3 c3");
	IS(END(1), "4 RETURN_ENTERED");
	/* a call that does not return */
	load("89 f8 89 fb e8 37 00 00 00");
	IS(END(0), "4");
}

static void behind_instructions(void **state)
{
	(void)state;
	/* mov; call g; mov; test; je 1f; mov; 1: jmp g */
	load("89 f8 e8 39 00 00 00 89 c3 85 c0 74 02 89 d8 e9 2c 00 00 00");
	IS(AFTER(0), "0>");
	IS(AFTER(2), "7");
	IS(AFTER(9), "9>!");
	IS(AFTER(11), "11>");
	IS(AFTER(13), "13>");
	IS(AFTER(15), "15 NO_SUCH_SIDE");
	/* the call comes back to where a loop begins */
	load("50 e8 3a 00 00 00 89 c3 ff c8 75 fa c3");
	IS(AFTER(1), "1 RETURN_ENTERED");
	IS(AFTER(12), "12 NO_SUCH_SIDE");
	IS(AFTER(13), "13 NO_CODE");
	/* does not come back */
	load("89 f8 89 fb e8 37 00 00 00");
	IS(AFTER(4), "4 NO_SUCH_SIDE");
}

static void calls_and_returns(void **state)
{
	static const struct ki_reserved_row at_7 = {
		.addr = BASE + 7, .len = 5, .reason = KI_R_STATIC_CALL};

	(void)state;
	/* ftrace has written a call; mov; static call; mov; call *%rax; mov; jmp g */
	load_with("e8 3b 00 00 00 89 f8 e8 34 00 00 00 89 c3 ff d0 89 d8 e9 29 00 00 00", NULL,
		  &at_7);
	IS(POINT(CALLS), "5>, 14");
	IS(POINT(RETURNS), "12, 16");
	/* the last call does not come back */
	load("89 f8 ff d0 89 c7 e8 35 00 00 00");
	IS(POINT(CALLS), "2, 6");
	IS(POINT(RETURNS), "4");
	/* no calls at all */
	load("89 f8 c3");
	IS(POINT(CALLS), "");
	/* one that is refused */
	load("89 f8 ff 14 24 89 c3 e8 34 00 00 00 89 c3 c3");
	IS(POINT(CALLS), "0>, 7");
}

/* A block and the only edge to it stand in for each other. */
static void blocks_by_their_edges(void **state)
{
	(void)state;
	/* test; je 1f; sti; mov; ret; 1: xor; ret */
	load("85 ff 74 04 fb 89 c3 c3 31 c0 c3");
	IS(BLOCK(1), "2>");
	IS(BLOCK(2), "8");
	IS(edges(), "2^; 2>; 7; 10");
	/* the same, and the cold part jumps to the sti: je alone does not tell any more */
	load_with("85 ff 74 04 fb 89 c3 c3 31 c0 c3", "eb a2", NULL);
	IS(BLOCK(1), "4 STI");
	/* sti is last before a loop */
	load("85 ff 74 05 fb ff c0 75 fc c3");
	IS(edges(), "2^; 2>; 4 STI; 7^; 7>; 9");
}

/* What a WARN has reported goes on. */
static void traps(void **state)
{
	static const struct ki_reserved_row at_4 = {
		.addr = BASE + 4, .len = 2, .reason = KI_R_BUG_SITE};

	(void)state;
	/* test; je 1f; ud2; 1: mov; ret */
	load_with("85 ff 74 02 0f 0b 89 c3 c3", NULL, &at_4);
	IS(edges(), "2^; 2>!; 4>; 8");
	IS(END(1), "4!");
	IS(AFTER(4), "4>");
}

static void starts(void **state)
{
	(void)state;
	load("89 f8 c3");
	IS(POINT(START), "0");
	load("f3 0f 1e fa 0f 1f 44 00 00 48 89 f8 c3");
	IS(POINT(START), "9");
	/* not where flags are dead, but where it starts */
	load("0f 92 c0 48 01 d0 c3");
	IS(POINT(ENTRY), "3");
	IS(POINT(START), "0!");
	/* a loop leads to the start, or just after what stands in front */
	load("89 f8 ff cf 75 fa c3");
	IS(POINT(START), "0 ENTRY_REPEATED");
	load("0f 1f 44 00 00 89 f8 ff cf 75 fa c3");
	IS(POINT(START), "5 ENTRY_REPEATED");
	/* code of another symbol jumps after the ftrace site */
	load_with("0f 1f 44 00 00 89 f8 89 c3 c3", "eb a3", NULL);
	IS(POINT(START), "5 ENTRY_REPEATED");
	/* it calls itself: that is a call like others */
	load("89 f8 e8 f9 ff ff ff 89 c3 c3");
	IS(POINT(START), "0");
}

static void there_is_no_such(void **state)
{
	static const struct ki_point none[] = {
		{.kind = KI_POINT_BLOCK, .block = 3},
		{.kind = KI_POINT_BLOCK_END, .block = 3},
		{.kind = KI_POINT_EDGE, .edge = 4},
		{.kind = KI_POINT_INSN, .addr = BASE + 1},
		{.kind = KI_POINT_AFTER, .addr = BASE + 1},
		{.kind = KI_POINT_KINDS},
	};

	(void)state;
	load("85 ff 74 03 48 89 f8 48 89 f3 c3");
	assert_int_equal(fn->nblocks, 3);
	assert_int_equal(fn->nedges, 4);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		struct ki_err err = {0};
		struct ki_place *v;
		size_t n;

		assert_int_equal(ki_point_places(fn, &spans, &none[i], &v, &n, &err), -EINVAL);
		assert_int_not_equal(err.code, 0);
		assert_null(v);
	}
}

static void a_function_that_is_refused(void **state)
{
	(void)state;
	load("89 f8 74 02 89 d8 cc 89 c3 c3"); /* a breakpoint of somebody's */
	assert_int_equal(fn->reason, KI_R_FOREIGN_BREAKPOINT);
	for (uint32_t e = 0; e < fn->nedges; e++)
		assert_non_null(strstr(places((struct ki_point){.kind = KI_POINT_EDGE, .edge = e}),
				       "FOREIGN_BREAKPOINT"));
	IS(END(0), "2 FOREIGN_BREAKPOINT");
	IS(AFTER(0), "0 FOREIGN_BREAKPOINT");
	IS(POINT(START), "0 FOREIGN_BREAKPOINT");
}

#define TEST(f) cmocka_unit_test_teardown(f, unload)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(edges_of_branches),
		TEST(edges_to_other_functions),
		TEST(edges_of_static_branches),
		TEST(edges_of_exceptions),
		TEST(loop_instructions),
		TEST(ends_of_blocks),
		TEST(behind_instructions),
		TEST(calls_and_returns),
		TEST(blocks_by_their_edges),
		TEST(starts),
		TEST(traps),
		TEST(there_is_no_such),
		TEST(a_function_that_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
