// SPDX-License-Identifier: GPL-2.0-only
/*
 * Springboards of small functions, as they are written down here: which windows bounce, and where.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_code.h"
#include "common_spans.h"
#include "kerninst/splice.h"

#define CODE_MAX 64

static const struct {
	const char *what;
	const char *hex;
	const char *windows; /* "offset:bytes", '!' after one that traps, ">offset" of a bounce */
} cases[] = {
	{"no place", "75 00 ff d0 c3", "0:2! 2:2! 4:1!"},
	{"in a tail", "75 00 48 b8 01 02 03 04 05 06 07 08 c3", "0:2>7 2:11"},
	{"a tail too short", "75 00 48 c7 c0 01 00 00 00 31 c0", "0:2! 2:9"},
	{"in filler", "75 00 31 c0 31 c0 c3 cc cc cc cc cc", "0:2>7 2:5"},
	{"nops are filler", "75 00 31 c0 31 c0 c3 0f 1f 44 00 00", "0:2>7 2:5"},
	{"a tail, with the stack as it is at the window, rather than filler",
	 "75 00 48 b8 01 02 03 04 05 06 07 08 c3 cc cc cc cc cc", "0:2>7 2:11"},
	{"filler rather than a tail with something more on the stack",
	 "75 00 50 48 b8 01 02 03 04 05 06 07 08 c3 cc cc cc cc cc", "0:2>14 2:12"},
	{"rather the latter than nothing", "75 00 50 48 b8 01 02 03 04 05 06 07 08 c3",
	 "0:2>7 2:12"},
	{"what has been pushed and popped again is the same",
	 "75 00 50 58 48 b8 01 02 03 04 05 06 07 08 c3 cc cc cc cc cc", "0:2>7 2:13"},
	{"not across the end of code", "75 00 31 c0 31 c0 31 c0 c3 cc cc cc", "0:2! 2:7"},
	{"windows are joined", "75 00 b8 01 00 00 00 b9 01 00 00 00 c3", "0:2>7 2:11"},
	{"a tail rather than joined windows",
	 "75 00 b8 01 00 00 00 b9 01 00 00 00 48 b8 01 02 03 04 05 06 07 08 c3",
	 "0:2>17 2:5 7:5 12:11"},
	{"only those across which something bounces",
	 "75 00 b8 01 00 00 00 b9 01 00 00 00 ba 01 00 00 00 bb 01 00 00 00 c3",
	 "0:2>7 2:10 12:5 17:6"},
	{"no joining across a call", "75 00 b8 01 00 00 00 ff d0 b9 01 00 00 00 c3",
	 "0:2! 2:7 9:6"},
	{"a call joins what stands before it", "b8 01 00 00 00 e8 10 20 00 00 c3", "0:10 10:1!"},
	{"so does what would cover it",
	 "b8 01 00 00 00 31 c0 50 50 e8 10 20 00 00 b9 01 00 00 00 e8 10 20 00 00 c3",
	 "0:14 14:10 24:1!"},
	{"but not where there is room for both", "b8 01 00 00 00 b9 01 00 00 00 e8 10 20 00 00 c3",
	 "0:5 5:10 15:1!"},
	{"nor behind a call", "50 50 e8 10 20 00 00 e8 10 20 00 00 31 c0 e8 10 20 00 00 c3",
	 "0:7 7:5 12:7 19:1!"},
	{"no bounce stands over a call", "75 00 b8 01 00 00 00 e8 10 20 00 00 c3",
	 "0:2! 2:10 12:1!"},
	{"but before it", "75 00 48 b8 01 02 03 04 05 06 07 08 e8 10 20 00 00 c3",
	 "0:2>7 2:15 17:1!"},
	{"nor over one in joined windows", "75 00 b8 01 00 00 00 b9 01 00 00 00 e8 10 20 00 00 c3",
	 "0:2>7 2:15 17:1!"},
	{"a return takes two bytes", "75 00 48 b8 01 02 03 04 05 06 07 08 ff d0 c3 cc",
	 "0:2>7 2:12 14:2!"},
};

static const char *windows(const struct ki_function *fn)
{
	static char text[400];
	struct ki_spans s;

	assert_int_equal(ki_spans_find(fn, &s, NULL), 0);
	spans_check_cut(fn, &s);
	spans_check_boards(fn, &s);
	*text = '\0';
	for (size_t i = 0; i < s.n; i++) {
		const struct ki_span *v = &s.v[i];
		size_t n = strlen(text);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u:%u%s", i ? " " : "",
				      (unsigned int)(v->addr - BASE), v->len,
				      v->board == KI_BOARD_TRAP ? "!" : "");
		if (v->bounce)
			snprintf(text + n, sizeof(text) - n, ">%u",
				 (unsigned int)(v->bounce - BASE));
	}
	ki_spans_free(&s);
	return text;
}

static void by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[CODE_MAX] = {0};
		struct text x = {.m = {.kind = KI_TARGET_LIVE, .bytes = code}};
		const char *got;
		char *end;

		for (const char *p = cases[i].hex; *p; p = *end ? end + 1 : end)
			code[x.m.len++] = (uint8_t)strtoul(p, &end, 16);
		open_text(&x);
		look_at(&x, "f");
		got = windows(x.fn);
		if (strcmp(got, cases[i].windows) != 0)
			fail_msg("%s: %s, not %s", cases[i].what, got, cases[i].windows);
		close_text(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
