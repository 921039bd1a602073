// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst record: what goes into the file.
 */
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "cli.h"
#include "record_run.h"

int record_file_failed(struct record_run *r)
{
	if (!r->said)
		cli_fail(&r->err);
	r->said = true;
	return CLI_ERROR;
}

int record_file_create(struct record_run *r, const char *path)
{
	int ret = ki_record_create(path, &r->origin, r->t, r->instruments.v, r->instruments.n,
				   &r->file, &r->err);

	if (ret)
		return record_file_failed(r);
	if (r->o->mode == RECORD_DISK)
		ki_record_to_disk(r->file);
	if (r->stacks && ki_record_stacks(r->file, r->stacks))
		return cli_no_memory();
	return CLI_OK;
}

int record_file_event(struct record_run *r, const struct record_group *g, uint32_t kind)
{
	struct ki_record_event e = {.kind = kind, .tsc = __rdtsc()};
	int ret = 0;

	for (size_t i = 0; !ret && i < g->points.v.n; i++) {
		const struct cell *c = points_first(&g->points, &g->points.v.v[i]);

		e.id = record_group_id(g, i);
		if (c->reason)
			continue;
		if (kind == KI_EVENT_HITS)
			e.value = ki_measure_hits(g->points.measure, c->curve) - g->outside[i];
		ret = ki_record_event(r->file, &e);
	}
	return ret ? ki_err_set(&r->err, ret, 0, "%s: %s", r->o->output, strerror(-ret)) : 0;
}

static int take_record(void *arg, const struct ki_record *rec, const uint64_t *values,
		       unsigned int cpu)
{
	struct record_run *r = arg;
	bool keep = true;
	int ret;

	for (size_t i = 0; i < r->ngroups; i++)
		if (record_group_owns(&r->groups[i], rec, &keep))
			break;
	if (!keep)
		return 0;
	ret = ki_record_write(r->file, rec, values, cpu);
	r->written += !ret;
	return ret;
}

/* All that is in the buffers, to the file. */
static int drain(struct record_run *r)
{
	int ret;

	if (!r->ring)
		return CLI_OK;
	ret = ki_ring_read(r->ring, take_record, r);
	if (!ret)
		ret = ki_record_flush(r->file, record_lost(r), &r->err);
	if (!ret)
		return CLI_OK;
	ki_err_set(&r->err, ret, 0, "%s: %s", r->o->output, strerror(-ret));
	return record_file_failed(r);
}

/* A record with what came since the last, of each point that is installed. */
static int write_totals(struct record_run *r)
{
	int ret = 0;

	for (struct record_group *g = r->groups; !ret && g < r->groups + r->ngroups; g++) {
		for (size_t i = 0; !ret && i < g->points.v.n; i++) {
			const struct cell *c = points_first(&g->points, &g->points.v.v[i]);
			const struct ki_record rec = {
				.id = record_group_id(g, i), .words = 1, .tsc = __rdtsc()};
			uint64_t now, value;

			if (c->reason || !(g->on || g->over))
				continue;
			now = ki_measure_hits(g->points.measure, c->curve);
			value = now - g->seen[i];
			g->seen[i] = now;
			if (g->on || value)
				ret = take_record(r, &rec, &value, 0);
		}
	}
	if (!ret)
		ret = ki_record_flush(r->file, 0, &r->err);
	if (!ret)
		return CLI_OK;
	ki_err_set(&r->err, ret, 0, "%s: %s", r->o->output, strerror(-ret));
	return record_file_failed(r);
}

int record_file_read(struct record_run *r)
{
	return r->o->mode == RECORD_TOTALS ? write_totals(r) : drain(r);
}

/* In a file of its own; for a moment nothing is recorded. */
int record_file_snapshot(struct record_run *r)
{
	struct ki_record_file *file = r->file;
	uint64_t written = r->written;
	char *path;
	int ret;

	if (asprintf(&path, "%s.%u", r->o->output, ++r->snapshots) < 0)
		return cli_no_memory();
	ret = record_file_create(r, path);
	if (!ret && record_budget_write(&r->budget, r->file))
		ret = cli_no_memory();
	if (!ret)
		ret = drain(r);
	if (!ret && ki_record_finish(r->file, record_lost(r), __rdtsc(), &r->err))
		ret = record_file_failed(r);
	r->file = file;
	r->written = written;
	free(path);
	return ret;
}

int record_file_hits(struct record_run *r)
{
	for (size_t i = 0; i < r->ngroups; i++)
		if (r->groups[i].over && record_file_event(r, &r->groups[i], KI_EVENT_HITS))
			return record_file_failed(r);
	return CLI_OK;
}
