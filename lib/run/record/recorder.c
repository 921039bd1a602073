// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The course of a recording. What is installed first is there before anybody is let go.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "out/json.h"
#include "run/record/inside.h"
#include "util/clock.h"

/* ---- instruments ---- */

static int put_in(struct ki_recorder *r, struct ki_recorder_group *g)
{
	int ret = recorder_file_event(r, g, KI_EVENT_INSTALLING);

	if (!ret)
		ret = ki_points_put_in(&g->points, r->listener, &r->err);
	if (ret)
		return ret;
	g->on = true;
	if (!r->o->quiet)
		ki_points_warn_refused(&g->points, r->listener);
	if (ki_points_all_refused(&g->points))
		return ki_points_nothing(&g->points, &r->err);
	return recorder_file_event(r, g, KI_EVENT_ON);
}

static int take_out(struct ki_recorder *r, struct ki_recorder_group *g)
{
	int ret, event = recorder_file_event(r, g, KI_EVENT_REMOVING);

	ret = ki_points_take_out(&g->points, r->listener, &r->err);
	g->on = false;
	g->over = true;
	if (!event)
		event = recorder_file_event(r, g, KI_EVENT_OFF);
	return ret ? ret : event;
}

static int end_group(struct ki_recorder *r, struct ki_recorder_group *g)
{
	int ret = recorder_file_close(r, g), out = take_out(r, g);

	return ret ? ret : out;
}

/* When something is to be done with a group; -1: never. */
static double next_time(const struct ki_recorder *r, const struct ki_recorder_group *g)
{
	double at;

	if (g->over || (g->on && !(g->until > 0)))
		return -1;
	at = r->start + (g->on ? g->until : g->at - recorder_group_lead(g));
	return at > 0 ? at : 0;
}

static int switch_groups(struct ki_recorder *r)
{
	int ret = 0;

	for (struct ki_recorder_group *g = r->groups; !ret && g < r->groups + r->ngroups; g++) {
		double at = next_time(r, g);

		if (at >= 0 && ki_now() >= at)
			ret = g->on ? end_group(r, g) : put_in(r, g);
	}
	return ret;
}

int ki_recorder_take_out(struct ki_recorder *r)
{
	int ret = 0;

	recorder_budget_note(&r->budget, ki_now());
	for (struct ki_recorder_group *g = r->groups; g < r->groups + r->ngroups; g++) {
		int out = g->on ? take_out(r, g) : 0;

		ret = ret ? ret : out;
	}
	ki_skipped_end(&r->skipped, r->t, r->o->quiet ? NULL : r->listener);
	return ret;
}

/* ---- while it goes on ---- */

int ki_recorder_begin(struct ki_recorder *r)
{
	int ret;

	ki_skipped_begin(&r->skipped, r->t);
	ret = switch_groups(r);
	return ret ? ret : recorder_budget_begin(&r->budget, r->file, ki_now());
}

double ki_recorder_next(const struct ki_recorder *r)
{
	double next = recorder_budget_next(&r->budget);

	for (size_t i = 0; i < r->ngroups; i++) {
		double at = next_time(r, &r->groups[i]);

		if (at >= 0 && (next < 0 || at < next))
			next = at;
	}
	return next;
}

int ki_recorder_due(struct ki_recorder *r)
{
	int ret = switch_groups(r);

	if (!ret)
		ret = recorder_budget_look(&r->budget, ki_now());
	return ret && r->budget.err ? recorder_file_failed(r, r->budget.err) : ret;
}

uint64_t ki_recorder_lost(const struct ki_recorder *r)
{
	return r->misfit + (r->ring ? ki_ring_lost(r->ring) : 0);
}

int ki_recorder_finish(struct ki_recorder *r)
{
	int ret = r->unwritten ? -EIO : ki_recorder_read(r);

	if (!ret)
		ret = recorder_file_hits(r);
	if (!ret)
		ret = ki_record_finish(r->file, ki_recorder_lost(r), __rdtsc(), &r->err);
	if (ret)
		ki_record_free(r->file);
	r->file = NULL;
	return ret;
}

int ki_recorder_json(const struct ki_recorder *r, double seconds, FILE *out)
{
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "recorded");
	ki_json_str(&j, "file", r->o->output);
	ki_json_u64(&j, "records", r->written);
	ki_json_u64(&j, "lost", ki_recorder_lost(r));
	ki_json_u64(&j, "skipped", r->skipped.n);
	ki_json_u64(&j, "instruments", r->instruments.n);
	ki_json_double(&j, "seconds", seconds);
	recorder_budget_json(&r->budget, &j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

void ki_recorder_say(const struct ki_recorder *r, double seconds)
{
	ki_listener_warn(r->listener, "%llu records of %zu instruments in %.2f s, %llu lost: %s",
			 (unsigned long long)r->written, r->instruments.n, seconds,
			 (unsigned long long)ki_recorder_lost(r), r->o->output);
	recorder_budget_say(&r->budget);
}

/* ---- before it begins ---- */

int ki_recorder_group(struct ki_recorder *r)
{
	r->budget.share = r->o->budget;
	return recorder_groups_make(r->o, &r->groups, &r->ngroups, &r->err);
}

static int open_ring(struct ki_recorder *r)
{
	const struct ki_ring_options ring = {.size = sizeof(ring),
					     .bytes = r->o->buffer,
					     .newest = r->o->mode == KI_RECORDER_NEWEST};

	return r->o->mode == KI_RECORDER_TOTALS ? 0
						: ki_ring_map_new(r->t, &ring, &r->ring, &r->err);
}

static int open_stacks(struct ki_recorder *r)
{
	bool wanted = false;

	for (size_t i = 0; i < r->o->asks.n; i++)
		wanted |= r->o->asks.v[i].values.stacks;
	return wanted && r->ring ? ki_stacks_map_new(r->t, NULL, &r->stacks, &r->err) : 0;
}

int ki_recorder_resolve(struct ki_recorder *r, bool all_refused)
{
	struct ki_record_making to = {0};
	struct recorder_numbers next = {.id = 1};
	int ret = open_ring(r);

	if (!ret)
		ret = open_stacks(r);
	to.ring = r->ring ? ki_ring_number(r->ring) : 0;
	to.stacks = r->stacks ? ki_stacks_number(r->stacks) : 0;
	for (size_t i = 0; !ret && i < r->ngroups; i++) {
		struct ki_recorder_group *g = &r->groups[i];

		ret = recorder_group_resolve(g, &to, &next, r);
		if (!ret && !all_refused && ki_points_all_refused(&g->points))
			ret = ki_points_nothing(&g->points, &r->err);
		if (!ret)
			ret = recorder_group_describe(g, &r->instruments);
	}
	return ret;
}

int ki_recorder_prepare(struct ki_recorder *r)
{
	int ret = recorder_budget_open(&r->budget, r);

	return ret ? ret : recorder_code_find(&r->code, r->t, r->groups, r->ngroups, &r->err);
}

int ki_recorder_begin_file(struct ki_recorder *r, const char *command)
{
	ki_record_origin_here(r->t, &r->origin);
	r->start = ki_now();
	for (size_t i = 0; i < r->ngroups; i++)
		recorder_group_set_times(&r->groups[i], r->origin.tsc, r->origin.tsc_khz);
	snprintf(r->origin.command, sizeof(r->origin.command), "%s", command);
	return recorder_file_create(r);
}

void ki_recorder_free(struct ki_recorder *r)
{
	ki_record_free(r->file);
	recorder_budget_close(&r->budget);
	recorder_code_free(&r->code);
	recorder_groups_free(r->groups, r->ngroups);
	free(r->misfits);
	recorder_instruments_free(&r->instruments);
	ki_ring_map_free(r->ring);
	ki_stacks_map_free(r->stacks);
}
