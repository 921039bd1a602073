// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window of an entry that is found alone, against the one of all windows: for the functions of
 * this program and of the C library.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kerninst/splice.h"
#include "splice/springboard_choice.h"

struct work {
	const struct ki_symbol **syms;
	struct ki_target *t;
	struct ki_spans *spans;
	size_t alone, whole; /* windows that were found so */
	size_t first;	     /* of the latter, without others that there are */
	size_t joined;	     /* and with them, since it is joined to one */
};

static int find_alone(void *arg, size_t i, const struct ki_function *fn)
{
	struct work *w = arg;
	int ret = ki_spans_find_entry(fn, &w->spans[i], NULL);

	assert_true(ret == 0 || ret == KI_FUNCTION_WHOLE);
	w->alone += !ret && w->spans[i].n;
	return ret;
}

static int find_whole(void *arg, size_t i, const struct ki_function *fn)
{
	struct work *w = arg;

	w->whole++;
	assert_int_equal(ki_spans_find_entry_whole(fn, &w->spans[i], NULL), 0);
	return 0;
}

static struct ki_place place_of(const struct ki_function *fn, const struct ki_spans *s)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ki_place *v, place;
	size_t n;

	assert_int_equal(ki_point_places(fn, s, &entry, &v, &n, NULL), 0);
	assert_int_equal(n, 1);
	place = *v;
	free(v);
	return place;
}

static void compare_windows(const struct ki_span *a, const struct ki_span *b)
{
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->bounce, b->bounce);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->board, b->board);
	assert_int_equal(a->host == KI_NONE, b->host == KI_NONE);
}

/* Is the entry's window joined to the next one? */
static bool is_joined(const struct ki_function *fn, const struct ki_spans *all)
{
	struct ki_spans cut;
	bool joined;

	assert_int_equal(ki_spans_cut(fn, 0, &cut), 0);
	joined = cut.n && all->v[0].len > cut.v[0].len;
	ki_spans_free(&cut);
	return joined;
}

static int compare(void *arg, size_t i, const struct ki_function *fn)
{
	struct work *w = arg;
	struct ki_function *all;
	struct ki_spans spans;
	struct ki_place ours, theirs;

	assert_int_equal(ki_function_analyze(w->t, w->syms[i], &all, NULL), 0);
	assert_int_equal(ki_spans_find(all, &spans, NULL), 0);
	ours = place_of(fn, &w->spans[i]);
	theirs = place_of(all, &spans);
	assert_int_equal(fn->reason, all->reason);
	assert_int_equal(ours.reason, theirs.reason);
	assert_int_equal(ours.addr, theirs.addr);
	assert_int_equal(ours.where, theirs.where);
	if (!ours.reason)
		compare_windows(ki_spans_at(&w->spans[i], fn, ours.addr),
				ki_spans_at(&spans, all, theirs.addr));
	w->first += w->spans[i].n == 1 && spans.n > 1;
	w->joined += w->spans[i].n > 1 && is_joined(all, &spans);
	ki_spans_free(&w->spans[i]);
	ki_spans_free(&spans);
	ki_function_free(all);
	return 0;
}

static void compare_file(const char *path)
{
	struct work w = {0};
	struct ki_functions_job job = {.threads = 1,
				       .each = find_alone,
				       .whole = find_whole,
				       .take = compare,
				       .arg = &w,
				       .at_entries = true};
	struct ki_err err = {0};
	const struct ki_symbol *all;
	size_t n;

	if (ki_target_new_image(path, &w.t, &err))
		fail_msg("%s", err.msg);
	all = ki_target_symbols(w.t, &n);
	w.syms = calloc(n + 1, sizeof(*w.syms));
	w.spans = calloc(n + 1, sizeof(*w.spans));
	assert_true(w.syms && w.spans);
	for (size_t i = 0; i < n; i++)
		if (!all[i].alias)
			w.syms[job.n++] = &all[i];
	job.syms = w.syms;
	assert_int_equal(ki_functions_analyze(w.t, &job, &err), 0);
	assert_true(w.alone > job.n / 4);
	assert_true(w.whole > job.n / 100);
	assert_true(w.first > w.whole / 4);
	assert_true(w.joined > 0);
	free(w.spans);
	free(w.syms);
	ki_target_free(w.t);
}

static void this_program(void **state)
{
	(void)state;
	compare_file("/proc/self/exe");
}

static void the_c_library(void **state)
{
	Dl_info info;

	(void)state;
	if (!dladdr((void *)(uintptr_t)&qsort, &info) || !info.dli_fname)
		skip();
	compare_file(info.dli_fname);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_program),
		cmocka_unit_test(the_c_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
