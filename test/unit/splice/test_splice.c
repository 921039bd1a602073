// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows and points: where code can be put. Small functions made for the purpose, and what must
 * be true for every function of a large library.
 *
 * promise: G2, G7: A function of unknown control flow is refused, and no window crosses a block.
 *   [fuzz.sh]
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_spans.h"
#include "function_fixture.h"

static void load(const char *hex, const struct ki_reserved_row *rows, size_t nrows)
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
				    .rows = rows,
				    .nrows = nrows};
	struct ki_err err = {0};
	uint8_t *p = text;
	char *end;

	unload(NULL);
	memset(text, 0xcc, sizeof(text));
	text[G] = text[COLD] = 0xc3;
	for (; *hex; hex = *end ? end + 1 : end)
		*p++ = (uint8_t)strtoul(hex, &end, 16);
	if (ki_target_open_memory(&m, &target, &err) ||
	    ki_function_analyze(target, ki_target_symbol_at(target, BASE), &fn, &err) ||
	    ki_spans_find(fn, &spans, &err))
		fail_msg("%s", err.msg);
}

/* The windows of f as "offset:bytes/instructions", '!' after one that traps, ">offset" of a
 * bounce. */
static const char *windows(void)
{
	static char s[400];

	*s = '\0';
	for (size_t i = 0; i < spans.n; i++) {
		const struct ki_span *v = &spans.v[i];

		snprintf(s + strlen(s), sizeof(s) - strlen(s), "%s%u:%u/%u%s", i ? " " : "",
			 (unsigned int)(v->addr - BASE), v->len, v->count,
			 v->board == KI_BOARD_TRAP ? "!" : "");
		if (v->bounce)
			snprintf(s + strlen(s), sizeof(s) - strlen(s), ">%u",
				 (unsigned int)(v->bounce - BASE));
	}
	return s;
}

static const struct {
	const char *what, *hex, *windows;
} cuts[] = {
	{"closed at five bytes", "b8 01 00 00 00 b9 02 00 00 00 c3", "0:5/1 5:6/2"},
	{"as many as it takes", "50 51 52 53 54 48 89 c7 48 89 c6 c3", "0:5/5 5:7/3"},
	{"a tail joins", "48 89 c7 48 89 c6 5b c3", "0:8/4"},
	{"a call closes and splits", "48 89 c7 e8 38 00 00 00 48 89 c3 48 89 df c3", "0:8/2 8:7/3"},
	{"a short call joins", "48 89 c7 48 89 c6 ff d0 48 89 c3 48 89 df c3", "0:8/3 8:7/3"},
	{"nothing joins a call", "48 89 c7 48 89 c6 ff d0 31 c0 eb fa", "0:6/2 6:2/1>13 8:5/2"},
	{"a call alone is short", "75 00 ff d0 48 89 c3 48 89 df c3", "0:2/1>11 2:2/1>16 4:7/3"},
	{"filler behind a ret", "48 89 c7 e8 38 00 00 00 c3", "0:8/2 8:5/1"},
	{"filler behind a jmp", "48 89 c7 e8 38 00 00 00 eb f6", "0:8/2 8:5/1"},
	{"filler behind jmp *%rax", "48 89 c7 e8 38 00 00 00 ff e0", "0:8/2 8:5/1"},
	{"not enough filler", "48 89 c7 75 05 c3 cc cc cc 90 b8 01 00 00 00 c3",
	 "0:5/2 5:2/1>16 10:6/2"},
	{"no filler behind what goes on", "75 00 75 06 75 04 cc cc cc cc 48 89 c7 48 89 c6 c3",
	 NULL},
	{"a branch ends a block", "48 85 ff 74 06 48 89 c7 48 89 c6 c3", "0:5/2 5:6/2 11:5/1"},
	{"a loop", "31 c0 85 ff 74 07 01 f8 83 ef 01 75 f9 c3", "0:6/3 6:7/3 13:5/1"},
	{"a loop instruction ends one", "48 89 c7 e2 fb 48 89 c7 48 89 c6 c3", "0:5/2 5:7/3"},
	{"no filler behind a ud2", "85 ff 74 07 0f 0b cc cc cc cc cc c3",
	 "0:4/2>16 4:2/1>21 11:5/1"},
	{"an endbr stays", "f3 0f 1e fa 48 89 f8 48 ff c0 c3", "4:7/3"},
	{"the ftrace site stays", "0f 1f 44 00 00 48 89 f8 48 ff c0 c3", "5:7/3"},
	{"a long run", "48 b8 01 02 03 04 05 06 07 08 48 b9 01 02 03 04 05 06 07 08 50 c3",
	 "0:10/1 10:12/3"},
};

static void windows_are_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		load(cuts[i].hex, NULL, 0);
		if (cuts[i].windows && strcmp(windows(), cuts[i].windows) != 0)
			fail_msg("%s: %s, not %s", cuts[i].what, windows(), cuts[i].windows);
	}
}

static const struct ki_reserved_row at5[] = {
	{.addr = BASE + 5, .len = 5, .reason = KI_R_STATIC_CALL}};

static void reserved_text_is_in_no_window(void **state)
{
	(void)state;
	/* mov; mov; static call; mov; mov; ret */
	load("b8 01 00 00 00 e8 36 00 00 00 48 89 c3 48 89 df c3", at5, 1);
	assert_string_equal(windows(), "0:5/1 10:7/3");
	assert_null(ki_spans_at(&spans, fn, BASE + 5));
	/* a run before it that is too short */
	load("48 89 c7 90 90 e8 36 00 00 00 31 c0 c3", at5, 1);
	assert_string_equal(windows(), "0:5/3 10:5/2");
	load("48 89 c7 75 00 e8 36 00 00 00 31 c0 c3", at5, 1);
	assert_string_equal(windows(), "0:5/2 10:5/2");
}

static void finding_a_window(void **state)
{
	(void)state;
	load("48 89 c7 48 89 c6 ff d0 48 89 c3 48 89 df c3", NULL, 0);
	assert_ptr_equal(ki_spans_at(&spans, fn, BASE), &spans.v[0]);
	assert_ptr_equal(ki_spans_at(&spans, fn, BASE + 6), &spans.v[0]);
	assert_ptr_equal(ki_spans_at(&spans, fn, BASE + 14), &spans.v[1]);
	assert_null(ki_spans_at(&spans, fn, BASE + 1));	 /* inside an instruction */
	assert_null(ki_spans_at(&spans, fn, BASE + 15)); /* filler */
	assert_null(ki_spans_at(&spans, fn, BASE - 1));
	assert_null(ki_spans_at(&spans, fn, BASE + 1000));
}

/* ---- points ---- */

/* The place of a point as "offset", "offset live" or "offset REASON"; several with commas. */
static const char *places(enum ki_point_kind kind, uint32_t block, uint64_t off)
{
	static char s[400];
	const struct ki_point pt = {.kind = kind, .block = block, .addr = BASE + off};
	struct ki_place *v;
	size_t n;

	assert_int_equal(ki_point_places(fn, &spans, &pt, &v, &n, NULL), 0);
	*s = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(s + strlen(s), sizeof(s) - strlen(s), "%s%u%s%s%s", i ? ", " : "",
			 (unsigned int)(v[i].addr - BASE), v[i].reason ? " " : "",
			 v[i].reason ? ki_reason_tag(v[i].reason) : "",
			 !v[i].reason && v[i].flags_live ? " live" : "");
	free(v);
	return s;
}

#define ENTRY() places(KI_POINT_ENTRY, 0, 0)

static void entry_steps_over_what_nobody_may_move(void **state)
{
	(void)state;
	load("48 89 f8 48 83 c0 01 c3", NULL, 0);
	assert_string_equal(ENTRY(), "0");
	load("0f 1f 44 00 00 48 89 f8 48 83 c0 01 c3", NULL, 0);
	assert_string_equal(ENTRY(), "5");
	load("f3 0f 1e fa 0f 1f 44 00 00 48 89 f8 48 83 c0 01 c3", NULL, 0);
	assert_string_equal(ENTRY(), "9");
	/* ftrace has written a call */
	load("e8 3b 00 00 00 48 89 f8 48 83 c0 01 c3", NULL, 0);
	assert_string_equal(ENTRY(), "5");
}

static void entry_stops_at_what_may_leave(void **state)
{
	static const unsigned int reasons[] = {KI_R_EXTABLE, KI_R_STATIC_CALL, KI_R_BUG_SITE,
					       KI_R_JUMP_LABEL, KI_R_PRIVILEGED_INSN};

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		const struct ki_reserved_row row = {
			.addr = BASE + 4, .len = 5, .reason = reasons[i], .target = BASE + 15};
		char want[40];

		load("f3 0f 1e fa b8 01 00 00 00 48 89 f8 48 89 c3 5b c3", &row, 1);
		snprintf(want, sizeof(want), "4 %s", ki_reason_tag(reasons[i]));
		assert_string_equal(ENTRY(), want);
	}
}

/* Code may stand before what has a row of its own, and not after it for what is in front. */
static void entry_stops_before_what_has_a_fixup(void **state)
{
	static const struct ki_reserved_row row = {
		.addr = BASE + 3, .len = 1, .reason = KI_R_EXTABLE, .target = BASE + 9};
	static const struct ki_reserved_row bug = {
		.addr = BASE + 3, .len = 2, .reason = KI_R_BUG_SITE};
	static const struct ki_reserved_row first = {
		.addr = BASE, .len = 1, .reason = KI_R_EXTABLE, .target = BASE + 9};

	(void)state;
	/* setb %al; mov (%rdi),%rbx; mov; add: flags are dead from the mov on, that may fault */
	load("0f 92 c0 48 8b 1f 48 89 f8 48 01 d0 c3", NULL, 0);
	assert_string_equal(ENTRY(), "3");
	load("0f 92 c0 48 8b 1f 48 89 f8 48 01 d0 c3", &row, 1);
	assert_string_equal(windows(), "0:3/1>14 3:6/2 9:5/2");
	assert_string_equal(ENTRY(), "0 live");
	/* the one that may fault needs the flags: code does not settle after it */
	load("0f 92 07 48 89 df 48 89 f8 48 01 d0 c3", NULL, 0);
	assert_string_equal(ENTRY(), "3");
	load("0f 92 07 48 89 df 48 89 f8 48 01 d0 c3", &first, 1);
	assert_string_equal(ENTRY(), "0 live");
	/* nop; ud2; mov; mov: the ud2 is in a window */
	load("0f 1f 00 0f 0b 48 89 f8 48 89 c3 c3", &bug, 1);
	assert_string_equal(windows(), "0:5/2 5:7/3");
	assert_string_equal(places(KI_POINT_INSN, 0, 3), "3 live");
}

static void entry_steps_over_a_lock_prefix(void **state)
{
	static const struct ki_reserved_row row = {
		.addr = BASE, .len = 1, .reason = KI_R_LOCK_PREFIX};

	(void)state;
	load("f0 ff 07 48 89 f8 48 83 c0 01 c3", &row, 1);
	assert_string_equal(ENTRY(), "3");
}

static void entry_in_a_short_block(void **state)
{
	(void)state;
	load("53 75 00 48 89 f8 48 89 c3 5b c3", NULL, 0);
	assert_string_equal(ENTRY(), "0 live");
	assert_string_equal(places(KI_POINT_BLOCK, 1, 0), "3");
	/* nothing but the ftrace site: after it a loop begins */
	load("0f 1f 44 00 00 48 89 f8 48 83 e8 01 75 f7 c3", NULL, 0);
	assert_string_equal(ENTRY(), "0 FTRACE_SITE");
}

static void code_stands_where_flags_are_dead(void **state)
{
	(void)state;
	/* setb %al; add %rdx,%rax; ret */
	load("0f 92 c0 48 01 d0 c3", NULL, 0);
	assert_string_equal(ENTRY(), "3");
	/* setb %al; seta %dl; ret: live at both; the ret is in the same window */
	load("0f 92 c0 0f 97 c2 c3", NULL, 0);
	assert_string_equal(ENTRY(), "6");
	/* setb %al; call *%rax: live before the first, dead before the call, which is last */
	load("0f 92 c0 ff d0 48 89 c7 48 89 c6 c3", NULL, 0);
	assert_string_equal(ENTRY(), "3");
	/* setb %al; jb: live all the way */
	load("0f 92 c0 72 00 48 89 c7 48 89 c6 c3", NULL, 0);
	assert_string_equal(ENTRY(), "0 live");
}

static uint8_t side_of_exit_after(size_t i)
{
	const struct ki_point pt = {.kind = KI_POINT_EXIT_AFTER};
	struct ki_place *v;
	uint8_t where;
	size_t n;

	assert_int_equal(ki_point_places(fn, &spans, &pt, &v, &n, NULL), 0);
	assert_true(i < n);
	where = v[i].where;
	free(v);
	return where;
}

static void exits(void **state)
{
	(void)state;
	/* test; je 1f; mov; mov; ret; 1: mov; jmp g */
	load("85 ff 74 07 48 89 f8 48 89 c3 c3 b8 01 00 00 00 e9 2b 00 00 00", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "10, 16");
	/* into the cold part, and around in itself: no exits */
	load("85 ff 0f 84 58 00 00 00 48 89 f8 48 89 c3 c3 eb fe", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "14");
	/* a conditional tail jump */
	load("85 ff 0f 84 38 00 00 00 48 89 f8 48 89 c3 c3", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "2, 14");
	/* jmp *%rax */
	load("48 89 f8 48 83 c1 01 ff e0", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "7");
	/* a ret after a call, with filler enough for a short jump */
	load("85 ff 74 07 e8 37 00 00 00 c3 cc 48 89 f8 48 89 c3 c3", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "9, 17");
	/* never returns */
	load("48 89 f8 48 89 c3 eb f8", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "");
}

static void exits_behind_what_is_jumped_to(void **state)
{
	(void)state;
	/* test; je 1f; mov; mov; ret; 1: mov; jmp g */
	load("85 ff 74 07 48 89 f8 48 89 c3 c3 b8 01 00 00 00 e9 2b 00 00 00", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT_AFTER, 0, 0), "10, 16 live");
	assert_int_equal(side_of_exit_after(1), KI_RETURNED);
	assert_int_equal(side_of_exit_after(0), KI_BEFORE);
	/* into the cold part, and around in itself: no exits */
	load("85 ff 0f 84 58 00 00 00 48 89 f8 48 89 c3 c3 eb fe", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT_AFTER, 0, 0), "14");
	/* a conditional tail jump */
	load("85 ff 0f 84 38 00 00 00 48 89 f8 48 89 c3 c3", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT_AFTER, 0, 0), "2 live, 14");
	assert_int_equal(side_of_exit_after(0), KI_RETURNED);
	/* jmp *%rax: where to? */
	load("48 89 f8 48 83 c1 01 ff e0", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT_AFTER, 0, 0), "7 TAIL_UNKNOWN");
	/* never returns */
	load("48 89 f8 48 89 c3 eb f8", NULL, 0);
	assert_string_equal(places(KI_POINT_EXIT_AFTER, 0, 0), "");
}

static void cold_part_jumps_back(void **state)
{
	struct ki_place *v;
	size_t n;
	struct ki_function *cold;
	struct ki_spans cold_spans;
	const struct ki_point pt = {.kind = KI_POINT_EXIT};

	(void)state;
	load("85 ff 0f 84 58 00 00 00 48 89 f8 48 89 c3 c3", NULL, 0);
	memcpy(text + COLD, "\xb8\x01\x00\x00\x00\xe9\x9e\xff\xff\xff", 10); /* mov; jmp f+8 */
	assert_int_equal(
		ki_function_analyze(target, ki_target_symbol_at(target, BASE + COLD), &cold, NULL),
		0);
	assert_int_equal(ki_spans_find(cold, &cold_spans, NULL), 0);
	assert_int_equal(ki_point_places(cold, &cold_spans, &pt, &v, &n, NULL), 0);
	assert_int_equal(n, 0);
	free(v);
	ki_spans_free(&cold_spans);
	ki_function_free(cold);
}

static void instructions_and_blocks_by_number(void **state)
{
	struct ki_point pt = {.kind = KI_POINT_INSN, .addr = BASE + 4};
	struct ki_err err = {0};
	struct ki_place *v;
	size_t n;

	(void)state;
	load("0f 1f 44 00 00 48 89 f8 85 ff 74 01 90 c3", NULL, 0);
	assert_string_equal(places(KI_POINT_INSN, 0, 5), "5");
	assert_string_equal(places(KI_POINT_INSN, 0, 10), "10 live");
	assert_string_equal(places(KI_POINT_INSN, 0, 0), "0 FTRACE_SITE");
	assert_int_equal(ki_point_places(fn, &spans, &pt, &v, &n, &err), -EINVAL);
	assert_int_equal(err.reason, KI_R_NOT_BOUNDARY);
	assert_null(v);
	ki_err_clear(&err);
	pt = (struct ki_point){.kind = KI_POINT_BLOCK, .block = fn->nblocks};
	assert_int_equal(ki_point_places(fn, &spans, &pt, &v, &n, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "3"));
}

static void a_function_that_is_refused(void **state)
{
	(void)state;
	load("48 89 f8 cc 48 89 c3 c3", NULL, 0); /* a breakpoint of somebody's */
	assert_int_equal(fn->reason, KI_R_FOREIGN_BREAKPOINT);
	assert_int_equal(spans.n, 0);
	assert_string_equal(ENTRY(), "0 FOREIGN_BREAKPOINT");
	assert_string_equal(places(KI_POINT_EXIT, 0, 0), "7 FOREIGN_BREAKPOINT");
}

/* ---- everything ---- */

static size_t check_function(const struct ki_function *f)
{
	struct ki_spans s, again;
	size_t n;

	assert_int_equal(ki_spans_find(f, &s, NULL), 0);
	assert_int_equal(ki_spans_find(f, &again, NULL), 0);
	assert_int_equal(s.n, again.n);
	for (size_t i = 0; i < s.n; i++)
		assert_memory_equal(&s.v[i], &again.v[i], offsetof(struct ki_span, board) + 1);
	spans_check_cut(f, &s);
	if (s.n < 2000)
		spans_check_boards(f, &s);
	n = s.n;
	ki_spans_free(&s);
	ki_spans_free(&again);
	return n;
}

static void every_function_of_libc(void **state)
{
	struct ki_target *t;
	struct ki_err err = {0};
	const struct ki_symbol *syms;
	size_t n, total = 0;

	(void)state;
	if (ki_target_new_image("/lib/x86_64-linux-gnu/libc.so.6", &t, &err)) {
		print_message("%s\n", err.msg);
		skip();
	}
	syms = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++) {
		struct ki_function *f;

		if (syms[i].alias)
			continue;
		assert_int_equal(ki_function_analyze(t, &syms[i], &f, &err), 0);
		total += check_function(f);
		ki_function_free(f);
	}
	ki_target_free(t);
	print_message("%zu windows\n", total);
	assert_true(total > 50000);
}

#define TEST(f) cmocka_unit_test_teardown(f, unload)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_are_cut),
		TEST(reserved_text_is_in_no_window),
		TEST(finding_a_window),
		TEST(entry_steps_over_what_nobody_may_move),
		TEST(entry_stops_at_what_may_leave),
		TEST(entry_stops_before_what_has_a_fixup),
		TEST(entry_steps_over_a_lock_prefix),
		TEST(entry_in_a_short_block),
		TEST(code_stands_where_flags_are_dead),
		TEST(exits),
		TEST(exits_behind_what_is_jumped_to),
		TEST(cold_part_jumps_back),
		TEST(instructions_and_blocks_by_number),
		TEST(a_function_that_is_refused),
		TEST(every_function_of_libc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
