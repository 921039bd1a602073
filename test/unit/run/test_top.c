// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst top without kernel and terminal: which rows, in which order, drawn how, and what keys
 * mean.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kerninst/top.h"
#include "kerninst/top_keys.h"
#include "out/canvas.h"

#define NROWS 6

static const struct ki_top_row rows[NROWS] = {
	{"vfs_read", {{10, 900}, {0.25, 2}}},	{"vfs_write", {{70, 80}, {0.001, 0.0015}}},
	{"vfs_open", {{70, 300}, {NAN, NAN}}},	{"vfs_idle", {{0, 0}, {0, 0}}},
	{"vfs_none", {{NAN, NAN}, {NAN, NAN}}}, {"vfs_old", {{0, 5}, {0, 1e-6}}},
};

static void begin(struct ki_top_model *m)
{
	*m = (struct ki_top_model){.what = "points", .time = 12.34, .seconds = 1};
	assert_int_equal(ki_top_model_new(m, NROWS), 0);
	memcpy(m->rows, rows, sizeof(rows));
	assert_int_equal(ki_top_model_column(m, "calls", false), 0);
	assert_int_equal(ki_top_model_column(m, "walltime", true), 1);
	assert_int_equal(ki_top_model_column(m, "calls", false), 0);
	ki_top_model_sort(m);
}

static void check_order(const struct ki_top_model *m, const char *wanted)
{
	char got[256] = "";

	for (size_t i = 0; i < m->shown; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "",
			 m->rows[m->order[i]].name + 4);
	assert_string_equal(got, wanted);
}

static void sort_by(struct ki_top_model *m, enum ki_top_sort sort, unsigned int column)
{
	m->sort = sort;
	m->by = column;
	ki_top_model_sort(m);
}

static void rows_are_sorted(void **state)
{
	struct ki_top_model m;

	(void)state;
	begin(&m);
	check_order(&m, "open write read old"); /* as many in a second: more since the start */
	assert_int_equal(m.refused, 1);
	sort_by(&m, KI_TOP_BY_TOTAL, 0);
	check_order(&m, "read open write old");
	sort_by(&m, KI_TOP_BY_RATE, 1);
	check_order(&m, "read write old open"); /* what cannot be measured is last */
	sort_by(&m, KI_TOP_BY_TOTAL, 1);
	check_order(&m, "read write old open");
	sort_by(&m, KI_TOP_BY_NAME, 1);
	check_order(&m, "old open read write");
	m.idle = true;
	sort_by(&m, KI_TOP_BY_TOTAL, 0);
	check_order(&m, "read open write old idle");
	ki_top_model_free(&m);
}

static void numbers_in_names_are_numbers(void **state)
{
	struct ki_top_model m = {.what = "", .idle = true, .sort = KI_TOP_BY_NAME};

	(void)state;
	assert_int_equal(ki_top_model_new(&m, 3), 0);
	ki_top_model_column(&m, "calls", false);
	m.rows[0].name = "f:block/10";
	m.rows[1].name = "f:block/9";
	m.rows[2].name = "f:block/1";
	ki_top_model_sort(&m);
	assert_int_equal(m.order[0], 2);
	assert_int_equal(m.order[1], 1);
	assert_int_equal(m.order[2], 0);
	ki_top_model_free(&m);
}

static const char *selected(const struct ki_top_model *m)
{
	size_t row = ki_top_model_selected(m);

	return row == KI_TOP_NONE ? "" : m->rows[row].name + 4;
}

/* A row that has been selected stays so when it moves; the first is whichever is the first. */
static void what_is_selected_stays(void **state)
{
	struct ki_top_model m;

	(void)state;
	begin(&m);
	assert_string_equal(selected(&m), "open");
	sort_by(&m, KI_TOP_BY_TOTAL, 0);
	assert_string_equal(selected(&m), "read");
	ki_top_model_move(&m, 2);
	assert_string_equal(selected(&m), "write");
	sort_by(&m, KI_TOP_BY_RATE, 0);
	assert_string_equal(selected(&m), "write");
	ki_top_model_move(&m, -1);
	assert_string_equal(selected(&m), "open");
	sort_by(&m, KI_TOP_BY_RATE, 1);
	assert_string_equal(selected(&m), "read");
	ki_top_model_move(&m, 1000);
	assert_string_equal(selected(&m), "open");
	ki_top_model_move(&m, -1000);
	assert_string_equal(selected(&m), "read");
	ki_top_model_free(&m);
}

static void nothing_is_selected_of_nothing(void **state)
{
	struct ki_top_model m = {.what = ""};

	(void)state;
	assert_int_equal(ki_top_model_new(&m, 0), 0);
	ki_top_model_sort(&m);
	ki_top_model_move(&m, 1);
	ki_top_model_move(&m, -1);
	ki_top_model_scroll(&m, 5);
	assert_string_equal(selected(&m), "");
	ki_top_model_free(&m);
}

/* The screen moves only when it must, and has no empty lines while there are rows for them. */
static void the_selected_row_is_seen(void **state)
{
	struct ki_top_model m;

	(void)state;
	begin(&m);
	m.idle = true;
	ki_top_model_sort(&m); /* 5 rows */
	ki_top_model_move(&m, 3);
	ki_top_model_scroll(&m, 3);
	assert_int_equal(m.first, 1);
	ki_top_model_move(&m, -1);
	ki_top_model_scroll(&m, 3);
	assert_int_equal(m.first, 1);
	ki_top_model_move(&m, -2);
	ki_top_model_scroll(&m, 3);
	assert_int_equal(m.first, 0);
	ki_top_model_move(&m, 4);
	ki_top_model_scroll(&m, 1);
	assert_int_equal(m.first, 4);
	ki_top_model_scroll(&m, 4);
	assert_int_equal(m.first, 1);
	ki_top_model_scroll(&m, 0);
	ki_top_model_scroll(&m, 100);
	assert_int_equal(m.first, 0);
	ki_top_model_free(&m);
}

static void check_screen(struct ki_top_model *m, unsigned int width, unsigned int height,
			 const char *status, const char *const *wanted)
{
	struct ki_canvas c;

	assert_int_equal(ki_canvas_open(&c, width, height), 0);
	ki_top_draw(&c, m, status);
	for (unsigned int i = 0; i < height; i++) {
		const char *line = ki_canvas_line(&c, i);
		size_t len = strlen(wanted[i]);

		assert_int_equal(strlen(line), width);
		assert_memory_equal(line, wanted[i], len < width ? len : width);
		for (size_t k = len; k < width; k++)
			assert_int_equal(line[k], ' ');
	}
	ki_canvas_close(&c);
}

#define SUMMARY "kerninst top  12.3 s, the last 1.0  points: 4 of 6, 1 refused  if pid == 3"
#define KEYS                                                                                       \
	"q quit  Enter blocks  Backspace back  j k select  c calls  v vtime  w walltime  s sort"

static void a_screen_is_drawn(void **state)
{
	static const char *const wanted[] = {
		SUMMARY,
		"     >CALLS/S        CALLS   WALLTIME/S     WALLTIME  POINT",
		"         70.0          300            -            -  vfs_open",
		"         70.0           80        0.001      1.50 ms  vfs_write",
		"         10.0          900        0.250       2.00 s  vfs_read",
		"          0.0            5        0.000      1.00 us  vfs_old",
		"",
		KEYS,
	};
	static const char *const total[] = {
		SUMMARY,
		"      CALLS/S        CALLS   WALLTIME/S    >WALLTIME  POINT",
		"         10.0          900        0.250       2.00 s  vfs_read",
		"no blocks there",
	};
	static const char *const named[] = {
		SUMMARY,
		"      CALLS/S        CALLS   WALLTIME/S     WALLTIME  >POINT",
		"          0.0            5        0.000      1.00 us  vfs_old",
		KEYS,
	};
	struct ki_top_model m;

	(void)state;
	begin(&m);
	m.when = "pid == 3";
	check_screen(&m, 90, 8, "", wanted);
	check_screen(&m, 40, 8, "", wanted); /* what does not fit is left out */
	sort_by(&m, KI_TOP_BY_TOTAL, 1);
	check_screen(&m, 90, 4, "no blocks there", total);
	sort_by(&m, KI_TOP_BY_NAME, 1);
	check_screen(&m, 100, 4, "", named);
	ki_top_model_free(&m);
}

/* However small it is, nothing is written outside. */
static void any_size_can_be_drawn(void **state)
{
	struct ki_top_model m;

	(void)state;
	begin(&m);
	for (unsigned int w = 0; w < 12; w++)
		for (unsigned int h = 0; h < 12; h++) {
			struct ki_canvas c;

			assert_int_equal(ki_canvas_open(&c, w, h), 0);
			ki_top_draw(&c, &m, "");
			for (unsigned int i = 0; i < h; i++)
				assert_int_equal(strlen(ki_canvas_line(&c, i)), w);
			ki_canvas_close(&c);
		}
	ki_top_model_free(&m);
}

static void the_selected_line_is_inverse(void **state)
{
	struct ki_canvas c;
	struct ki_top_model m;

	(void)state;
	begin(&m);
	ki_top_model_move(&m, 2);
	assert_int_equal(ki_canvas_open(&c, 80, 8), 0);
	ki_top_draw(&c, &m, "");
	for (unsigned int i = 2; i < 7; i++)
		assert_int_equal(c.looks[i], i == 4 ? KI_LOOK_INVERSE : KI_LOOK_PLAIN);
	assert_int_equal(c.looks[1], KI_LOOK_BOLD);
	ki_canvas_close(&c);
	ki_top_model_free(&m);
}

/* A name is from a kernel's module: it must not reach the terminal's controls. */
static void controls_are_not_drawn(void **state)
{
	struct ki_canvas c;
	struct ki_top_model m;

	(void)state;
	begin(&m);
	m.rows[0].name = "a\033[2Jb\n\xff";
	assert_int_equal(ki_canvas_open(&c, 80, 8), 0);
	ki_top_draw(&c, &m, "x\033y");
	assert_non_null(strstr(ki_canvas_line(&c, 4), "  a?[2Jb??"));
	assert_memory_equal(ki_canvas_line(&c, 7), "x?y ", 4);
	ki_canvas_close(&c);
	ki_top_model_free(&m);
}

/* The keys in some bytes, each as a letter; what is left is ended. */
static void check_keys(const char *bytes, const char *wanted)
{
	static const char letters[] = "-udUDflebscvwq";
	struct ki_top_keys k = {0};
	char got[64] = "", *to = got;

	for (; *bytes; bytes++) {
		enum ki_top_key key = ki_top_keys_take(&k, *bytes);

		if (key)
			*to++ = letters[key];
	}
	if (ki_top_keys_pending(&k))
		*to++ = letters[ki_top_keys_end(&k)];
	assert_string_equal(got, wanted);
}

static void keys_are_understood(void **state)
{
	(void)state;
	check_keys("jk\033[A\033[B\033OA\033OB", "duudud");
	check_keys("gG\033[H\033[F\033[1~\033[4~\033[5~\033[6~ ", "flflflUDD");
	check_keys("\r\nl\033[C\177\bh\033[D", "eeeebbbb");
	check_keys("scvwq", "scvwq");
	check_keys("\033", "b");
	check_keys("xyz", "");
	check_keys("\033[15~\033[1;5Aj", "d"); /* others' sequences are none, as a whole */
	check_keys("\033[", "-");
	check_keys("\033[1111111111111111111111111111", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted),
		cmocka_unit_test(numbers_in_names_are_numbers),
		cmocka_unit_test(what_is_selected_stays),
		cmocka_unit_test(nothing_is_selected_of_nothing),
		cmocka_unit_test(the_selected_row_is_seen),
		cmocka_unit_test(a_screen_is_drawn),
		cmocka_unit_test(any_size_can_be_drawn),
		cmocka_unit_test(the_selected_line_is_inverse),
		cmocka_unit_test(controls_are_not_drawn),
		cmocka_unit_test(keys_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
