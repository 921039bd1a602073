// SPDX-License-Identifier: GPL-2.0-only
/* What bufpolicy keeps of records until a program ends: of each CPU the newest, or the first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dlang/run/run.h"

#define CLAUSE_BYTES 4 /* of a record without values */

/* A program of two clauses; the second one has two records. What has come out is text. */
struct program {
	struct ki_dlang d;
	char text[256];
};

static void add_batch(struct ki_dlang *d, uint32_t clause)
{
	const struct ki_d_batch b = {.clause = clause};

	assert_int_equal(ki_vec_push(&d->batches, b), 0);
	d->clauses.v[clause].nbatches++;
}

static struct program *begin(enum ki_d_bufpolicy policy, int64_t bufsize)
{
	struct program *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	ki_d_settings_default(&p->d.set);
	p->d.set.bufpolicy = policy;
	p->d.set.bufsize = bufsize;
	p->d.run = calloc(1, sizeof(*p->d.run));
	assert_non_null(p->d.run);
	for (uint32_t i = 0; i < 2; i++) {
		const struct ki_d_clause c = {.first_batch = i};

		assert_int_equal(ki_vec_push(&p->d.clauses, c), 0);
		add_batch(&p->d, i);
	}
	add_batch(&p->d, 1);
	return p;
}

/* Of a batch; its value is its name. */
static void come(struct program *p, unsigned int cpu, uint32_t batch, char name)
{
	const struct ki_d_held h = {.rec = {.id = batch, .words = 2},
				    .values = {0, (uint64_t)name},
				    .cpu = cpu,
				    .begins = batch < 2,
				    .ends = batch != 1};

	assert_true(ki_d_backlog_keeps(&p->d));
	assert_int_equal(ki_d_backlog_add(&p->d, &h), 0);
}

static int print(void *arg, const struct ki_d_held *h)
{
	struct program *p = arg;
	const size_t len = strlen(p->text);

	snprintf(p->text + len, sizeof(p->text) - len, "%u%c%s", h->cpu, (char)h->values[1],
		 h->ends ? " " : "");
	return 0;
}

static void end(struct program *p, const char *want)
{
	assert_int_equal(ki_d_backlog_end(&p->d, print, p), 0);
	assert_string_equal(p->text, want);
	assert_false(ki_d_backlog_keeps(&p->d));
	ki_d_backlog_free(&p->d.run->backlog);
	free(p->d.run);
	ki_vec_free(&p->d.clauses);
	ki_vec_free(&p->d.batches);
	free(p);
}

static void test_ring_keeps_the_newest(void **state)
{
	struct program *p = begin(KI_D_RING, 3 * CLAUSE_BYTES);

	(void)state;
	for (char c = 'a'; c <= 'f'; c++)
		come(p, 0, 0, c);
	assert_false(p->d.run->exited);
	end(p, "0d 0e 0f ");
}

static void test_each_cpu_has_its_own(void **state)
{
	struct program *p = begin(KI_D_RING, 2 * CLAUSE_BYTES + 1);

	(void)state;
	come(p, 3, 0, 'a');
	for (char c = 'b'; c <= 'e'; c++)
		come(p, 1, 0, c);
	come(p, 3, 0, 'f');
	come(p, 1, 0, 'g');
	end(p, "3a 1e 3f 1g ");
}

static void test_records_of_a_clause_go_together(void **state)
{
	struct program *p = begin(KI_D_RING, 2 * CLAUSE_BYTES);

	(void)state;
	come(p, 0, 1, 'a');
	come(p, 0, 2, 'b');
	come(p, 0, 1, 'c');
	come(p, 0, 2, 'd');
	come(p, 0, 0, 'e');
	end(p, "0c0d 0e ");
}

static void test_fill_ends_the_program(void **state)
{
	struct program *p = begin(KI_D_FILL, 2 * CLAUSE_BYTES + 3);

	(void)state;
	come(p, 0, 0, 'a');
	come(p, 1, 1, 'b');
	come(p, 1, 2, 'c');
	come(p, 0, 0, 'd');
	assert_false(p->d.run->exited);
	come(p, 0, 1, 'e');
	assert_true(p->d.run->exited);
	come(p, 0, 2, 'f');
	come(p, 1, 0, 'g');
	end(p, "0a 1b1c 0d ");
}

static void test_switch_keeps_nothing(void **state)
{
	struct program *p = begin(KI_D_SWITCH, 64);

	(void)state;
	assert_false(ki_d_backlog_keeps(&p->d));
	end(p, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ring_keeps_the_newest),
					   cmocka_unit_test(test_each_cpu_has_its_own),
					   cmocka_unit_test(test_records_of_a_clause_go_together),
					   cmocka_unit_test(test_fill_ends_the_program),
					   cmocka_unit_test(test_switch_keeps_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
