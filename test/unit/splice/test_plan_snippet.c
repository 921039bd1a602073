// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snippets in plans, against a driver that is played by fake_driver.h: what is sent, what is known
 * of places, and that the bare counter stays a short chunk.
 */
#include "plan_fixture.h"

static struct ki_snippet *snippet;

#define BASE UINT64_C(0xffffffff81000000)

static int drop_snippet(void **state)
{
	ki_snippet_free(snippet);
	snippet = NULL;
	return unload(state);
}

/* nopl (ftrace's); endbr64's place is before it; push rbp; push r15; mov; mov; ret */
static const uint8_t bytes[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0x41, 0x57, 0xb8, 1,    2,
				3,    4,    0xb9, 1,	2,    3,    4,	  0x41, 0x5f, 0x5d, 0xc3};

static void load_ready(void)
{
	drop_snippet(NULL);
	load(BASE, bytes, sizeof(bytes), KI_TARGET_LIVE);
}

static const struct ki_var counter = {.kind = KI_VAR_CPU, .type = KI_U64, .first = 5};

/* counter += what */
static void make(struct ki_node *(*what)(void))
{
	ki_snippet_free(snippet);
	assert_int_equal(ki_snippet_new(&snippet), 0);
	ki_snippet_body(snippet, ki_stmt_update(snippet, KI_UPDATE_ADD, &counter, NULL, what()));
}

static struct ki_node *one(void)
{
	return ki_expr_const(snippet, KI_I64, 1);
}

static struct ki_node *pid(void)
{
	return ki_expr_fact(snippet, KI_FACT_PID);
}

static struct ki_node *parameter(void)
{
	return ki_expr_param(snippet, 0);
}

static int add(uint64_t off, bool flags_live, const struct ki_site_regs *site, struct ki_err *err)
{
	const struct ki_place place = {.addr = BASE + off, .flags_live = flags_live};
	uint32_t id;

	return ki_plan_add_snippet(plan, &(struct ki_insertion){fn, &spans, &place, 7}, snippet,
				   site, &id, err);
}

static void long_ones_are_sent_with_their_code(void **state)
{
	const struct ki_long_code *last;

	(void)state;
	load_ready();
	for (unsigned int i = 0; i < 40; i++) { /* the list of codes grows meanwhile */
		make(pid);
		assert_int_equal(add(i % 2 ? 8 : 13, i & 4, NULL, NULL), 0);
	}
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.installed, 40);
	assert_int_equal(drv.longs, 40);
	last = ki_plan_code(plan, 39);
	assert_non_null(last);
	assert_int_equal(last->nfix, 3);
	assert_null(ki_plan_code(plan, 40));
	/* out and in again */
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.longs, 80);
}

static int add_like(uint64_t off, uint32_t like, uint32_t *id, struct ki_err *err)
{
	const struct ki_place place = {.addr = BASE + off};

	return ki_plan_add_like(plan, &(struct ki_insertion){fn, &spans, &place, 9}, like, id, err);
}

static void the_same_code_stands_at_several_places(void **state)
{
	uint32_t id = 0;

	(void)state;
	load_ready();
	make(pid);
	assert_int_equal(add(8, false, NULL, NULL), 0);
	make(one);
	assert_int_equal(add(8, false, NULL, NULL), 0);
	assert_int_equal(add_like(13, 0, &id, NULL), 0);
	assert_int_equal(id, 2);
	assert_ptr_equal(ki_plan_code(plan, 2), ki_plan_code(plan, 0));
	assert_int_equal(add_like(13, 1, &id, NULL), 0);
	assert_int_equal(id, 3);
	assert_null(ki_plan_code(plan, 3));
	/* neither may change it alone */
	assert_int_equal(ki_plan_set_snippet(plan, 0, snippet, NULL, NULL), -EINVAL);
	assert_int_equal(ki_plan_set_snippet(plan, 2, snippet, NULL, NULL), -EINVAL);
	assert_int_equal(add_like(13, 4, &id, NULL), -EINVAL);
	assert_true(add_like(9, 0, &id, NULL) < 0);
	assert_int_equal(ki_plan_chunks(plan), 4);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.installed, 4);
	assert_int_equal(drv.longs, 2);
}

static void the_bare_counter_stays_short(void **state)
{
	static const struct ki_site_regs rax = {.dead = KI_REGSET_REG(KI_RAX)};

	(void)state;
	load_ready();
	make(one);
	assert_int_equal(add(8, false, NULL, NULL), 0);
	assert_int_equal(add(8, true, NULL, NULL), 0);
	assert_null(ki_plan_code(plan, 0));
	assert_null(ki_plan_code(plan, 1));
	/* without the push it is another one */
	assert_int_equal(add(8, true, &rax, NULL), 0);
	assert_non_null(ki_plan_code(plan, 2));
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.longs, 1);
}

static void what_is_refused_leaves_nothing(void **state)
{
	struct ki_err err = {0};

	(void)state;
	load_ready();
	make(parameter);
	assert_int_equal(add(13, false, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "entry"));
	ki_err_clear(&err);
	make(pid);
	assert_true(add(9, false, NULL, &err) < 0);
	assert_int_equal(err.reason, KI_R_NOT_BOUNDARY);
	ki_err_clear(&err);
	ki_snippet_free(snippet);
	assert_int_equal(ki_snippet_new(&snippet), 0);
	ki_snippet_body(snippet, ki_stmt_eval(snippet, one()));
	assert_int_equal(add(13, false, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "does nothing"));
	assert_int_equal(ki_plan_chunks(plan), 0);
	assert_int_equal(ki_plan_windows(plan), 0);
}

static void what_is_known_of_a_place(void **state)
{
	static const struct {
		uint64_t off;
		uint8_t where;
		bool entry, exit;
		uint32_t pushed;
	} rows[] = {{0, KI_BEFORE, true, false, 0},  {5, KI_BEFORE, true, false, 0},
		    {6, KI_BEFORE, true, false, 1},  {8, KI_BEFORE, true, false, 2},
		    {8, KI_AFTER, false, false, 0},  {13, KI_BEFORE, false, false, 2},
		    {21, KI_BEFORE, false, true, 0}, {20, KI_BEFORE, false, false, 0},
		    {21, KI_TAKEN, false, false, 0}, {20, KI_RETURNED, false, true, 0}};
	const ki_regset live = KI_REGSET_ALL ^ KI_REGSET_REG(KI_R11);
	struct ki_site_regs site;

	(void)state;
	load_ready();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ki_place place = {.addr = BASE + rows[i].off, .where = rows[i].where};

		ki_place_site(fn, &place, &live, &site);
		assert_int_equal(site.at_entry, rows[i].entry);
		assert_int_equal(site.at_exit, rows[i].exit);
		assert_true(site.addr == place.addr &&
			    site.place == KI_PLACE_FACTS(rows[i].off, rows[i].where, 0, 0));
		if (rows[i].entry)
			assert_int_equal(site.pushed, rows[i].pushed);
		assert_int_equal(site.dead, KI_REGSET_REG(KI_R11) | KI_REGSET_FLAGS);
		place.flags_live = true;
		ki_place_site(fn, &place, NULL, &site);
		assert_int_equal(site.dead, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_ones_are_sent_with_their_code),
		cmocka_unit_test(the_same_code_stands_at_several_places),
		cmocka_unit_test(the_bare_counter_stays_short),
		cmocka_unit_test(what_is_refused_leaves_nothing),
		cmocka_unit_test(what_is_known_of_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, drop_snippet);
}
