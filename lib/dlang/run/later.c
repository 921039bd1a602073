// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What comes to processes while a program runs: libraries that they load, processes that they fork,
 * programs that begin; and what goes.
 *
 * perf says where something may have changed (watch.h). There the descriptions are matched again,
 * with what is new alone; what they mean is put in as one batch more (struct ki_d_process), beside
 * all that is in already. Places that the process has no more are taken out: something else may
 * come to stand there.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/print/place.h"
#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"
#include "dlang/run/cost.h"
#include "dlang/run/loads.h"
#include "dlang/run/run.h"
#include "kerninst/process.h"
#include "record/ring.h"

#define NO_BATCH UINT32_MAX
#define LOADS	 64 /* processes whose waiting wakes at once; others wait for a look */

void ki_d_later_wait(struct ki_dlang *d, int milliseconds)
{
	struct pollfd p[2 + LOADS] = {
		{.fd = ki_d_reads_late(d) ? -1 : d->run->ring->fd, .events = POLLIN},
		{.fd = d->watch ? ki_d_watch_fd(d->watch) : -1, .events = POLLIN}};

	poll(p, 2 + ki_d_loads_poll(d, p + 2, LOADS), milliseconds);
}

/* ---- what has gone ---- */

static struct ki_d_user *user_of(const struct ki_dlang *d, uint32_t probe)
{
	return d->probes.v[probe].hook ? d->probes.v[probe].hook->user : NULL;
}

/* The file that has been mapped there, and its place in it. */
static bool stands(const struct ki_mappings *maps, const struct ki_d_user *u)
{
	const struct ki_d_user_place *at = &u->places[0];

	for (size_t i = 0; i < maps->m.n; i++) {
		const struct ki_mapping *m = &maps->m.v[i];

		if (m->executable && at->addr >= m->start && at->addr < m->end)
			return at->addr - m->start + m->off == at->offset &&
			       !strcmp(ki_mapping_path(maps, m), u->path);
	}
	return false;
}

static bool mapped_since(const struct ki_d_stir *s, uint64_t addr)
{
	for (size_t i = 0; i < s->mapped.n; i++)
		if (addr >= s->mapped.v[i].start && addr < s->mapped.v[i].end)
			return true;
	return false;
}

/* Those of the process whose places are not what they were. */
static void note_gone(struct ki_dlang *d, const struct ki_d_stir *s, const struct ki_mappings *maps)
{
	for (uint32_t i = 0; i < d->probes.n; i++) {
		struct ki_d_user *u = user_of(d, i);

		if (!u || u->gone || u->pid != s->pid)
			continue;
		u->gone = s->became || mapped_since(s, u->places[0].addr) || !stands(maps, u);
		if (u->gone)
			ki_d_hook_end(&d->probes.v[i]);
	}
}

static bool is_in(const struct ki_dlang *d, uint32_t batch, uint32_t probe)
{
	const struct ki_d_user *u = user_of(d, probe);

	return u && u->batch == batch && !u->gone;
}

static bool any_is_in(const struct ki_dlang *d, uint32_t batch)
{
	for (uint32_t i = 0; i < d->probes.n; i++)
		if (is_in(d, batch, i))
			return true;
	return false;
}

/* Pause the code of those that are gone: is there any? */
static bool pause_gone(struct ki_dlang *d, const struct ki_d_process *b, uint32_t batch)
{
	struct ki_plan *plan = b->plan ? b->plan : d->run->probes;
	const uint32_t *whose = b->plan ? b->chunks.v : d->run->chunks.v;
	const size_t n = b->plan ? b->chunks.n : d->run->chunks.n;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct ki_d_user *u = user_of(d, whose[i]);

		if (!u || u->pid != b->pid || (u->batch == batch && !u->gone))
			continue;
		ki_plan_pause(plan, i, true);
		any = true;
	}
	return any;
}

/* Breakpoints first: then nobody comes to the code any more. */
static int end_batch(struct ki_dlang *d, uint32_t batch, struct ki_err *err)
{
	struct ki_d_process *b = &d->processes.v[batch];
	int ret = 0;

	ki_process_free(b->splice);
	b->splice = NULL;
	if (b->plan && ki_plan_chunks(b->plan))
		ret = ki_plan_remove(b->plan, d->run->t, err);
	else if (!b->plan && d->run->applied && pause_gone(d, b, batch))
		ret = ki_plan_update(d->run->probes, d->run->t, err);
	if (b->plan && d->run->cost)
		ki_d_cost_gone(d, b->plan);
	ki_d_process_end(b);
	return ret;
}

static bool any_gone(const struct ki_dlang *d, uint32_t batch)
{
	for (uint32_t i = 0; i < d->probes.n; i++) {
		const struct ki_d_user *u = user_of(d, i);

		if (u && u->batch == batch && u->gone)
			return true;
	}
	return false;
}

static int shrink_batch(struct ki_dlang *d, uint32_t batch, struct ki_err *err)
{
	struct ki_d_process *b = &d->processes.v[batch];
	int ret = ki_d_users_put(d, batch, err);

	if (!ret && pause_gone(d, b, batch))
		ret = ki_plan_update(b->plan ? b->plan : d->run->probes, d->run->t, err);
	return ret;
}

static int take_out_gone(struct ki_dlang *d, pid_t pid, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < d->processes.n; i++) {
		if (d->processes.v[i].pid != pid)
			continue;
		if (!any_is_in(d, i))
			ret = end_batch(d, i, err);
		else if (any_gone(d, i))
			ret = shrink_batch(d, i, err);
	}
	for (uint32_t i = 0; i < d->probes.n; i++) {
		struct ki_d_user *u = user_of(d, i);

		if (u && u->pid == pid && u->gone)
			u->batch = NO_BATCH;
	}
	return ret;
}

/* ---- what has come ---- */

static bool is_known(const struct ki_dlang *d, pid_t pid)
{
	for (size_t i = 0; pid && i < d->processes.n; i++)
		if (d->processes.v[i].pid == pid)
			return true;
	return false;
}

/* One whose first thread has ended has no mappings that could be read, but may go on. */
static bool goes_on(const struct ki_dlang *d, pid_t pid)
{
	for (size_t i = 0; i < d->processes.n; i++) {
		const struct ki_d_process *b = &d->processes.v[i];
		struct pollfd p = {.events = POLLIN};

		if (b->pid != pid || !b->splice)
			continue;
		p.fd = ki_process_ended(b->splice);
		return !poll(&p, 1, 0);
	}
	return false;
}

static int put_new(struct ki_dlang *d, const struct ki_d_stir *s, struct ki_err *err)
{
	uint32_t batch = NO_BATCH;
	int ret = ki_d_match_later(d, s, &batch, err);

	if (batch == NO_BATCH)
		return ret;
	if (!ret && any_is_in(d, batch)) {
		ret = ki_d_put_later(d, batch, err);
		d->run->came += !ret;
	} else {
		end_batch(d, batch, err);
	}
	return ret;
}

static int look_at(struct ki_dlang *d, const struct ki_d_stir *s, struct ki_err *err)
{
	struct ki_mappings maps = {0};
	int ret = 0;

	ki_mappings_read(&maps, s->pid);
	if (maps.m.n || !goes_on(d, s->pid)) {
		if (s->became || !maps.m.n)
			ki_d_loads_drop(d, s->pid);
		note_gone(d, s, &maps);
		ret = take_out_gone(d, s->pid, err);
	}
	if (!ret && maps.m.n)
		ret = put_new(d, s, err);
	if (!ret && maps.m.n && s->became)
		ki_d_loads_again(d, s->pid);
	if (maps.m.n && d->users_used)
		ki_d_place_look(d, (uint32_t)s->pid);
	ki_mappings_free(&maps);
	return ret;
}

/* A fork of one that had nothing to be spliced has nothing either. */
static bool concerns(const struct ki_dlang *d, const struct ki_d_stir *s, bool any)
{
	if (is_known(d, s->pid) || s->pid == d->o.target || ki_d_means_pid(d, s->pid))
		return true;
	return any && (s->mapped.n || (s->parent ? is_known(d, s->parent) : s->all));
}

/* More has been than was told: all of them. */
static int stir_all(const struct ki_dlang *d, bool any, struct ki_d_stirs *out)
{
	DIR *all = any ? opendir("/proc") : NULL;
	const struct dirent *e;
	struct ki_d_stir *s;
	int ret = 0;

	for (size_t i = 0; !ret && i < d->processes.n; i++) {
		s = ki_d_stir_of(out, d->processes.v[i].pid);
		ret = s ? 0 : -ENOMEM;
		if (s)
			s->all = true;
	}
	while (all && !ret && (e = readdir(all))) {
		const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		s = pid > 0 ? ki_d_stir_of(out, pid) : NULL;
		ret = pid <= 0 || s ? 0 : -ENOMEM;
		if (s)
			s->all = true;
	}
	if (all)
		closedir(all);
	return ret;
}

static void warn(const struct ki_dlang_output *out, const char *text)
{
	if (out->warn)
		out->warn(out->arg, text);
}

/* What cannot be had of one process is said, and all else goes on. */
static int look_or_say(struct ki_dlang *d, const struct ki_d_stir *s,
		       const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_err why = {0};
	char text[sizeof(why.msg) + 96];
	int ret = look_at(d, s, &why);

	if (ret == -ENOMEM)
		return ki_err_set(err, ret, 0, "%s", why.msg);
	if (!ret)
		return 0;
	snprintf(text, sizeof(text), "process %d: probes that have come there are not in: %s",
		 s->pid, why.msg);
	warn(out, text);
	return 0;
}

static void say_not_watched(struct ki_dlang *d, const struct ki_dlang_output *out)
{
	char text[160];

	if (!d->no_watch)
		return;
	snprintf(
		text, sizeof(text),
		"what comes to processes from now on gets no probes: events of perf cannot be had: %s",
		strerror(-d->no_watch));
	d->no_watch = 0;
	warn(out, text);
}

int ki_d_later_look(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	const bool any = ki_d_means_any(d);
	struct ki_d_stirs s = {0};
	int ret;

	if (!d->watch && !d->no_watch && !d->run->loads.n)
		return 0;
	ret = ki_d_loads_stir(d, &s); /* what they have mapped has been told by now */
	if (!ret && d->watch)
		ret = ki_d_watch_read(d->watch, &s);
	say_not_watched(d, out);
	if (!ret && s.lost)
		ret = stir_all(d, any, &s);
	if (ret)
		ki_d_no_memory(err);
	for (size_t i = 0; !ret && i < s.v.n; i++)
		if (s.v.v[i].pid && s.v.v[i].pid != getpid() && concerns(d, &s.v.v[i], any))
			ret = look_or_say(d, &s.v.v[i], out, err);
	ki_d_loads_go(d, out);
	ki_d_stirs_free(&s);
	return ret;
}

int ki_d_later_end(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	ki_d_loads_end(d->run);
	for (size_t i = 0; !ret && i < d->processes.n; i++) {
		struct ki_d_process *p = &d->processes.v[i];

		if (p->plan && ki_plan_chunks(p->plan))
			ret = ki_plan_remove(p->plan, d->run->t, err);
		ki_plan_free(p->plan);
		p->plan = NULL;
	}
	return ret;
}

size_t ki_dlang_came(const struct ki_dlang *d)
{
	return d->run ? d->run->came : 0;
}
