// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * kerninst record: what goes into the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "run/record/inside.h"

/* After a failure nothing can be written, and one of them is enough to be told of. */
static struct ki_err *error_of(struct ki_recorder *r)
{
	return r->unwritten ? NULL : &r->err;
}

int recorder_file_failed(struct ki_recorder *r, int ret)
{
	ki_err_set(error_of(r), ret, 0, "%s: %s", r->o->output, strerror(-ret));
	r->unwritten = true;
	return ret;
}

static int create(struct ki_recorder *r, const char *path, struct ki_err *err)
{
	int ret = ki_record_new(
		path, &(struct ki_recorded){&r->origin, r->t, r->instruments.v, r->instruments.n},
		&r->file, err);

	if (ret)
		return ret;
	ret = recorder_code_write(&r->code, r->file);
	if (!ret)
		ret = recorder_processes_write(r->groups, r->ngroups, r->file);
	if (ret)
		return ki_err_set(err, ret, 0, "%s: %s", path, strerror(-ret));
	if (r->o->mode == KI_RECORDER_DISK)
		ki_record_to_disk(r->file);
	return r->stacks ? ki_record_stacks(r->file, r->stacks) : 0;
}

int recorder_file_create(struct ki_recorder *r)
{
	int ret;

	r->misfits = calloc(r->instruments.n + 1, sizeof(*r->misfits));
	if (!r->misfits)
		return -ENOMEM;
	ret = create(r, r->o->output, &r->err);
	r->unwritten |= r->err.code != 0;
	return ret;
}

int recorder_file_event(struct ki_recorder *r, const struct ki_recorder_group *g, uint32_t kind)
{
	struct ki_record_event e = {.kind = kind, .tsc = __rdtsc()};
	int ret = 0;

	for (size_t i = 0; !ret && i < g->points.v.n; i++) {
		const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]);

		e.id = recorder_group_id(g, i);
		if (c->reason)
			continue;
		if (kind == KI_EVENT_HITS)
			e.value = recorder_group_hits(g, i);
		ret = ki_record_event(r->file, &e);
	}
	return ret ? recorder_file_failed(r, ret) : 0;
}

/* An instrument has written another number of values than it says: lost, but not the others'. */
static int note_misfit(struct ki_recorder *r, const struct ki_record *rec)
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
	struct ki_recorder *r = arg;
	bool keep = true;
	int ret;

	for (size_t i = 0; i < r->ngroups; i++)
		if (recorder_group_owns(&r->groups[i], rec, &keep))
			break;
	if (!keep)
		return 0;
	ret = ki_record_write(r->file, rec, values, cpu);
	r->written += !ret;
	return ret == -EINVAL ? note_misfit(r, rec) : ret;
}

/* All that is in the buffers, to the file. */
static int drain(struct ki_recorder *r)
{
	int ret;

	if (!r->ring)
		return 0;
	ret = ki_ring_read(r->ring, take_record, r);
	if (!ret)
		ret = ki_record_flush(r->file, ki_recorder_lost(r), error_of(r));
	if (!ret)
		return 0;
	return recorder_file_failed(r, ret);
}

/* A record with what came since the last, of each point of a group that is installed. */
static int write_group(struct ki_recorder *r, struct ki_recorder_group *g)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < g->points.v.n; i++) {
		const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]);
		const struct ki_record rec = {
			.id = recorder_group_id(g, i), .words = 1, .tsc = __rdtsc()};
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

static int write_totals(struct ki_recorder *r)
{
	int ret = 0;

	for (struct ki_recorder_group *g = r->groups; !ret && g < r->groups + r->ngroups; g++)
		if ((g->on || g->over) && !g->closed)
			ret = write_group(r, g);
	if (!ret)
		ret = ki_record_flush(r->file, 0, error_of(r));
	if (!ret)
		return 0;
	return recorder_file_failed(r, ret);
}

int ki_recorder_read(struct ki_recorder *r)
{
	return r->o->mode == KI_RECORDER_TOTALS ? write_totals(r) : drain(r);
}

/* The time of a group is over, and it has not been taken out yet: what comes until then is not of
   its time. */
int recorder_file_close(struct ki_recorder *r, struct ki_recorder_group *g)
{
	int ret = g->totals ? write_group(r, g) : 0;

	g->closed = true;
	if (!ret)
		return 0;
	return recorder_file_failed(r, ret);
}

static void forget_misfits(struct ki_recorder *r)
{
	memset(r->misfits, 0, r->instruments.n * sizeof(*r->misfits));
	r->misfit = 0;
}

/* All that is in the buffers, to a file of its own. 0, or -errno. */
static int write_snapshot(struct ki_recorder *r, const char *path, struct ki_err *err)
{
	int ret = create(r, path, err);

	if (!ret)
		ret = recorder_budget_write(&r->budget, r->file);
	if (!ret)
		ret = ki_ring_read(r->ring, take_record, r);
	if (!ret) {
		ret = ki_record_finish(r->file, ki_recorder_lost(r), __rdtsc(), err);
		r->file = NULL;
	}
	ki_record_free(r->file);
	return ret;
}

/* All of it comes again later, so nothing is lost if there is no room for it. */
void ki_recorder_snapshot(struct ki_recorder *r)
{
	struct ki_record_file *file = r->file;
	uint64_t written = r->written;
	struct ki_err err = {0};
	char *path;
	int ret;

	if (asprintf(&path, "%s.%u", r->o->output, ++r->snapshots) < 0) {
		ki_listener_warn(r->listener, "out of memory");
		return;
	}
	r->file = NULL;
	ret = write_snapshot(r, path, &err);
	if (ret && !err.code)
		ki_err_set(&err, ret, 0, "%s: %s", path, strerror(-ret));
	if (ret)
		ki_listener_warn(r->listener, "no snapshot: %s; the recording goes on", err.msg);
	r->file = file;
	r->written = written;
	forget_misfits(r);
	free(path);
}

int recorder_file_hits(struct ki_recorder *r)
{
	int ret = 0;

	for (struct ki_recorder_group *g = r->groups; g < r->groups + r->ngroups; g++)
		if (!ret && g->over && recorder_group_knows_hits(g))
			ret = recorder_file_event(r, g, KI_EVENT_HITS);
	return ret;
}

void ki_recorder_warn(const struct ki_recorder *r)
{
	for (size_t i = 0; r->misfits && i < r->instruments.n; i++)
		if (r->misfits[i])
			ki_listener_warn(
				r->listener,
				"%s: %llu of its records are lost: they have not the %u values "
				"that its module says (KI_RECORDS)",
				r->instruments.v[i].name, (unsigned long long)r->misfits[i],
				r->instruments.v[i].nfields);
}
