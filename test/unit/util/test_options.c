// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of options: letters, long names, values, arguments among them, and what is none of them; and
 * what a listener is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <getopt.h>

#include "util/listen.h"
#include "util/options.h"

static struct {
	bool json, quiet, live, folded;
	const char *output, *kind;
	char seen[64]; /* what came in which order */
	int odd;
} got;

static int take_seen(const void *ctx, const char *value, void *to)
{
	assert_ptr_equal(ctx, &got);
	strcat(to, value);
	strcat(to, ",");
	return strcmp(value, "bad") ? 0 : 7;
}

static int take_folded(const void *ctx, const char *value, void *to)
{
	(void)ctx;
	*(bool *)to = true;
	got.kind = value ? value : "none";
	return 0;
}

static int other(const void *ctx, int option, char **argv)
{
	(void)ctx;
	(void)argv;
	got.odd = option;
	return option == 'h' ? 0 : 2;
}

static const struct ki_option rows[] = {
	{NULL, 0, take_seen, got.seen},
	{"json", 0, NULL, &got.json},
	{"quiet", 'q', NULL, &got.quiet},
	{"output", 'o', ki_option_text, &got.output},
	{"at", 0, take_seen, got.seen},
	{"live", 0, NULL, &got.live},
	{"orig", 0, ki_option_no, &got.live},
	{"folded", KI_OPTION_OPTIONAL, take_folded, &got.folded},
	{"cflags", KI_OPTION_NO_VALUE, take_folded, &got.folded},
};

/* from: the first row; so without row 0 there are no arguments among the options. */
static bool parse(size_t from, int *ret, int n, const char *const *words)
{
	static char text[16][16];
	char *argv[17] = {text[0]};
	const struct ki_options o = {rows + from, sizeof(rows) / sizeof(*rows) - from, other, &got};

	memset(&got, 0, sizeof(got));
	strcpy(text[0], "tool");
	for (int i = 0; i < n; i++) {
		strcpy(text[i + 1], words[i]);
		argv[i + 1] = text[i + 1];
	}
	argv[n + 1] = NULL;
	optind = 0;
	opterr = 0;
	return ki_options_parse(n + 1, argv, &o, ret);
}

#define PARSE(from, ...)                                                                           \
	parse(from, &ret, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),           \
	      (const char *const[]){__VA_ARGS__})

static void all_kinds_are_taken(void **state)
{
	int ret;

	(void)state;
	assert_true(PARSE(1, "--json", "-q", "-o", "file", "rest"));
	assert_int_equal(ret, 0);
	assert_true(got.json && got.quiet && !got.live);
	assert_string_equal(got.output, "file");
	assert_true(PARSE(1, "-qoother"));
	assert_true(got.quiet && !got.json);
	assert_string_equal(got.output, "other");
	assert_true(PARSE(1, "--output=x"));
	assert_string_equal(got.output, "x");
}

static void the_last_of_opposites_counts(void **state)
{
	int ret;

	(void)state;
	assert_true(PARSE(1, "--live", "--orig") && !got.live);
	assert_true(PARSE(1, "--orig", "--live") && got.live);
}

static void values_may_be_left_out(void **state)
{
	int ret;

	(void)state;
	assert_true(PARSE(1, "--folded", "ns") && got.folded);
	assert_string_equal(got.kind, "none");
	assert_true(PARSE(1, "--folded=ns") && got.folded);
	assert_string_equal(got.kind, "ns");
	assert_true(PARSE(1, "--cflags") && got.folded);
	assert_string_equal(got.kind, "none");
}

static void arguments_keep_their_place(void **state)
{
	int ret;

	(void)state;
	assert_true(PARSE(0, "a", "--at", "2", "b", "-q", "c"));
	assert_string_equal(got.seen, "a,2,b,c,");
	assert_true(got.quiet);
	/* what has no letter has none */
	assert_false(PARSE(0, "-j"));
}

static void the_first_that_is_wrong_ends_it(void **state)
{
	int ret;

	(void)state;
	assert_false(PARSE(0, "a", "bad", "b"));
	assert_int_equal(ret, 7);
	assert_string_equal(got.seen, "a,bad,");
	assert_false(PARSE(1, "--none"));
	assert_int_equal(ret, 2);
	assert_int_equal(got.odd, '?');
	assert_false(PARSE(1, "-o"));
	assert_int_equal(got.odd, ':');
	assert_false(PARSE(1, "--json=1"));
	assert_int_equal(got.odd, '?');
	assert_false(PARSE(1, "--quiet", "--help", "--none"));
	assert_int_equal(ret, 0);
	assert_int_equal(got.odd, 'h');
}

static char said[1024];

static void hear(void *arg, const char *line)
{
	assert_ptr_equal(arg, said);
	strcpy(said, line);
}

static bool go_on(void *arg, const char *what, size_t done, size_t total)
{
	(void)arg;
	return what && done < total;
}

static void listeners_may_be_none(void **state)
{
	const struct ki_listener l = {go_on, hear, said}, deaf = {0};
	char text[700];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ki_listener_warn(NULL, "%s", "nobody");
	ki_listener_warn(&deaf, "%s", "nobody");
	ki_listener_warn(&l, "%s %d", text, 5);
	assert_int_equal(strlen(said), sizeof(text) + 1);
	assert_true(ki_listener_progress(NULL, "x", 1, 1));
	assert_true(ki_listener_progress(&deaf, "x", 1, 1));
	assert_true(ki_listener_progress(&l, "x", 0, 1));
	assert_false(ki_listener_progress(&l, "x", 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_are_taken),
		cmocka_unit_test(the_last_of_opposites_counts),
		cmocka_unit_test(values_may_be_left_out),
		cmocka_unit_test(arguments_keep_their_place),
		cmocka_unit_test(the_first_that_is_wrong_ends_it),
		cmocka_unit_test(listeners_may_be_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
