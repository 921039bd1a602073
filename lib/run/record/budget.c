// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is sampled is so from the moment on that its event in the file says, but for hits that were
 * under way just then.
 */
#include "out/json.h"
#include "run/record/inside.h"

#include <x86intrin.h>

int recorder_budget_open(struct ki_recorder_budget *b, struct ki_recorder *r)
{
	struct ki_recorder_group *groups = r->groups;
	int ret = 0;

	b->r = r;
	for (size_t i = 0; b->share > 0 && i < r->ngroups && !ret; i++)
		ret = i ? ki_cost_add(&b->cost, &groups[i].points, &r->err)
			: ki_cost_new(&b->cost, &groups[i].points, &r->err);
	return ret;
}

void recorder_budget_close(struct ki_recorder_budget *b)
{
	ki_budget_free(&b->budget);
	ki_cost_free(&b->cost);
	ki_vec_free(&b->events);
}

int recorder_budget_begin(struct ki_recorder_budget *b, struct ki_record_file *file, double now)
{
	if (!(b->share > 0))
		return 0;
	b->file = file;
	ki_cost_begin(&b->cost, now);
	return ki_budget_new(&b->budget, &b->cost, b->share, &b->r->err);
}

double recorder_budget_next(const struct ki_recorder_budget *b)
{
	return ki_budget_next(&b->budget);
}

static void write_event(struct ki_recorder_budget *b, uint32_t id, uint32_t kind, uint64_t value)
{
	const struct ki_record_event e = {.id = id, .kind = kind, .tsc = __rdtsc(), .value = value};

	if (ki_vec_push(&b->events, e))
		b->err = -ENOMEM;
	if (!b->err)
		b->err = ki_record_event(b->file, &e);
}

/* An instrument, and what a module's function writes at the same point. */
static void note_change(struct ki_recorder_budget *b, struct ki_recorder_group *g, size_t i,
			const struct ki_budget_change *c)
{
	const struct ki_named_point *pt = &g->points.v.v[i];
	const bool writes = g->asks[pt->spec - g->asked.specs]->values.written.name && !g->totals;
	const uint64_t factor = c->out ? 0 : UINT64_C(1) << c->k;
	const uint32_t id = recorder_group_id(g, i);

	for (uint32_t n = 0; n <= (uint32_t)writes; n++)
		write_event(b, id + n, KI_EVENT_SAMPLING, factor);
	if (c->out)
		write_event(b, id, KI_EVENT_OFF, 0);
	if (b->r->o->quiet)
		return;
	if (c->out)
		ki_listener_warn(
			b->r->listener,
			"budget: %s: taken out after %.3f s, it cost %.0f instructions a second",
			pt->name, c->time - b->cost.start, c->rate);
	else
		ki_listener_warn(b->r->listener,
				 "budget: %s: one of %llu hits is recorded from %.3f s on",
				 pt->name, (unsigned long long)factor, c->time - b->cost.start);
}

static int tell(void *arg, const struct ki_budget_change *c)
{
	struct ki_recorder_budget *b = arg;
	const struct ki_cost_part *part = &b->cost.parts[c->part];

	for (struct ki_recorder_group *g = b->r->groups; g < b->r->groups + b->r->ngroups; g++)
		for (size_t i = 0; g->points.measure == part->of && i < g->points.v.n; i++) {
			const struct ki_cell *v = ki_points_first(&g->points, &g->points.v.v[i]);

			if (!v->reason && ki_measure_part(part->of, v->curve) == part->number)
				note_change(b, g, i, c);
		}
	return b->err;
}

int recorder_budget_look(struct ki_recorder_budget *b, double now)
{
	return ki_budget_look(&b->budget, now, tell, b, &b->r->err);
}

int recorder_budget_write(const struct ki_recorder_budget *b, struct ki_record_file *file)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < b->events.n; i++)
		ret = ki_record_event(file, &b->events.v[i]);
	return ret;
}

void recorder_budget_note(struct ki_recorder_budget *b, double now)
{
	if (b->budget.share > 0)
		ki_cost_mark(&b->cost, now);
}

static double share(const struct ki_recorder_budget *b)
{
	return ki_cost_share(&b->cost, ki_cost_all(&b->cost));
}

void recorder_budget_json(const struct ki_recorder_budget *b, struct ki_json *j)
{
	if (!(b->budget.share > 0))
		return;
	ki_json_double(j, "budget", b->share);
	ki_json_double(j, "overhead", share(b));
	ki_json_double(j, "instructions", ki_cost_all(&b->cost));
	ki_json_u64(j, "sampled", b->budget.sampled);
	ki_json_u64(j, "rarest", UINT64_C(1) << b->budget.most);
	ki_json_u64(j, "shed", b->budget.shed);
}

void recorder_budget_say(const struct ki_recorder_budget *b)
{
	if (!(b->budget.share > 0))
		return;
	ki_listener_warn(
		b->r->listener,
		"overhead %.3f%% of the machine, budget %g%%: %u instruments sampled, one hit of "
		"%llu at the rarest; %u taken out",
		100 * share(b), 100 * b->share, b->budget.sampled, 1ull << b->budget.most,
		b->budget.shed);
}
