// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A pass of a place costs the shortest way through its code, and each clause that comes to its end
 * its part of what the longest usual way takes more. Not usual are two things: a clause that
 * faults, of which nothing is reckoned, and a load that gives 0, which asks the driver whether
 * there is memory at all. These are counted, and have a price of their own.
 */
#include "dlang/run/cost.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "dlang/probe/user.h"
#include "kerninst/budget.h"
#include "metric/price.h"
#include "splice/plan.h"

/* What a hit in a process takes beside the code: doc/design.md, kdtrace-hits-cost. */
static const uint16_t way_costs[] = {[KI_D_COST_BREAKPOINT] = 430, [KI_D_COST_UPROBE] = 2040};

/* To ask whether there is memory: the driver's helper; where scratch memory is used, its table's.
 */
#define ASK_COST       142
#define ASK_TABLE_COST 460

/* A chunk. */
struct place {
	struct ki_d_meter meter;
	struct ki_d_cost_at at; /* plan NULL: it has gone */
	uint32_t next;		/* of the same probe; KI_NONE */
	uint16_t way_cost;
	struct price inner, price;     /* its code; with its part of the jumps, as they are now */
	uint64_t passes, ended, asked; /* when that was noted */
	double spent;		       /* until then */
};

/* The places of a probe. */
struct part {
	uint32_t first; /* KI_NONE: it has none */
	double out_at;	/* after the start; negative: it is in */
};

struct ki_d_cost {
	ki_vec(struct place) places; /* of each chunk that is measured */
	uint32_t known;		     /* so many are in the parts */
	ki_vec(struct part) parts;   /* of each probe */
	struct ki_costs costs;
	struct ki_budget budget;
	bool begun, ended;
	bool sheds_user;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int ki_d_cost_new(struct ki_d_cost **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void ki_d_cost_free(struct ki_d_cost *c)
{
	if (!c)
		return;
	ki_budget_free(&c->budget);
	ki_cost_free(&c->costs);
	ki_vec_free(&c->places);
	ki_vec_free(&c->parts);
	free(c);
}

int ki_d_cost_meter(struct ki_dlang *d, struct ki_d_meter *m, struct ki_err *err)
{
	if (ki_d_counters(d->run, 4, &m->passes))
		return ki_err_reason(err, KI_R_COUNTERS_FULL, 0, "costs");
	m->ended = m->passes + 1;
	m->faulted = m->passes + 2;
	m->asked = m->passes + 3;
	return 0;
}

int ki_d_cost_chunk(struct ki_dlang *d, const struct ki_d_meter *m, const struct ki_d_cost_at *at)
{
	const struct place p = {.meter = *m, .at = *at, .way_cost = way_costs[at->way]};

	return ki_vec_push(&d->run->cost->places, p) ? -ENOMEM : 0;
}

/* ---- what it is made of ---- */

static double read_counter(const struct ki_dlang *d, uint32_t counter, uint64_t before)
{
	return (double)(ki_counter_read(d->run->counters, counter) - before);
}

static double place_spent(const struct ki_dlang *d, const struct place *p)
{
	const double each = p->meter.clauses ? p->meter.clauses : 1;

	return p->spent +
	       read_counter(d, p->meter.passes, p->passes) * (p->price.least + p->way_cost) +
	       read_counter(d, p->meter.ended, p->ended) * (p->price.most - p->price.least) / each +
	       read_counter(d, p->meter.asked, p->asked) *
		       (d->scratch_used ? ASK_TABLE_COST : ASK_COST);
}

static uint32_t parts(const void *of)
{
	const struct ki_dlang *d = of;

	return (uint32_t)d->run->cost->parts.n;
}

static double spent(const void *of, uint32_t part)
{
	const struct ki_dlang *d = of;
	const struct ki_d_cost *c = d->run->cost;
	double sum = 0;

	for (uint32_t i = c->parts.v[part].first; i != KI_NONE; i = c->places.v[i].next)
		sum += place_spent(d, &c->places.v[i]);
	return sum;
}

/* Windows are shared otherwise than before: what was spent is kept, and prices are new. */
static void note_prices(struct ki_dlang *d)
{
	const struct ki_plan *counted = NULL;
	struct ki_d_cost *c = d->run->cost;

	for (uint32_t i = 0; i < c->known; i++) {
		struct place *p = &c->places.v[i];

		if (!p->at.plan)
			continue;
		if (p->at.plan != counted)
			ki_plan_count_active(p->at.plan);
		counted = p->at.plan;
		p->spent = place_spent(d, p);
		p->passes = ki_counter_read(d->run->counters, p->meter.passes);
		p->ended = ki_counter_read(d->run->counters, p->meter.ended);
		p->asked = ki_counter_read(d->run->counters, p->meter.asked);
		p->price = ki_price_of_chunk(p->at.plan, p->at.chunk, p->inner);
	}
}

static void shed(void *of, uint32_t part)
{
	struct ki_dlang *d = of;
	struct ki_d_cost *c = d->run->cost;
	struct ki_d_probe *p = &d->probes.v[part];

	for (uint32_t i = c->parts.v[part].first; i != KI_NONE; i = c->places.v[i].next)
		if (c->places.v[i].at.plan)
			ki_plan_pause(c->places.v[i].at.plan, c->places.v[i].at.chunk, true);
	if (p->hook && p->hook->user)
		p->hook->user->shed = c->sheds_user = true;
	ki_d_hook_end(p);
}

static int update(void *of, struct ki_err *err)
{
	struct ki_dlang *d = of;
	int ret = d->run->cost->sheds_user ? ki_d_users_shed(d, err) : 0;

	d->run->cost->sheds_user = false;
	if (!ret && d->run->applied)
		ret = ki_plan_update(d->run->probes, d->run->t, err);
	for (size_t i = 0; !ret && i < d->processes.n; i++)
		if (d->processes.v[i].plan && ki_plan_chunks(d->processes.v[i].plan))
			ret = ki_plan_update(d->processes.v[i].plan, d->run->t, err);
	if (!ret)
		note_prices(d);
	return ret;
}

static const struct ki_cost_source program = {
	.parts = parts, .spent = spent, .shed = shed, .update = update};

/* ---- while it runs ---- */

/* Of probes and places that have come. */
static int find_parts(struct ki_dlang *d)
{
	struct ki_d_cost *c = d->run->cost;

	while (c->parts.n < d->probes.n)
		if (ki_vec_push(&c->parts, (struct part){KI_NONE, -1}))
			return -ENOMEM;
	for (; c->known < c->places.n; c->known++) {
		struct place *p = &c->places.v[c->known];
		struct part *of = &c->parts.v[p->at.probe];

		p->next = of->first;
		of->first = c->known;
		p->inner = ki_price_of_code(p->at.plan, p->at.chunk,
					    p->meter.may_fault ? p->meter.faulted : KI_NONE);
	}
	return 0;
}

int ki_d_cost_begin(struct ki_dlang *d, struct ki_err *err)
{
	struct ki_d_cost *c = d->run->cost;
	int ret = find_parts(d);

	if (ret)
		return ki_d_no_memory(err);
	note_prices(d);
	ret = ki_cost_new_of(&c->costs, &program, d, err);
	if (ret)
		return ret;
	ki_cost_begin(&c->costs, now());
	ret = ki_budget_new(&c->budget, &c->costs, d->o.budget, err);
	c->begun = !ret;
	return ret;
}

int ki_d_cost_came(struct ki_dlang *d, struct ki_err *err)
{
	struct ki_d_cost *c = d->run->cost;
	int ret = find_parts(d);

	if (ret)
		return ki_d_no_memory(err);
	note_prices(d);
	ret = ki_cost_grow(&c->costs, err);
	return ret ? ret : ki_budget_grow(&c->budget, err);
}

void ki_d_cost_gone(struct ki_dlang *d, const struct ki_plan *plan)
{
	struct ki_d_cost *c = d->run->cost;

	for (uint32_t i = 0; i < c->places.n; i++)
		if (c->places.v[i].at.plan == plan)
			c->places.v[i].at.plan = NULL;
}

bool ki_d_cost_is_out(const struct ki_dlang *d, uint32_t probe)
{
	const struct ki_d_cost *c = d->run->cost;

	return probe < c->parts.n && c->parts.v[probe].out_at >= 0;
}

void ki_d_cost_end(struct ki_d_cost *c)
{
	if (c->begun && !c->ended)
		ki_cost_mark(&c->costs, now());
	c->ended = true;
}

int ki_d_cost_until(const struct ki_d_cost *c, int most)
{
	const double next = c->begun ? ki_budget_next(&c->budget) : -1;
	const double ms = next < 0 ? most : (next - now()) * 1000 + 1;

	return ms < 0 ? 0 : ms < most ? (int)ms : most;
}

struct teller {
	struct ki_dlang *d;
	const struct ki_dlang_output *out;
};

static int tell(void *arg, const struct ki_budget_change *change)
{
	const struct teller *t = arg;
	const struct ki_d_probe *p = &t->d->probes.v[change->part];
	struct ki_d_cost *c = t->d->run->cost;
	char text[512];

	c->parts.v[change->part].out_at = change->time - c->costs.start;
	snprintf(text, sizeof(text),
		 "budget: %s:%s:%s:%s: taken out after %.3f s, it cost %.0f instructions a second",
		 ki_d_provider_name(p), p->module, p->function, p->name,
		 c->parts.v[change->part].out_at, change->rate);
	if (t->out->warn)
		t->out->warn(t->out->arg, text);
	return 0;
}

int ki_d_cost_look(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_cost *c = d->run->cost;
	const double next = c->begun ? ki_budget_next(&c->budget) : -1, at = now();

	if (next < 0 || at < next)
		return 0;
	return ki_budget_look(&c->budget, at, tell, &(struct teller){d, out}, err);
}

/* ---- what it was ---- */

bool ki_dlang_cost(const struct ki_dlang *d, struct ki_dlang_cost *out)
{
	const struct ki_d_cost *c = d->run ? d->run->cost : NULL;

	if (!c || !c->begun || !c->ended)
		return false;
	*out = (struct ki_dlang_cost){.seconds = c->costs.seconds,
				      .instructions = ki_cost_inserted(&c->costs),
				      .own = c->costs.own,
				      .machine = c->costs.speed * c->costs.cpus,
				      .share = ki_cost_share(&c->costs, ki_cost_all(&c->costs))};
	return true;
}

void ki_dlang_probe_cost(const struct ki_dlang *d, size_t i, struct ki_dlang_probe_cost *out)
{
	const struct ki_d_cost *c = d->run ? d->run->cost : NULL;

	*out = (struct ki_dlang_probe_cost){.out_at = -1};
	if (!c || !c->begun || i >= c->parts.n)
		return;
	for (uint32_t k = c->parts.v[i].first; k != KI_NONE; k = c->places.v[k].next)
		out->hits += ki_counter_read(d->run->counters, c->places.v[k].meter.passes);
	out->instructions = c->costs.parts[i].between;
	out->out_at = c->parts.v[i].out_at;
}
