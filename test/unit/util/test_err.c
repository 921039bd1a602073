/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors, the table of reasons, arrays, sorting, and the list of public functions.
 *
 * promise: N10 (in part): Every refusal has a tag, a sentence and a hint. [basic.sh]
 * not shown: N10: That each sentence helps: tests ask that there is one, and that its reason is
 *   provoked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kerninst/err.h"
#include "util/sort.h"
#include "util/vec.h"

static void reasons_are_complete(void **state)
{
	(void)state;
	assert_int_equal(ki_reason_errno(KI_R_OK), 0);
	for (unsigned int r = 0; r < KI_R_COUNT; r++) {
		const char *tag = ki_reason_tag(r);
		unsigned int found;

		assert_true(strlen(tag) > 1);
		for (const char *c = tag; *c; c++)
			assert_true(isupper(*c) || isdigit(*c) || *c == '_');
		assert_int_equal(ki_reason_find(tag, &found), 0);
		assert_int_equal(found, r);
		assert_true(strlen(ki_reason_text(r)) > 10);
		assert_non_null(ki_reason_hint(r));
		assert_true(r == KI_R_OK || strlen(ki_reason_hint(r)) > 10);
		assert_true(r == KI_R_OK || (ki_reason_errno(r) > 0 && ki_reason_errno(r) < 200));
	}
}

static void reasons_of_other_versions(void **state)
{
	unsigned int found = 77;

	(void)state;
	assert_string_equal(ki_reason_tag(KI_R_COUNT), "UNKNOWN");
	assert_string_equal(ki_reason_tag(UINT32_MAX), "UNKNOWN");
	assert_int_equal(ki_reason_errno(12345), EINVAL);
	assert_non_null(ki_reason_text(12345));
	assert_non_null(ki_reason_hint(12345));
	assert_int_equal(ki_reason_find("unknown", &found), -ENOENT);
	assert_int_equal(ki_reason_find("", &found), -ENOENT);
	assert_int_equal(ki_reason_find(NULL, &found), -ENOENT);
	assert_int_equal(found, 77);
	assert_int_equal(ki_reason_find("jump_label", &found), 0);
	assert_int_equal(found, KI_R_JUMP_LABEL);
}

static void first_error_stays(void **state)
{
	struct ki_err err = {0};

	(void)state;
	assert_int_equal(ki_err_set(&err, -ENOENT, 0x10, "%s: gone", "a"), -ENOENT);
	assert_int_equal(ki_err_set(&err, -EINVAL, 0x20, "later"), -EINVAL);
	assert_int_equal(ki_err_reason(&err, KI_R_EXTABLE, 0x30, "later"), -EBUSY);
	assert_int_equal(err.code, -ENOENT);
	assert_int_equal(err.addr, 0x10);
	assert_int_equal(err.reason, KI_R_OK);
	assert_string_equal(err.msg, "a: gone");
	ki_err_clear(&err);
	assert_int_equal(ki_err_reason(&err, KI_R_STI, 0x40, "f+%d", 2), -EOPNOTSUPP);
	assert_int_equal(err.reason, KI_R_STI);
	assert_int_equal(err.addr, 0x40);
	assert_string_equal(err.msg, "f+2: a sti: its one-instruction interrupt shadow must not be "
				     "split");
}

static void nobody_listens(void **state)
{
	(void)state;
	ki_err_clear(NULL);
	assert_int_equal(ki_err_set(NULL, -EIO, 0, "x"), -EIO);
	assert_int_equal(ki_err_reason(NULL, KI_R_HEAP_FULL, 0, "x"), -ENOSPC);
}

static void long_messages_are_cut(void **state)
{
	struct ki_err err = {0};
	char text[1000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ki_err_set(&err, -EIO, 0, "%s", text);
	assert_int_equal(strlen(err.msg), KI_ERR_MSG - 1);
	ki_err_clear(&err);
	ki_err_reason(&err, KI_R_STI, 0, "%s", text);
	assert_int_equal(strlen(err.msg), KI_ERR_MSG - 1);
	ki_err_clear(&err);
	ki_err_set(&err, -EIO, 0, "two\nlines\r");
	assert_null(strpbrk(err.msg, "\r\n"));
}

struct pair {
	uint32_t a;
	uint64_t b;
};

static void arrays_grow(void **state)
{
	ki_vec(struct pair) v = {0};

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(ki_vec_push(&v, (struct pair){i, i * 3ull}), 0);
	assert_int_equal(v.n, 10000);
	for (uint32_t i = 0; i < v.n; i++)
		assert_true(v.v[i].a == i && v.v[i].b == i * 3ull);
	assert_int_equal(ki_vec_reserve(&v, SIZE_MAX), -ENOMEM);
	assert_int_equal(ki_vec_reserve(&v, SIZE_MAX / sizeof(*v.v)), -ENOMEM);
	assert_int_equal(v.n, 10000);
	assert_int_equal(v.v[9999].a, 9999);
	ki_vec_free(&v);
	assert_null(v.v);
}

static uint64_t rng(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static void check_sorted(struct ki_sort_item *v, size_t n)
{
	assert_int_equal(ki_sort(v, n), 0);
	for (size_t i = 1; i < n; i++) {
		assert_true(v[i - 1].key <= v[i].key);
		if (v[i - 1].key == v[i].key)
			assert_true(v[i - 1].value < v[i].value);
	}
}

static void sorting_is_stable(void **state)
{
	static const uint64_t masks[] = {0, 1, 0xff, 0xff00ff, 0xfff0000000000000, UINT64_MAX};
	struct ki_sort_item *v = malloc(5000 * sizeof(*v));
	uint64_t seed = 88172645463325252ull;

	(void)state;
	assert_non_null(v);
	assert_int_equal(ki_sort(v, 0), 0);
	for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++) {
		for (size_t n = 1; n <= 5000; n = n * 3 + 1) {
			for (size_t i = 0; i < n; i++)
				v[i] = (struct ki_sort_item){rng(&seed) & masks[m], i};
			check_sorted(v, n);
		}
	}
	for (size_t i = 0; i < 5000; i++)
		v[i] = (struct ki_sort_item){i == 4999 ? 0 : 0xffffffff81000000 + i, i};
	check_sorted(v, 5000);
	assert_int_equal(v[0].value, 4999);
	free(v);
}

/* All text of a file of the source tree; NULL if it is not here. */
static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *buf;
	size_t n;

	if (!f)
		return NULL;
	buf = malloc(1 << 20);
	n = buf ? fread(buf, 1, (1 << 20) - 1, f) : 0;
	fclose(f);
	if (buf)
		buf[n] = 0;
	return buf;
}

static void blank_comments(char *s)
{
	char *end;

	while ((s = strstr(s, "/*")) && (end = strstr(s, "*/")))
		for (; s < end + 2; s++)
			*s = ' ';
}

/* Does the line that p is in declare something that is not exported: a function's type, or an
   inline function (and what that calls)? */
static bool is_not_exported(const char *text, const char *p)
{
	while (p > text && p[-1] != '\n')
		p--;
	return !strncmp(p, "typedef ", 8) || !strncmp(p, "static ", 7) || *p == '\t';
}

/* Every `ki_name(` of text is listed in map; how many there are. */
static size_t functions_in(const char *text, const char *map)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, "ki_")); p++) {
		size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
		char line[80];

		if (p[len] != '(' || (p > text && (isalnum(p[-1]) || p[-1] == '_')))
			continue;
		if (is_not_exported(text, p))
			continue;
		snprintf(line, sizeof(line), "\t%.*s;\n", (int)len, p);
		if (!strstr(map, line))
			fail_msg("not in the version map: %s", line);
		n++;
	}
	return n;
}

static void map_lists_the_public_functions(void **state)
{
	glob_t headers;
	char *map = slurp("lib/libkerninst.map");
	size_t n = 0, listed = 0;

	(void)state;
	if (!map)
		skip();
	assert_int_equal(glob("include/kerninst/*.h", 0, NULL, &headers), 0);
	for (size_t i = 0; i < headers.gl_pathc; i++) {
		char *text = slurp(headers.gl_pathv[i]);

		assert_non_null(text);
		blank_comments(text);
		n += functions_in(text, map);
		free(text);
	}
	globfree(&headers);
	for (const char *p = map; (p = strstr(p, "\tki_")); p++)
		listed++;
	assert_int_equal(n, listed);
	free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_complete),
		cmocka_unit_test(reasons_of_other_versions),
		cmocka_unit_test(first_error_stays),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(long_messages_are_cut),
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test(sorting_is_stable),
		cmocka_unit_test(map_lists_the_public_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
