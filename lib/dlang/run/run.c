// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sched.h>
#include <sys/syscall.h>

#include "dlang/print/aggregate.h"
#include "dlang/print/lines.h"
#include "dlang/print/place.h"
#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"
#include "dlang/code/storage.h"
#include "dlang/run/cost.h"
#include "dlang/run/loads.h"
#include "kerninst/process.h"
#include "metric/measure.h"
#include "record/users.h"

#define SECOND 1000000000ull

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

void ki_d_run_free(struct ki_d_run *r)
{
	if (!r)
		return;
	if (r->reopened)
		fclose(r->reopened);
	ki_d_loads_end(r);
	ki_plan_free(r->probes);
	ki_plan_free(r->triggers);
	ki_counter_map_free(r->counters);
	ki_global_map_free(r->globals);
	ki_stacks_map_free(r->stacks);
	ki_texts_map_free(r->strings);
	ki_ring_map_free(r->ring);
	ki_table_map_free(r->kept);
	ki_table_map_free(r->used);
	ki_d_hold_free(&r->hold);
	ki_d_backlog_free(&r->backlog);
	for (size_t i = 0; i < r->events.n; i++)
		free(r->events.v[i].name);
	ki_vec_free(&r->events);
	ki_vec_free(&r->ticks);
	ki_vec_free(&r->files);
	ki_users_free(r->users);
	ki_vec_free(&r->chunks);
	ki_d_cost_free(r->cost);
	free(r);
}

void ki_d_fire(uint32_t probe)
{
	syscall(KI_D_TRIGGER_CALL, (unsigned long)probe);
}

static void fire_named(struct ki_dlang *d, const char *name)
{
	const uint32_t i = ki_d_probe_named(d, name);

	if (i != UINT32_MAX)
		ki_d_fire(i);
}

/* Behind all others: ticks, and what is to come. */
static int start_rest(struct ki_dlang *d)
{
	ki_d_loads_begin(d);
	for (uint32_t i = 0; i < d->probes.n; i++) {
		struct ki_d_tick t = {i, now(CLOCK_MONOTONIC) + d->probes.v[i].nanoseconds};

		if (d->probes.v[i].nanoseconds && !d->probes.v[i].hook &&
		    ki_vec_push(&d->run->ticks, t))
			return -ENOMEM;
	}
	return 0;
}

/* With option cpu BEGIN, END and tick are there: this thread fires them. */
static int go_to_cpu(const struct ki_dlang *d, struct ki_err *err)
{
	cpu_set_t cpus;

	if (d->set.cpu < 0)
		return 0;
	CPU_ZERO(&cpus);
	if (d->set.cpu < CPU_SETSIZE)
		CPU_SET((size_t)d->set.cpu, &cpus);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus))
		return 0;
	return ki_err_set(err, -EINVAL, 0,
			  "could not enable tracing: option cpu: there is no CPU %lld to run on",
			  (long long)d->set.cpu);
}

int ki_d_destroys(struct ki_err *err)
{
	return ki_err_set(err, -EPERM, 0,
			  "could not enable tracing: Destructive actions not allowed");
}

/* What is mapped there says what its addresses are called; it may end before these are told. */
static void look_at_target(struct ki_dlang *d)
{
	if (d->users_used && d->o.target)
		ki_d_place_look(d, (uint32_t)d->o.target);
}

static void look_at_probed(struct ki_dlang *d)
{
	for (size_t i = 0; d->users_used && i < d->processes.n; i++)
		if (d->processes.v[i].pid != d->o.target)
			ki_d_place_look(d, (uint32_t)d->processes.v[i].pid);
}

static void begin_reading(struct ki_dlang *d)
{
	d->run->reads_at = now(CLOCK_MONOTONIC) + (uint64_t)d->set.switchrate;
	d->run->ends_at = now(CLOCK_MONOTONIC) + (uint64_t)d->set.statusrate;
	look_at_target(d);
	look_at_probed(d);
}

static struct ki_d_run *begin_run(struct ki_dlang *d, struct ki_target *t)
{
	struct ki_d_run *r = d->run = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->t = t;
	r->thread = (uint32_t)syscall(SYS_gettid);
	r->wall = (int64_t)(now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC));
	ki_d_clock_find(&r->clock, ki_target_info(t)->tsc_khz);
	return r;
}

int ki_dlang_start(struct ki_dlang *d, struct ki_target *t, struct ki_err *err)
{
	struct ki_d_run *r;
	int ret;

	if (d->destroys && (!d->set.destructive || d->o.harmless))
		return ki_d_destroys(err);
	if (d->never)
		return ki_err_set(
			err, -EOPNOTSUPP, 0, "could not enable tracing: %s() %s", d->never,
			strcmp(d->never, "return") ? "would stop the system" : "is not supported");
	ret = ki_d_check_sizes(d, err);
	if (!ret)
		ret = go_to_cpu(d, err);
	if (ret)
		return ret;
	r = begin_run(d, t);
	if (!r || ki_plan_new(&r->triggers) || ki_plan_new(&r->probes))
		return ki_d_no_memory(err);
	if ((d->o.cost || d->o.budget > 0) && !d->o.built_only && ki_d_cost_new(&r->cost))
		return ki_d_no_memory(err);
	ret = ki_d_storage(d, err);
	if (!ret)
		ret = ki_d_symbols(d, err);
	if (!ret && d->o.listing)
		ki_d_list_variables(d);
	if (!ret)
		ret = ki_d_put_triggers(d, err);
	if (ret)
		return ret;
	if (!d->o.built_only)
		fire_named(d, "BEGIN");
	ret = ki_d_put_probes(d, err);
	begin_reading(d);
	return ret || !start_rest(d) ? ret : ki_d_no_memory(err);
}

/* ---- while it runs ---- */

/* Of at most so many, the milliseconds until the next tick, or look at the costs. */
static int until_next(const struct ki_d_run *r, int most)
{
	const uint64_t at = now(CLOCK_MONOTONIC);

	for (size_t i = 0; i < r->ticks.n; i++) {
		uint64_t due = r->ticks.v[i].due;
		uint64_t ms = due > at ? (due - at + 999999) / 1000000 : 0;

		if (ms < (uint64_t)most)
			most = (int)ms;
	}
	return r->cost ? ki_d_cost_until(r->cost, most) : most;
}

static void fire_ticks(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->run->ticks.n; i++) {
		struct ki_d_tick *t = &d->run->ticks.v[i];
		const uint64_t at = now(CLOCK_MONOTONIC);

		if (at < t->due)
			continue;
		ki_d_fire(t->probe);
		t->due += d->probes.v[t->probe].nanoseconds;
		if (t->due < at) /* a machine that was away */
			t->due = at + d->probes.v[t->probe].nanoseconds;
	}
}

/* What has been recorded, as text. */
static int read_ring(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_consumer c = {.d = d, .err = err, .out = out};
	int ret = ki_d_outlet_begin(&c), end;

	ki_d_rooms_empty(d->run);
	if (!ret)
		ret = ki_ring_read(d->run->ring, ki_d_consume, &c);
	end = ki_d_outlet_end(&c);
	return ret ? ret : end;
}

/* What bufpolicy has kept until now: the last of what there is before END. */
static int print_kept(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_consumer c = {.d = d, .err = err, .out = out};
	int ret = ki_d_outlet_begin(&c), end;

	if (!ret)
		ret = ki_d_consume_kept(&c);
	end = ki_d_outlet_end(&c);
	return ret ? ret : end;
}

#define OFTEN (SECOND / 10) /* what is read that often is read when it comes */

/* A second is as usual: nobody has asked for it. */
bool ki_d_reads_late(const struct ki_dlang *d)
{
	return d->set.switchrate > (int64_t)OFTEN && d->set.switchrate != (int64_t)SECOND;
}

static bool is_to_read(struct ki_dlang *d)
{
	const uint64_t at = now(CLOCK_MONOTONIC);

	if (ki_d_reads_late(d) && at < d->run->reads_at)
		return false;
	d->run->reads_at = at + (uint64_t)d->set.switchrate;
	return true;
}

/* exit() is noticed every statusrate, if that is more than a second; at once otherwise. */
static bool is_to_end(struct ki_dlang *d)
{
	const uint64_t at = now(CLOCK_MONOTONIC), rate = (uint64_t)d->set.statusrate;

	if (rate <= SECOND || at >= d->run->ends_at)
		return d->run->exited;
	return false;
}

int ki_dlang_work(struct ki_dlang *d, int milliseconds, const struct ki_dlang_output *out,
		  struct ki_err *err)
{
	int ret;

	look_at_target(d);
	if (d->set.switchrate < (int64_t)milliseconds * 1000000)
		milliseconds = (int)(d->set.switchrate / 1000000);
	ki_d_later_wait(d, until_next(d->run, milliseconds));
	fire_ticks(d);
	ret = ki_d_later_look(d, out, err);
	if (!ret && is_to_read(d))
		ret = read_ring(d, out, err);
	if (ret >= 0 && !d->run->exited && d->run->cost)
		ret = ki_d_cost_look(d, out, err);
	return ret ? ret : is_to_end(d);
}

/* ---- the end ---- */

/* With aggsortrev the last one is the first that is printed. */
static struct ki_d_agg **agg_of_turn(struct ki_dlang *d, size_t i)
{
	return &d->aggs.v[d->set.aggsortrev ? d->aggs.n - 1 - i : i];
}

static int print_rest(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_consumer c = {.d = d, .err = err, .out = out};
	int ret = ki_d_outlet_begin(&c), end;

	if (!ret && !d->set.json && !d->run->captures)
		fputc('\n', c.f);
	for (size_t i = 0; !ret && i < d->aggs.n; i++) {
		struct ki_d_agg **a = agg_of_turn(d, i);

		if ((*a)->printed)
			continue;
		ret = d->set.json ? ki_d_line_aggregations(&c, a, 1)
				  : ki_d_agg_print(d, a, 1, NULL, c.f, err);
	}
	end = ki_d_outlet_end(&c);
	return ret ? ret : end;
}

int ki_dlang_stop(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_run *r = d->run;
	int ret;

	if (r->cost)
		ki_d_cost_end(r->cost);
	ki_d_users_end(d);
	for (uint32_t i = 0; i < d->probes.n; i++)
		ki_d_hook_end(&d->probes.v[i]);
	ret = ki_d_later_end(d, err);
	if (!ret && r->applied)
		ret = ki_plan_remove(r->probes, r->t, err);

	r->applied = false;
	if (!ret)
		ret = read_ring(d, out, err);
	if (!ret)
		ret = print_kept(d, out, err);
	if (!ret) {
		fire_named(d, "END");
		ret = read_ring(d, out, err);
	}
	return ret ? ret : print_rest(d, out, err);
}

int ki_dlang_status(const struct ki_dlang *d)
{
	return d->run ? d->run->status : 0;
}

uint64_t ki_dlang_cpu_drops(const struct ki_dlang *d, unsigned int cpu)
{
	return d->run && cpu < KI_D_ROOMS ? d->run->rooms[cpu].drops : 0;
}

unsigned int ki_dlang_cpus(const struct ki_dlang *d)
{
	return d->run ? KI_D_ROOMS : 0;
}

void ki_dlang_drops(const struct ki_dlang *d, struct ki_dlang_drops *out)
{
	*out = (struct ki_dlang_drops){0};
	if (!d->run)
		return;
	out->records = d->run->ring ? ki_ring_lost(d->run->ring) : 0;
	for (size_t i = 0; i < d->aggs.n; i++)
		out->aggregations += d->aggs.v[i]->table ? ki_table_lost(d->aggs.v[i]->table) : 0;
	for (size_t i = 0; i < d->vars.n; i++)
		out->variables += d->vars.v[i]->table ? ki_table_lost(d->vars.v[i]->table) : 0;
	out->strings = d->run->strings ? ki_texts_lost(d->run->strings) : 0;
	out->speculations = d->run->hold.lost;
	if (d->run->globals)
		out->speculations += ki_global_read(d->run->globals, d->run->unkept);
	out->errors = d->run->errors;
	out->signals = d->run->globals ? ki_global_read(d->run->globals, d->run->unsent) : 0;
	out->tagged = d->set.droptags;
	out->refused = d->run->strings ? ki_texts_refused(d->run->strings) : 0;
}
