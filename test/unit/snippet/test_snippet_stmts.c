// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each kind of statement does, as numbers written here, in all ways in which registers are
 * free. Expressions: test_snippet_nodes.c.
 */
#include "snippet_ways.h"

static uint64_t updated(enum ki_update op, const struct ki_var *v, uint64_t start, int64_t by)
{
	uint64_t *bank[KI_VAR_KINDS] = {c.start.counters, c.start.globals, c.start.thread};
	uint64_t *got[KI_VAR_KINDS] = {c.got.counters, c.got.globals, c.got.thread};

	known();
	begin();
	bank[v->kind][v->first] = start;
	c.m.regs[KI_RBX] = (uint64_t)by;
	run(ki_stmt_update(s, op, v, NULL, REG(RBX)));
	return got[v->kind][v->first];
}

static void updates(void **state)
{
	(void)state;
	assert_int_equal(updated(KI_SET, &min32, 0xffffffff, 7), 7);
	assert_int_equal(updated(KI_SET, &min32, 0, -1), 0xffffffff);
	assert_int_equal(updated(KI_UPDATE_MIN, &min32, 5, -1), 0xffffffff);
	assert_int_equal(updated(KI_UPDATE_MIN, &min32, 5, 6), 5);
	assert_int_equal(updated(KI_UPDATE_MAX, &min32, 5, 6), 6);
	assert_int_equal(updated(KI_UPDATE_MAX, &min32, 5, 0x100000001), 5);
	assert_int_equal(updated(KI_UPDATE_ADD, &min32, 0xffffffff, 2), 1);
	assert_int_equal(updated(KI_UPDATE_SUB, &glob, 5, 6), UINT64_MAX);
	assert_int_equal(updated(KI_UPDATE_OR, &glob, 5, 6), 7);
	assert_int_equal(updated(KI_UPDATE_AND, &glob, 5, 6), 4);
	assert_int_equal(updated(KI_UPDATE_ADD, &glob, 5, 6), 11);
	assert_int_equal(updated(KI_UPDATE_ADD, &thread, 32767, 1), 32768);
	assert_int_equal(updated(KI_UPDATE_MAX, &glob, 5, 6), 6);
	assert_int_equal(updated(KI_UPDATE_MAX, &glob, 5, 4), 5);
	assert_int_equal(updated(KI_UPDATE_MIN, &glob, 5, 4), 4);
	assert_int_equal(updated(KI_UPDATE_MIN, &glob, 5, 6), 5);
	assert_int_equal(updated(KI_UPDATE_MAX, &thread, 4, 9), 9);
	assert_int_equal(updated(KI_UPDATE_MIN, &thread, 4, 9), 4);
	assert_int_equal(updated(KI_SET, &thread, 4, 65537), 1);
}

/* ---- locals ---- */

#define SET(v, x)     ki_stmt_update(s, KI_SET, &(v), NULL, x)
#define UPD(op, v, x) ki_stmt_update(s, KI_UPDATE_##op, &(v), NULL, x)

static struct ki_node *list_of(size_t n, struct ki_node *const *v)
{
	struct ki_node *list = NULL;

	for (size_t i = 0; i < n; i++)
		list = ki_stmt_append(s, list, v[i]);
	return list;
}

#define LIST(...)                                                                                  \
	list_of(sizeof((struct ki_node *[]){__VA_ARGS__}) / sizeof(struct ki_node *),              \
		(struct ki_node *[]){__VA_ARGS__})

static const struct ki_var byte = {.name = "b", .kind = KI_VAR_LOCAL, .type = KI_I8, .first = 7};

static void locals(void **state)
{
	(void)state;
	known();
	begin();
	leaves(LIST(SET(local, REG(RBX)), UPD(ADD, local, C(5)), SET(out, V(local))), 108);
	leaves(SET(out, B(KI_ADD, V(local), C(1))), 1);
	leaves(LIST(UPD(SUB, local, C(2)), SET(out, V(local))), (uint64_t)-2);
	leaves(LIST(SET(local, B(KI_ADD, V(local), C(3))),
		    SET(local, B(KI_MUL, V(local), V(local))), SET(out, V(local))),
	       9);
	leaves(ki_stmt_if(s, B(KI_EQ, REG(RBX), C(103)), LIST(SET(local, C(1)), SET(out, V(local))),
			  LIST(UPD(OR, local, C(2)), SET(out, V(local)))),
	       1);
	leaves(ki_stmt_if(s, B(KI_NE, REG(RBX), C(103)), LIST(SET(local, C(1)), SET(out, V(local))),
			  LIST(UPD(OR, local, C(2)), SET(out, V(local)))),
	       2);
	leaves(LIST(SET(local, C(4)), ki_stmt_if(s, REG(RBX), SET(local, C(7)), NULL),
		    ki_stmt_if(s, B(KI_GT, V(local), C(6)), SET(out, V(local)), NULL)),
	       7);
	leaves(LIST(SET(byte, C(0x17f)), UPD(ADD, byte, C(1)), SET(out, V(byte))), (uint64_t)-128);
	leaves(LIST(UPD(MIN, byte, REG(RBX)), UPD(MIN, byte, C(0x1ff)), SET(out, V(byte))),
	       (uint64_t)-1);
	leaves(LIST(UPD(MAX, byte, C(0x1ff)), UPD(MAX, byte, REG(RBX)), SET(out, V(byte))), 103);
}

/* All of them at once, with values that want registers of their own. */
/* As many as the stack has words for, with what is calculated. */
#define AT_ONCE 24u

static void many_locals(void **state)
{
	struct ki_node *list = NULL, *sum;

	(void)state;
	known();
	begin();
	sum = C(0);
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		const struct ki_var v = {
			.kind = KI_VAR_LOCAL, .type = KI_U64, .first = KI_LOCALS - 1 - i};

		list = ki_stmt_append(
			s, list,
			SET(v, B(KI_DIV, B(KI_SHL, REG(RBX), C(i)), B(KI_SHL, C(1), C(i)))));
		list = ki_stmt_append(s, list, UPD(ADD, v, B(KI_DIV, REG(RBX), C(i + 1))));
	}
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		const struct ki_var v = {
			.kind = KI_VAR_LOCAL, .type = KI_U64, .first = KI_LOCALS - 1 - i};

		sum = B(KI_ADD, sum, B(KI_DIV, V(v), B(KI_SHR, REG(RBX), C(6))));
	}
	leaves(ki_stmt_append(s, list, SET(out, sum)),
	       24 * 103 + 103 + 51 + 34 + 25 + 20 + 17 + 14 + 12 + 11 + 10 + 9 + 8 + 7 + 7 + 6 + 6 +
		       6 + 5 + 5 + 5 + 4 + 4 + 4 + 4);
}

/* ---- words of the thread ---- */

static void words_here_and_not(void **state)
{
	(void)state;
	known();
	begin();
	c.start.thread[5] = 40;
	leaves(LIST(UPD(ADD, word, C(2)), SET(out, V(word))), 42);
	assert_int_equal(c.got.thread[5], 42);
	leaves(ki_stmt_if(s, B(KI_GT, V(word), C(39)), LIST(SET(word, C(0)), SET(out, C(1))),
			  SET(out, C(2))),
	       1);
	assert_int_equal(c.got.thread[5], 0);
	leaves(LIST(SET(word, U(0x123456789abcdef0)), SET(out, V(word))), 0x123456789abcdef0);
	leaves(LIST(UPD(MAX, word, C(41)), UPD(MIN, word, C(50)), SET(out, V(word))), 41);
	/* a function of the kernel between two uses */
	leaves(LIST(UPD(ADD, word, C(1)), ki_stmt_eval(s, ki_expr_call(s, KI_U64, 64, 0, NULL, 0)),
		    SET(out, V(word))),
	       41);
	c.m.nthread = 0;
	leaves(LIST(UPD(ADD, word, C(2)), SET(out, B(KI_ADD, V(word), C(3)))), 3);
	assert_int_equal(c.got.thread[5], 40);
	/* the rest of what is there is done all the same */
	leaves(LIST(SET(word, C(1)), UPD(ADD, out, C(1)), SET(word, C(2))), 1);
	leaves(ki_stmt_if(s, B(KI_LOR, V(word), REG(RBX)), LIST(SET(word, C(1)), SET(out, C(9))),
			  NULL),
	       9);
	leaves(ki_stmt_if(s, B(KI_LAND, REG(RBX), V(word)), SET(out, C(9)), SET(out, C(8))), 8);
}

static void vectors(void **state)
{
	(void)state;
	known();
	begin();
	run(ki_stmt_append(s,
			   ki_stmt_append(s, NULL,
					  ki_stmt_update(s, KI_UPDATE_ADD, &vec,
							 B(KI_SUB, REG(RBX), C(101)), C(1000))),
			   ki_stmt_update(s, KI_UPDATE_ADD, &vec, REG(RBX), C(1000))));
	assert_int_equal(c.got.counters[10], 1020);
	for (unsigned int i = 0; i < SNIP_COUNTERS; i++)
		if (i != 10)
			assert_int_equal(c.got.counters[i], c.start.counters[i]);
}

static void branches(void **state)
{
	(void)state;
	known();
	for (int64_t want = 0; want < 2; want++) {
		begin();
		run(ki_stmt_if(s, B(KI_EQ, REG(RBX), C(103 + want)),
			       ki_stmt_update(s, KI_SET, &out, NULL, C(1)),
			       ki_stmt_update(s, KI_SET, &out, NULL, C(2))));
		assert_int_equal(c.got.counters[7], 1 + want);
	}
}

static void log2_histogram(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int bucket;
	} rows[] = {{0, 0},	      {1, 1},		{2, 2},
		    {3, 2},	      {4, 3},		{255, 8},
		    {256, 9},	      {1ull << 62, 63}, {(1ull << 63) - 1, 63},
		    {1ull << 63, 64}, {UINT64_MAX, 64}};
	uint64_t low, high;

	(void)state;
	known();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int konst = 0; konst < 2; konst++) {
			begin();
			c.m.regs[KI_RBX] = rows[i].value;
			run(ki_stmt_log2(s, &hist, konst ? U(rows[i].value) : REG(RBX)));
			assert_int_equal(c.got.counters[16 + rows[i].bucket], 1);
			assert_int_equal(ki_log2_bounds(rows[i].bucket, &low, &high), 0);
			assert_true(low <= rows[i].value && rows[i].value <= high);
		}
	assert_int_equal(ki_log2_bounds(65, &low, &high), -EINVAL);
}

static void linear_histogram(void **state)
{
	static const struct ki_linear l = {.low = -10, .high = 15, .step = 10};
	static const struct ki_var v = {
		.name = "lin", .kind = KI_VAR_CPU, .type = KI_U64, .first = 20, .count = 5};
	static const struct {
		int64_t value;
		unsigned int bucket;
	} rows[] = {{INT64_MIN, 0}, {-11, 0}, {-10, 1}, {-1, 1}, {0, 2},
		    {9, 2},	    {10, 3},  {14, 3},	{15, 4}, {INT64_MAX, 4}};
	int64_t low, high;

	(void)state;
	known();
	assert_int_equal(ki_linear_buckets(&l), 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin();
		c.m.regs[KI_RBX] = (uint64_t)rows[i].value;
		run(ki_stmt_linear(s, &v, &l, ki_expr_cast(s, KI_I64, REG(RBX))));
		assert_int_equal(c.got.counters[20 + rows[i].bucket], 1);
		assert_int_equal(ki_linear_bounds(&l, rows[i].bucket, &low, &high), 0);
		assert_true(low <= rows[i].value && rows[i].value <= high);
	}
	assert_int_equal(ki_linear_bounds(&l, 5, &low, &high), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(updates),	  cmocka_unit_test(locals),
		cmocka_unit_test(many_locals),	  cmocka_unit_test(words_here_and_not),
		cmocka_unit_test(vectors),	  cmocka_unit_test(branches),
		cmocka_unit_test(log2_histogram), cmocka_unit_test(linear_histogram),
	};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, end);
}
