// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst record: what goes into the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "cli.h"
#include "record/record_run.h"

int record_file_failed(struct record_run *r)
{
	if (!r->said)
		cli_fail(&r->err);
	r->said = true;
	return CLI_ERROR;
}

static int create(struct record_run *r, const char *path, struct ki_err *err)
{
	int ret = ki_record_create(
		path, &(struct ki_recorded){&r->origin, r->t, r->instruments.v, r->instruments.n},
		&r->file, err);

	if (ret)
		return ret;
	ret = record_code_write(&r->code, r->file);
	if (!ret)
		ret = record_processes_write(r->groups, r->ngroups, r->file);
	if (ret)
		return ki_err_set(err, ret, 0, "%s: %s", path, strerror(-ret));
	if (r->o->mode == RECORD_DISK)
		ki_record_to_disk(r->file);
	return r->stacks ? ki_record_stacks(r->file, r->stacks) : 0;
}

int record_file_create(struct record_run *r)
{
	r->misfits = calloc(r->instruments.n + 1, sizeof(*r->misfits));
	if (!r->misfits)
		return cli_no_memory();
	if (!create(r, r->o->output, &r->err))
		return CLI_OK;
	return r->err.code ? record_file_failed(r) : cli_no_memory();
}

int record_file_event(struct record_run *r, const struct record_group *g, uint32_t kind)
{
	struct ki_record_event e = {.kind = kind, .tsc = __rdtsc()};
	int ret = 0;

	for (size_t i = 0; !ret && i < g->points.v.n; i++) {
		const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]);

		e.id = record_group_id(g, i);
		if (c->reason)
			continue;
		if (kind == KI_EVENT_HITS)
			e.value = record_group_hits(g, i);
		ret = ki_record_event(r->file, &e);
	}
	return ret ? ki_err_set(&r->err, ret, 0, "%s: %s", r->o->output, strerror(-ret)) : 0;
}

/* An instrument has written another number of values than it says: lost, but not the others'. */
static int note_misfit(struct record_run *r, const struct ki_record *rec)
{
	for (size_t i = 0; i < r->instruments.n; i++)
		if (r->instruments.v[i].id == rec->id) {
			r->misfits[i]++;
			r->misfit++;
			return 0;
		}
	return -EINVAL;
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
	return ret == -EINVAL ? note_misfit(r, rec) : ret;
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

/* A record with what came since the last, of each point of a group that is installed. */
static int write_group(struct record_run *r, struct record_group *g)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < g->points.v.n; i++) {
		const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]);
		const struct ki_record rec = {
			.id = record_group_id(g, i), .words = 1, .tsc = __rdtsc()};
		uint64_t now, value;

		if (c->reason)
			continue;
		now = ki_measure_hits(g->points.measure, c->curve);
		value = now - g->seen[i];
		g->seen[i] = now;
		if (!g->on && !value)
			continue;
		ret = ki_record_write(r->file, &rec, &value, 0);
		r->written += !ret;
	}
	return ret;
}

static int write_totals(struct record_run *r)
{
	int ret = 0;

	for (struct record_group *g = r->groups; !ret && g < r->groups + r->ngroups; g++)
		if ((g->on || g->over) && !g->closed)
			ret = write_group(r, g);
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

/* The time of a group is over, and it has not been taken out yet: what comes until then is not of
   its time. */
int record_file_close(struct record_run *r, struct record_group *g)
{
	int ret = g->totals ? write_group(r, g) : 0;

	g->closed = true;
	if (!ret)
		return CLI_OK;
	ki_err_set(&r->err, ret, 0, "%s: %s", r->o->output, strerror(-ret));
	return record_file_failed(r);
}

static void forget_misfits(struct record_run *r)
{
	memset(r->misfits, 0, r->instruments.n * sizeof(*r->misfits));
	r->misfit = 0;
}

/* All that is in the buffers, to a file of its own. 0, or -errno. */
static int write_snapshot(struct record_run *r, const char *path, struct ki_err *err)
{
	int ret = create(r, path, err);

	if (!ret)
		ret = record_budget_write(&r->budget, r->file);
	if (!ret)
		ret = ki_ring_read(r->ring, take_record, r);
	if (!ret) {
		ret = ki_record_finish(r->file, record_lost(r), __rdtsc(), err);
		r->file = NULL;
	}
	ki_record_abandon(r->file);
	return ret;
}

/* All of it comes again later, so nothing is lost if there is no room for it. */
void record_file_snapshot(struct record_run *r)
{
	struct ki_record_file *file = r->file;
	uint64_t written = r->written;
	struct ki_err err = {0};
	char *path;
	int ret;

	if (asprintf(&path, "%s.%u", r->o->output, ++r->snapshots) < 0) {
		cli_no_memory();
		return;
	}
	r->file = NULL;
	ret = write_snapshot(r, path, &err);
	if (ret && !err.code)
		ki_err_set(&err, ret, 0, "%s: %s", path, strerror(-ret));
	if (ret)
		cli_warn("no snapshot: %s; the recording goes on", err.msg);
	r->file = file;
	r->written = written;
	forget_misfits(r);
	free(path);
}

int record_file_hits(struct record_run *r)
{
	for (struct record_group *g = r->groups; g < r->groups + r->ngroups; g++)
		if (g->over && record_group_knows_hits(g) && record_file_event(r, g, KI_EVENT_HITS))
			return record_file_failed(r);
	return CLI_OK;
}

void record_file_warn(const struct record_run *r)
{
	for (size_t i = 0; r->misfits && i < r->instruments.n; i++)
		if (r->misfits[i])
			cli_warn("%s: %llu of its records are lost: they have not the %u values "
				 "that its module says (KI_RECORDS)",
				 r->instruments.v[i].name, (unsigned long long)r->misfits[i],
				 r->instruments.v[i].nfields);
}
