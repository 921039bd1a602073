// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a budget sheds, of measurements with predicates that ask where a thread is.
 */
#include "../../../lib/budget/budget.c"

#include "budget/source.h"
#include "measure_fixture.h"

/* ---- what budget.c is linked with: a clock that stands still, and a machine of 10^9 a second ----
 */

static double own; /* seconds that this process has taken */

double ki_cost_own(void)
{
	return own;
}

void ki_cost_took_out(struct ki_costs *c, double seconds)
{
	c->later += seconds;
}

double ki_cost_look(struct ki_costs *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->parts[i].spent = ki_measure_spent(m, c->parts[i].number);
	return 0;
}

/* ---- a measurement, its cost, its budget ---- */

#define PARTS 16

static struct ki_costs cost;
static struct ki_cost_part parts[PARTS];
static struct ki_budget budget;
static unsigned int told[PARTS];

static int noted(void *arg, const struct ki_budget_change *change)
{
	(void)arg;
	assert_true(change->out && change->part < cost.n);
	told[change->part]++;
	return 0;
}

static void begin_budget(double share)
{
	start();
	cost = (struct ki_costs){.speed = 1e9, .cpus = 1, .parts = parts, .n = ki_measure_parts(m)};
	assert_true(cost.n <= PARTS);
	memset(told, 0, sizeof(told));
	for (uint32_t i = 0; i < cost.n; i++)
		parts[i] = (struct ki_cost_part){
			.source = &ki_measure_source, .of = m, .number = i, .out_at = -1};
	budget = (struct ki_budget){0};
	assert_int_equal(ki_budget_new(&budget, &cost, share, NULL), 0);
}

static bool is_out(uint32_t part)
{
	assert_int_equal(told[part], parts[part].out_at >= 0);
	return told[part];
}

static uint32_t part_of(uint32_t curve)
{
	return ki_measure_part(m, curve);
}

static void counted(uint32_t curve, uint64_t n)
{
	world.counters[m->counters.v[m->curves.v[curve].counter]] += n;
	if (m->curves.v[curve].passes != m->curves.v[curve].counter)
		world.counters[m->counters.v[m->curves.v[curve].passes]] += n;
}

static void calls(unsigned int fn, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		enter(fn, 0, 0, 0);
		leave(fn, 0, 0);
	}
}

/* Nobody comes to F, so what asks there costs nothing; what it asks for does. */
static void what_asks_goes_with_what_is_asked(void **state)
{
	uint32_t asking, pair, plain;

	(void)state;
	load();
	ki_measure_meter(m);
	asking = add("calls", F, "inside(h)");
	pair = add("walltime", F, "pid == 5 || inside(h)");
	plain = add("calls", K, NULL);
	begin_budget(0.01);
	assert_true(ki_measure_part_needs(m, part_of(asking), cost.n - 1));
	assert_true(ki_measure_part_needs(m, part_of(pair), cost.n - 1));
	assert_false(ki_measure_part_needs(m, part_of(plain), cost.n - 1));
	assert_false(ki_measure_part_needs(m, part_of(asking), part_of(pair)));
	calls(H, 100000);
	assert_int_equal(ki_budget_look(&budget, 0.001, noted, NULL, NULL), 0);
	assert_true(is_out(cost.n - 1) && is_out(part_of(asking)) && is_out(part_of(pair)));
	assert_false(is_out(part_of(plain)));
	assert_int_equal(budget.shed, 3);
	assert_int_equal(drv.installed, 1);
	counted(plain, 1);
	assert_true(value(plain) == 1);
	ki_budget_free(&budget);
}

/* What is asked for stays as long as anybody asks. */
static void what_nobody_asks_goes(void **state)
{
	uint32_t much, little, inside;

	(void)state;
	load();
	ki_measure_meter(m);
	much = add("calls", F, "inside(h)");
	little = add("calls", K, "inside(h)");
	begin_budget(0.01);
	inside = cost.n - 1;
	calls(H, 10);
	counted(much, 1000000);
	counted(little, 10);
	assert_int_equal(ki_budget_look(&budget, 0.001, noted, NULL, NULL), 0);
	assert_true(is_out(part_of(much)));
	assert_false(is_out(part_of(little)) || is_out(inside));
	counted(little, 10000000);
	assert_int_equal(ki_budget_look(&budget, 1, noted, NULL, NULL), 0);
	assert_true(is_out(part_of(little)) && is_out(inside));
	assert_int_equal(drv.installed, 0);
	ki_budget_free(&budget);
}

/* This process takes more than the budget: what costs next to nothing is not shed for that. */
static void what_would_save_nothing_stays(void **state)
{
	uint32_t much, little;

	(void)state;
	load();
	ki_measure_meter(m);
	much = add("calls", F, NULL);
	little = add("calls", K, NULL);
	begin_budget(0.01);
	counted(much, 1000000);
	counted(little, 10);
	own = 0.01;
	assert_int_equal(ki_budget_look(&budget, 0.1, noted, NULL, NULL), 0);
	assert_true(is_out(part_of(much)));
	assert_false(is_out(part_of(little)));
	counted(little, 1000);
	own = 0.02;
	assert_int_equal(ki_budget_look(&budget, 0.2, noted, NULL, NULL), 0);
	assert_false(is_out(part_of(little)));
	ki_budget_free(&budget);
	own = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_asks_goes_with_what_is_asked),
		cmocka_unit_test(what_nobody_asks_goes),
		cmocka_unit_test(what_would_save_nothing_stays),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
