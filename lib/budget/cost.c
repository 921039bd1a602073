// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Instructions are what can be told exactly: code that has been generated is known, and so is how
 * often it runs. What share of the machine they are depends on how fast it executes such ones, so
 * that is tried: a loop that adds to a word of memory and jumps, as inserted code does. It is run a
 * few times, and the fastest counts, which nobody has interrupted. Real kernels execute several of
 * these at once, and wait for memory; a share so found is an estimate to some ten per cent, and
 * exact where a clock goes on with each instruction (QEMU's -icount).
 *
 * What the driver does for this process (install, remove, look who is inside) is in its CPU time.
 * What other CPUs do meanwhile, because the driver makes them synchronize, is not. What it does
 * later, when nobody can be inside any more and space is given back, is in no time of this process:
 * it is taken to be KI_COST_LATER times what the removal took, which was measured once.
 */
#include "kerninst/cost.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "budget/source.h"
#include "kerninst/speed.h"

double ki_cost_own(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void know_machine(struct ki_costs *c)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	c->speed = ki_cpu_speed();
	c->cpus = cpus > 0 ? (double)cpus : 1;
}

static int add(struct ki_costs *c, const struct ki_cost_source *source, void *of,
	       struct ki_err *err)
{
	const uint32_t more = source->parts(of);
	struct ki_cost_part *parts = realloc(c->parts, (c->n + more + 1) * sizeof(*parts));

	if (!parts)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	c->parts = parts;
	for (uint32_t i = 0; i <= more; i++)
		parts[c->n + i] = (struct ki_cost_part){
			.source = source, .of = of, .number = i, .out_at = -1};
	c->n += more; /* and one behind, which says what a next one would be */
	return 0;
}

int ki_cost_new_of(struct ki_costs *c, const struct ki_cost_source *source, void *of,
		   struct ki_err *err)
{
	know_machine(c);
	return add(c, source, of, err);
}

int ki_cost_grow(struct ki_costs *c, struct ki_err *err)
{
	const struct ki_cost_part *last = &c->parts[c->n];
	uint32_t n = last->source->parts(last->of), first = last->number;
	struct ki_cost_part *parts;

	if (n <= first)
		return 0;
	parts = realloc(c->parts, (c->n + n - first + 1) * sizeof(*parts));
	if (!parts)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	c->parts = parts;
	for (; first < n; first++) {
		parts[c->n + 1] = parts[c->n];
		parts[c->n + 1].number++;
		c->n++;
	}
	return 0;
}

int ki_cost_new(struct ki_costs *c, const struct ki_points *p, struct ki_err *err)
{
	c->points = p;
	know_machine(c);
	return ki_cost_add(c, p, err);
}

int ki_cost_add(struct ki_costs *c, const struct ki_points *p, struct ki_err *err)
{
	return add(c, &ki_measure_source, p->measure, err);
}

void ki_cost_free(struct ki_costs *c)
{
	free(c->parts);
	c->parts = NULL;
}

void ki_cost_took_out(struct ki_costs *c, double seconds)
{
	c->later += KI_COST_LATER * seconds;
}

double ki_cost_look(struct ki_costs *c)
{
	double all = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		struct ki_cost_part *p = &c->parts[i];

		p->spent = p->source->spent(p->of, p->number);
		p->acted = p->source->acted ? p->source->acted(p->of, p->number) : 0;
		all += p->spent;
	}
	return all;
}

void ki_cost_begin(struct ki_costs *c, double now)
{
	c->start = c->mark = now;
	c->own_start = c->own_mark = ki_cost_own();
	ki_cost_look(c);
	for (uint32_t i = 0; i < c->n; i++)
		c->parts[i].marked = c->parts[i].spent;
}

void ki_cost_mark(struct ki_costs *c, double now)
{
	double own = ki_cost_own();

	ki_cost_look(c);
	for (uint32_t i = 0; i < c->n; i++) {
		struct ki_cost_part *p = &c->parts[i];

		p->between = p->spent - p->marked;
		p->marked = p->spent;
	}
	c->seconds = now - c->mark;
	c->own = own - c->own_mark + c->later - c->later_mark;
	c->later_mark = c->later;
	c->mark = now;
	c->own_mark = own;
}

double ki_cost_cell(const struct ki_costs *c, const struct ki_cell *cell)
{
	if (cell->reason)
		return 0;
	return c->parts[ki_measure_part(c->points->measure, cell->curve)].between;
}

/* Metrics that come of the same code are charged once. */
double ki_cost_point(const struct ki_costs *c, const struct ki_named_point *pt, unsigned int part)
{
	const struct ki_cell *v = &c->points->cells.v[pt->cell];
	double all = 0;

	for (unsigned int i = 0; i < pt->ncells; i++) {
		bool charged = v[i].reason != KI_R_OK || v[i].part != part;

		for (unsigned int k = 0; k < i && !charged; k++)
			charged = !v[k].reason &&
				  ki_measure_part(c->points->measure, v[k].curve) ==
					  ki_measure_part(c->points->measure, v[i].curve);
		all += charged ? 0 : ki_cost_cell(c, &v[i]);
	}
	return all;
}

double ki_cost_seen(const struct ki_costs *c, const struct ki_cell *cell)
{
	const double from = c->mark - c->seconds;
	double out;

	if (cell->reason)
		return 1;
	out = c->parts[ki_measure_part(c->points->measure, cell->curve)].out_at;
	if (out < 0 || out >= c->mark)
		return 1;
	return out > from ? (out - from) / c->seconds : 0;
}

double ki_cost_share(const struct ki_costs *c, double instructions)
{
	return c->seconds > 0 ? instructions / (c->seconds * c->speed * c->cpus) : 0;
}

double ki_cost_inserted(const struct ki_costs *c)
{
	double all = 0;

	for (uint32_t i = 0; i < c->n; i++)
		all += c->parts[i].between;
	return all;
}

double ki_cost_all(const struct ki_costs *c)
{
	return ki_cost_inserted(c) + c->own * c->speed;
}
