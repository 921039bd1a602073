// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Probes in many functions: put in, taken out when they have been hit, taken out all.
 *
 * A whole kernel has more than half a million blocks, so nothing is kept that is not needed later.
 * Functions are analysed in several threads and taken in order of address; when their probes fill
 * a request, it is sent while the next functions are analysed, and the plan is forgotten but for
 * the driver's numbers of its chunks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "cover/live.h"
#include "kerninst/process.h"
#include "splice/plan.h"
#include "util/sized.h"

#define REQUEST 24576 /* windows; each may bring a host */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- functions ---- */

static int add_blocks(struct ki_cover *c, const struct ki_function *fn, uint16_t reason)
{
	if (ki_vec_reserve(&c->blocks, fn->nblocks) || ki_vec_reserve(&c->rules, fn->nblocks) ||
	    ki_vec_reserve(&c->ways, fn->nedges))
		return -ENOMEM;
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_block *at = &fn->blocks[b];

		c->blocks.v[c->blocks.n++] = (struct ki_cover_block){
			.off = (uint32_t)(at->start - fn->start),
			.len = (uint32_t)(at->end - at->start),
			.reason = reason,
			.how = KI_COVER_UNKNOWN,
		};
		c->rules.v[c->rules.n++] = KI_RULE_NONE;
	}
	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->edges[e].to_block != KI_NONE)
			c->ways.v[c->ways.n++] =
				(struct ki_way){fn->edges[e].block, fn->edges[e].to_block};
	return 0;
}

/* Blocks after one do not say how often it was executed: they are led to from elsewhere, too. */
static void forget_succs(uint8_t *rules, uint32_t n)
{
	for (uint32_t b = 0; b < n; b++)
		if (rules[b] == KI_RULE_SUCCS)
			rules[b] = KI_RULE_NONE;
}

static int choose(struct ki_cover *c, const struct ki_function *fn, const struct ki_spans *spans,
		  struct ki_err *err)
{
	const bool counting = c->o.mode != KI_COVER_HIT;
	const unsigned int how = (c->o.every || c->o.when || counting ? KI_CHOOSE_EVERY : 0) |
				 (ki_cover_is_process(c) ? KI_CHOOSE_NO_TRAPS : 0);
	uint8_t *rules = c->rules.v + c->rules.n - fn->nblocks;
	int ret;

	c->places.n = 0;
	if (ki_vec_reserve(&c->places, fn->nblocks))
		return ki_err_set(err, -ENOMEM, fn->start, "coverage: out of memory");
	ret = ki_cover_choose(fn, spans, how, rules, c->places.v, err);
	if (counting)
		forget_succs(rules, fn->nblocks);
	if (!ret && c->minimal)
		ret = ki_cover_minimize(c, &(struct ki_ground){fn, spans}, rules, err);
	return ret;
}

static int move(struct ki_cover *c, const struct ki_ground *g, struct ki_err *err)
{
	bool moves = false;

	if (!c->o.stay &&
	    ki_cover_moves(g, c->rules.v + c->rules.n - g->fn->nblocks, c->places.v, &moves))
		return ki_err_set(err, -ENOMEM, g->fn->start, "coverage: out of memory");
	return moves ? ki_plan_move(c->plan, g->fn, g->spans, err) : 0;
}

static int add_probes(struct ki_cover *c, const struct ki_function *fn, struct ki_err *err)
{
	uint32_t first = (uint32_t)c->blocks.n - fn->nblocks;
	struct ki_spans spans;
	const struct ki_ground g = {fn, &spans};
	int ret = ki_spans_find(fn, &spans, err);

	if (ret)
		return ret;
	ret = choose(c, fn, &spans, err);
	if (!ret)
		ret = move(c, &g, err);
	for (uint32_t b = 0; !ret && b < fn->nblocks; b++) {
		struct ki_cover_block *at = &c->blocks.v[first + b];

		at->reason = c->places.v[b].reason;
		at->how = c->rules.v[first + b] == KI_RULE_PROBE  ? KI_COVER_PROBED
			  : c->rules.v[first + b] == KI_RULE_NONE ? KI_COVER_UNKNOWN
								  : KI_COVER_IMPLIED;
		if (at->how == KI_COVER_PROBED)
			ret = ki_cover_put(c, &g, &c->places.v[b],
					   (struct cover_probe){.of = first + b}, err);
	}
	if (!ret && c->o.mode == KI_COVER_EDGES)
		ret = ki_cover_add_edges(c, &g, err);
	ki_spans_free(&spans);
	return ret;
}

struct installer {
	struct ki_cover *c;
	struct ki_err *err;
};

static int take_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct installer *in = arg;
	struct ki_cover *c = in->c;
	struct cover_function f = {
		.sym = fn->symbol,
		.size = (uint32_t)(fn->end - fn->start),
		.reason = fn->reason,
		.first_block = (uint32_t)c->blocks.n,
		.nblocks = fn->nblocks,
		.first_way = (uint32_t)c->ways.n,
		.first_edge = (uint32_t)c->edges.n,
	};
	int ret = 0;

	c->tree = (struct cover_tree){0};
	if (c->o.progress && !(i & 63) && !c->o.progress(c->o.arg, i, c->all))
		return ki_err_set(in->err, -ECANCELED, 0, "stopped");
	if (c->plan->windows.n >= REQUEST && !ki_cover_is_process(c))
		ret = ki_cover_send(c, in->err);
	if (!ret && add_blocks(c, fn, fn->reason))
		ret = ki_err_set(in->err, -ENOMEM, fn->start, "coverage: out of memory");
	if (!ret && !fn->reason)
		ret = add_probes(c, fn, in->err);
	f.nways = (uint32_t)c->ways.n - f.first_way;
	f.nedges = (uint32_t)c->edges.n - f.first_edge;
	f.tree = c->tree;
	if (!ret && ki_vec_push(&c->functions, f))
		ret = ki_err_set(in->err, -ENOMEM, fn->start, "coverage: out of memory");
	return ret;
}

static int open_maps(struct ki_cover *c, struct ki_err *err)
{
	int ret;

	if (ki_cover_is_process(c))
		return ki_cover_process_begin(c, err);
	ret = ki_global_map_new(c->t, &c->globals, err);
	if (!ret && c->o.mode != KI_COVER_HIT)
		ret = ki_counter_map_new(c->t, &c->counters, err);
	if (!ret && ki_plan_new(&c->plan))
		ret = ki_err_set(err, -ENOMEM, 0, "coverage: out of memory");
	return ret;
}

/* What the kernel has in small objects: what the driver notes of windows and chunks is there. */
static int64_t slab_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	long long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SUnreclaim: %lld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

static int put_all(struct ki_cover *c, const struct ki_symbol *const *syms, size_t n,
		   struct ki_err *err)
{
	struct ki_err own = {0}; /* the analysing threads write to theirs meanwhile */
	struct installer in = {c, &own};
	int ret = ki_functions_analyze(
		c->t,
		&(struct ki_functions_job){.syms = syms, .n = n, .take = take_function, .arg = &in},
		err);

	if (own.code && err)
		*err = own;
	if (!ret)
		ret = ki_cover_is_process(c) ? ki_cover_process_install(c, err)
					     : ki_cover_send(c, err);
	if (ki_cover_await(c, err) && !ret)
		ret = c->sent_ret;
	ki_plan_free(c->plan);
	c->plan = NULL;
	ki_vec_free(&c->places);
	ki_tree_free(&c->chosen);
	return ret ? ret : ki_cover_begin(c, err);
}

/* The same, and what it took. */
static int install(struct ki_cover *c, const struct ki_symbol *const *syms, size_t n,
		   struct ki_err *err)
{
	uint64_t room = ki_cover_heap_free(c);
	int64_t slab = slab_bytes();
	double begin = now();
	int ret = put_all(c, syms, n, err);

	slab = slab_bytes() - slab;
	c->totals.seconds_install = now() - begin;
	c->totals.heap_bytes = room - ki_cover_heap_free(c);
	c->totals.memory_bytes =
		c->totals.heap_bytes + (slab > 0 && !ki_cover_is_process(c) ? (uint64_t)slab : 0);
	return ret;
}

int ki_cover_new(struct ki_target *t, const struct ki_symbol *const *syms, size_t n,
		 const struct ki_cover_options *o, struct ki_cover **out, struct ki_err *err)
{
	struct ki_cover *c = calloc(1, sizeof(*c));
	int ret = ki_sized(o->size, sizeof(*o), "coverage", err);

	if (ret || !c) {
		free(c);
		return ret ? ret : ki_err_set(err, -ENOMEM, 0, "coverage: out of memory");
	}
	c->t = t;
	c->o = *o;
	c->all = n;
	if (o->when && ki_predicate_inside(o->when, 0))
		ret = ki_err_set(err, -EOPNOTSUPP, 0,
				 "coverage: inside() cannot be asked for here");
	else
		ret = open_maps(c, err);
	c->minimal = !ret && !ki_cover_is_process(c) && ki_cover_can_be_still(c);
	if (!ret)
		ret = install(c, syms, n, err);
	if (ret)
		ki_cover_free(c);
	else
		*out = c;
	return ret;
}

/* ---- taking out ---- */

typedef bool probe_is(const struct ki_cover *c, const struct cover_probe *p);

/* Take out these, which are at most what a request may hold. What is hit meanwhile is not them. */
static int take_some_out(struct ki_cover *c, const uint32_t *which, uint32_t n, uint32_t *ids,
			 struct ki_err *err)
{
	int ret;

	for (uint32_t i = 0; i < n; i++)
		ids[i] = c->probes.v[which[i]].id;
	ret = n ? ki_unsplice(ki_target_fd(c->t), ids, n, err) : 0;
	for (uint32_t i = 0; !ret && i < n; i++)
		c->probes.v[which[i]].in = false;
	return ret;
}

typedef void probes_done(struct ki_cover *c, size_t done);

static int take_out(struct ki_cover *c, probe_is *is, probes_done *tell, size_t *done,
		    struct ki_err *err)
{
	const uint32_t most = 2 * PLAN_BATCH_MOST;
	uint32_t *which = malloc(2 * most * sizeof(*which)), n = 0;
	int ret = which ? 0 : ki_err_set(err, -ENOMEM, 0, "coverage: out of memory");

	*done = 0;
	for (size_t i = 0; !ret && i < c->probes.n; i++) {
		if (c->probes.v[i].in && is(c, &c->probes.v[i]))
			which[n++] = (uint32_t)i;
		if (n == most || i + 1 == c->probes.n) {
			ret = take_some_out(c, which, n, which + most, err);
			*done += ret ? 0 : n;
			n = 0;
			if (tell)
				tell(c, i + 1);
		}
	}
	free(which);
	return ret;
}

static bool is_hit(const struct ki_cover *c, const struct cover_probe *p)
{
	return ki_cover_probe_read(c, p) != 0;
}

static bool is_any(const struct ki_cover *c, const struct cover_probe *p)
{
	(void)c;
	(void)p;
	return true;
}

int ki_cover_remove_hit(struct ki_cover *c, size_t *removed, struct ki_err *err)
{
	int ret;

	*removed = 0;
	if (c->o.mode != KI_COVER_HIT || ki_cover_is_process(c))
		return ki_err_set(err, -EINVAL, 0,
				  "coverage: only hits are removed, counts and processes' go on");
	ret = take_out(c, is_hit, NULL, removed, err);
	c->totals.removed += *removed;
	return ret;
}

/* It goes on, whatever is answered. */
static void tell_removed(struct ki_cover *c, size_t done)
{
	if (c->o.progress)
		c->o.progress(c->o.arg, done, c->probes.n);
}

static int remove_all(struct ki_cover *c, probes_done *tell, struct ki_err *err)
{
	double begin = now();
	size_t n;
	int ret;

	ki_cover_collect(c);
	c->ended = true;
	ret = ki_cover_is_process(c) ? ki_cover_process_remove(c, err)
				     : take_out(c, is_any, tell, &n, err);
	c->totals.seconds_remove = now() - begin;
	return ret;
}

int ki_cover_remove(struct ki_cover *c, struct ki_err *err)
{
	return remove_all(c, tell_removed, err);
}

void ki_cover_free(struct ki_cover *c)
{
	if (!c)
		return;
	remove_all(c, NULL, NULL);
	ki_process_free(c->process);
	free(c->program);
	ki_plan_free(c->plan);
	ki_counter_map_free(c->counters);
	ki_global_map_free(c->globals);
	ki_vec_free(&c->functions);
	ki_vec_free(&c->blocks);
	ki_vec_free(&c->rules);
	ki_vec_free(&c->ways);
	ki_vec_free(&c->edges);
	ki_vec_free(&c->probes);
	ki_vec_free(&c->places);
	ki_vec_free(&c->arcs);
	free(c->begun);
	free(c->now);
	free(c->read);
	free(c);
}
