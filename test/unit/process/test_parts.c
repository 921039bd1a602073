// SPDX-License-Identifier: GPL-2.0-only
/* Edits of a process's text: all at once where code keeps something of a thread between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "process/linked.h"

#define MANY 300

static struct ki_edit edits[MANY];

/* Springboards of five bytes on pages of their own; each third is a short one. */
static struct ki_linked linked(size_t n)
{
	struct ki_linked x = {0};

	for (size_t i = 0; i < n; i++)
		edits[i] = (struct ki_edit){.addr = i * KI_PAGE, .len = i % 3 ? 5 : 2};
	x.edits.v = edits;
	x.edits.n = n;
	return x;
}

static void one_kind_after_the_other(void **state)
{
	const struct ki_linked x = linked(MANY);
	unsigned int seen = 0, parts = 0;
	struct ki_part p;

	(void)state;
	for (int boards = 0; boards < 2; boards++) {
		p = (struct ki_part){.boards = boards};
		for (; ki_part_next(&x, &p); parts++)
			for (size_t i = 0; i < x.edits.n; i++) {
				assert_true(!ki_part_has(&x, &p, i) ||
					    (edits[i].len < 5) == (bool)boards);
				seen += ki_part_has(&x, &p, i);
			}
	}
	assert_int_equal(seen, MANY);
	assert_true(parts > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_kind_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
