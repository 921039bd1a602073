// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is over the budget is shed: wholly, and for good. Nothing is put in and taken out by turns,
 * though that would give estimates of what is shed: to put code back into a window of several
 * instructions takes the driver 0.2 s, and all that time a breakpoint stands there, which costs a
 * hundred times what the code does. To take it out is quick.
 *
 * Instructions that may be spent come in by the time, and are kept for a second at most; what is
 * spent goes away. When there are none left, parts are shed, those that cost the most in a second
 * first, until what is left is some way below the budget: so what was spent too much before it was
 * seen is paid back.
 */
#include "budget.h"

#include <stdlib.h>

#include "cli.h"

#define KEPT  1.0  /* seconds for which nothing spent is kept */
#define AIM   0.75 /* of the budget, of what is left */
#define FIRST 0.01 /* seconds between two looks, in the first second */
#define THEN  0.05

bool budget_parse(const char *text, double *share)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || end[0] != '%' || end[1] || !(v > 0 && v <= 100))
		return false;
	*share = v / 100;
	return true;
}

int budget_begin(struct budget *b, struct cost *cost, double share)
{
	b->share = share;
	b->cost = cost;
	b->rates = calloc(cost->n + 1, sizeof(*b->rates));
	b->before = calloc(cost->n + 1, sizeof(*b->before));
	if (!b->rates || !b->before)
		return cli_no_memory();
	b->last = cost->start;
	b->own = cost->own_start;
	for (uint32_t i = 0; i < cost->n; i++)
		b->before[i] = cost->parts[i].spent;
	return CLI_OK;
}

void budget_end(struct budget *b)
{
	free(b->rates);
	free(b->before);
	b->rates = b->before = NULL;
}

double budget_next(const struct budget *b)
{
	if (!b->share)
		return -1;
	return b->last + (b->last - b->cost->start < 1 ? FIRST : THEN);
}

/* What was spent since the last look, and how fast. */
static double note_rates(struct budget *b, double seconds)
{
	double own = cost_own(), spent = (own - b->own) * b->cost->speed;

	b->own_rate += (spent / seconds - b->own_rate) * (seconds < 1 ? seconds : 1);
	b->own = own;
	cost_look(b->cost);
	for (uint32_t i = 0; i < b->cost->n; i++) {
		double more = b->cost->parts[i].spent - b->before[i];

		b->before[i] = b->cost->parts[i].spent;
		b->rates[i] = more / seconds;
		spent += more;
	}
	return spent;
}

/* What predicates need goes when there is nothing else. */
static uint32_t most_expensive(const struct budget *b)
{
	const struct ki_measure *m = b->cost->points->measure;
	uint32_t best = KI_NONE, needed = ki_measure_parts_needed(m);

	for (uint32_t i = 0; i < b->cost->n; i++) {
		if (b->cost->parts[i].out_at >= 0 || !(b->rates[i] > 0))
			continue;
		if (i >= b->cost->n - needed && best != KI_NONE)
			break;
		if (best == KI_NONE || b->rates[i] > b->rates[best])
			best = i;
	}
	return best;
}

static int shed(struct budget *b, double now, double allowed, budget_told *told, void *arg)
{
	struct ki_measure *m = b->cost->points->measure;
	double left = b->own_rate;
	struct ki_err err = {0};
	uint32_t worst;
	double own = cost_own();
	bool any = false;
	int ret;

	for (uint32_t i = 0; i < b->cost->n; i++)
		left += b->rates[i];
	while (left > AIM * allowed && (worst = most_expensive(b)) != KI_NONE) {
		ki_measure_rest(m, worst, true, true);
		b->cost->parts[worst].out_at = now;
		left -= b->rates[worst];
		told(arg, worst, b->rates[worst], now);
		any = true;
	}
	if (!any)
		return CLI_OK;
	ret = ki_measure_settle(m, &err) ? cli_fail(&err) : CLI_OK;
	own = cost_own() - own; /* it is spent, and will not come again */
	b->own += own;
	b->level -= own * (1 + COST_LATER) * b->cost->speed;
	cost_took_out(b->cost, own);
	return ret;
}

int budget_look(struct budget *b, double now, budget_told *told, void *arg)
{
	double seconds = now - b->last, allowed;

	if (!b->share || !(seconds > 0))
		return CLI_OK;
	allowed = b->share * b->cost->speed * b->cost->cpus;
	b->last = now;
	b->level += allowed * seconds - note_rates(b, seconds);
	if (b->level > allowed * KEPT)
		b->level = allowed * KEPT;
	return b->level < 0 ? shed(b, now, allowed, told, arg) : CLI_OK;
}
