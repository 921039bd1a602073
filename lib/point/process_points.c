// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/process_points.h"

#include <fnmatch.h>
#include <poll.h>
#include <stdlib.h>

#include "kerninst/process.h"
#include "splice/plan.h"
#include "util/listen.h"

static bool is_there(const struct ki_target *t, const char *module)
{
	size_t n;
	const struct ki_text_range *r = ki_target_ranges(t, &n);

	for (size_t i = 0; i < n; i++)
		if (!fnmatch(module, r[i].module, 0))
			return true;
	return false;
}

const char *ki_process_points_missing(const struct ki_target *t, const struct ki_asked *asked)
{
	for (size_t i = 0; i < asked->n; i++)
		if (!is_there(t, asked->specs[i].module))
			return asked->specs[i].module;
	return NULL;
}

int ki_process_points_awaited(struct ki_target *t, const char *what, struct ki_err *err)
{
	struct ki_change *v;
	size_t n;
	int ret = ki_target_changes(t, &v, &n, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++) {
		if (v[i].kind == KI_CHANGE_ENDED)
			ret = ki_err_set(err, -ESRCH, 0, "it has ended, and has not mapped %s",
					 what);
		else if (!ret && (v[i].kind == KI_CHANGE_MAPPED || v[i].kind == KI_CHANGE_BECAME))
			ret = 1;
	}
	free(v);
	return ret;
}

static bool concerns(const struct ki_change *c, const struct ki_points *points)
{
	for (size_t i = 0; i < points->v.n; i++)
		if (points->v.v[i].addr - c->addr < c->len)
			return true;
	return false;
}

/* Does somebody ask for a module of that name? */
static bool is_asked(const struct ki_change *c, const struct ki_points *points)
{
	for (size_t i = 0; i < points->v.n; i++)
		if (*points->v.v[i].spec->module &&
		    !fnmatch(points->v.v[i].spec->module, c->module, 0))
			return true;
	return false;
}

static void warn(const struct ki_points *points, pid_t pid, const struct ki_change *c,
		 const struct ki_listener *l)
{
	if (c->kind == KI_CHANGE_BECAME)
		ki_listener_warn(l, "process %d has become another program: counted until then",
				 (int)pid);
	if (c->kind == KI_CHANGE_UNMAPPED && concerns(c, points))
		ki_listener_warn(l, "process %d: %s has been unmapped: counted until then",
				 (int)pid, c->module);
	if (c->kind == KI_CHANGE_MAPPED && is_asked(c, points))
		ki_listener_warn(
			l,
			"process %d: %s has been mapped meanwhile: it is not counted there; begin "
			"again to count it",
			(int)pid, c->module);
}

bool ki_process_points_changed(const struct ki_points *points, struct ki_target *t, pid_t pid,
			       const struct ki_listener *l)
{
	struct ki_change *v = NULL;
	bool became = false;
	size_t n = 0;

	if (ki_target_changes(t, &v, &n, NULL))
		return false;
	for (size_t i = 0; i < n; i++) {
		warn(points, pid, &v[i], l);
		became |= v[i].kind == KI_CHANGE_BECAME;
	}
	free(v);
	return became;
}

bool ki_process_points_ended(const struct ki_splice_process *s)
{
	struct pollfd p = {.fd = ki_process_ended(s), .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static bool held(const struct ki_change *c, const struct ki_plan *p)
{
	for (size_t i = 0; c->kind == KI_CHANGE_UNMAPPED && i < p->chunks.n; i++) {
		const struct ki_chunk *chunk = &p->chunks.v[i].c;

		if (chunk->kind == KI_CHUNK_REPLACE && chunk->target - c->addr < c->len)
			return true;
	}
	return false;
}

bool ki_process_points_unmapped(struct ki_target *t, struct ki_splice_process *s,
				const struct ki_plan *p, const struct ki_listener *l)
{
	struct ki_err err = {0};
	struct ki_change *v;
	bool gone = false;
	size_t changes;

	if (ki_target_changes(t, &v, &changes, &err))
		return false;
	for (size_t i = 0; i < changes && !gone; i++) {
		gone = held(&v[i], p);
		if (!gone)
			continue;
		ki_process_remove(s, &err);
		ki_listener_warn(l,
				 "process: %s has been unmapped, where a function stood for "
				 "another: all is taken out; calls before that may have crashed it",
				 v[i].module);
	}
	free(v);
	return gone;
}

void ki_process_points_lost(const struct ki_splice_process *s, pid_t pid,
			    const struct ki_listener *l)
{
	const uint64_t lost = ki_process_lost(s);

	if (lost)
		ki_listener_warn(l,
				 "process %d: %llu times a thread had no place for what it has "
				 "begun: it is not in walltime and its like",
				 pid, (unsigned long long)lost);
}
