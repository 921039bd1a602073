// SPDX-License-Identifier: GPL-2.0-only
/*
 * Short forms of conditions: they are predicates, or none at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "kerninst/predicate.h"

typedef char *make(const char *text);

/* want NULL: it is none. */
static const struct {
	make *make;
	const char *text, *want;
} rows[] = {
	{ki_predicate_pids, "1", "pid in (1)"},
	{ki_predicate_pids, "12,345", "pid in (12,345)"},
	{ki_predicate_pids, "123456789", "pid in (123456789)"},
	{ki_predicate_pids, "", NULL},
	{ki_predicate_pids, "0", NULL},
	{ki_predicate_pids, "012", NULL},
	{ki_predicate_pids, "1,", NULL},
	{ki_predicate_pids, ",1", NULL},
	{ki_predicate_pids, "1 2", NULL},
	{ki_predicate_pids, "1234567890", NULL},
	{ki_predicate_pids, "-1", NULL},
	{ki_predicate_comm, "a", "comm == \"\\141\""},
	{ki_predicate_comm, "a\"\\", "comm == \"\\141\\042\\134\""},
	{ki_predicate_comm, "123456789012345",
	 "comm == \"\\061\\062\\063\\064\\065\\066\\067\\070\\071\\060\\061\\062\\063\\064\\065\""},
	{ki_predicate_comm, "", NULL},
	{ki_predicate_comm, "1234567890123456", NULL},
	{ki_predicate_cpus, "0", "cpu >= 0 && cpu <= 0"},
	{ki_predicate_cpus, "0-3,8", "cpu >= 0 && cpu <= 3 || cpu >= 8 && cpu <= 8"},
	{ki_predicate_cpus, "", NULL},
	{ki_predicate_cpus, "3-1", NULL},
	{ki_predicate_cpus, "x", NULL},
	{ki_predicate_cpus, "1,", NULL},
};

static void they_are_predicates_or_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = rows[i].make(rows[i].text);
		struct ki_predicate *p = NULL;
		struct ki_err err = {0};

		if (!rows[i].want) {
			assert_null(text);
			assert_int_equal(errno, EINVAL);
			continue;
		}
		assert_non_null(text);
		assert_string_equal(text, rows[i].want);
		if (ki_predicate_new(text, &p, &err))
			fail_msg("%s: %s", text, err.msg);
		ki_predicate_free(p);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_predicates_or_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
