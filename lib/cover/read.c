// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reading: what probes say, and what that says of blocks without one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cover/coverage.h"
#include "cover/live.h"

uint64_t ki_cover_probe_read(const struct ki_cover *c, const struct cover_probe *p)
{
	if (ki_cover_is_process(c))
		return ki_cover_process_read(c, p);
	if (p->still)
		return c->now[p->slot] - c->begun[p->slot];
	if (c->o.mode == KI_COVER_HIT && !c->o.when)
		return ki_global_read(c->globals, p->slot / 8) >> p->slot % 8 * 8 & 0xff;
	if (p->slot & SLOT_GLOBAL)
		return ki_global_read(c->globals, p->slot & ~SLOT_GLOBAL);
	return ki_counter_read(c->counters, p->slot);
}

static void infer(const struct ki_cover *c, const struct cover_function *f,
		  struct ki_cover_block *blocks)
{
	struct ki_inference in = {
		.nblocks = f->nblocks,
		.nedges = f->nways,
		.counting = c->o.mode != KI_COVER_HIT,
		.rules = c->rules.v + f->first_block,
		.edges = c->ways.v + f->first_way,
		.blocks = blocks + f->first_block,
	};

	ki_cover_infer(&in);
}

/* Everything while a coverage is made of it. */
struct reading {
	struct ki_cover_block *blocks;
	ki_vec(struct ki_cover_edge) edges; /* all of the measurement */
};

static void read_probes(const struct ki_cover *c, struct reading *r)
{
	for (size_t i = 0; i < c->probes.n; i++) {
		const struct cover_probe *p = &c->probes.v[i];

		if (p->edge && c->edges.v[p->of].rule == KI_EDGE_PROBE)
			r->edges.v[p->of].count = ki_cover_probe_read(c, p);
		else if (!p->edge && r->blocks[p->of].how == KI_COVER_PROBED)
			r->blocks[p->of].count = ki_cover_probe_read(c, p);
	}
}

static void read_edges(const struct ki_cover *c, const struct cover_function *f, struct reading *r)
{
	for (uint32_t i = f->first_edge; i < f->first_edge + f->nedges; i++) {
		const struct cover_edge *e = &c->edges.v[i];
		struct ki_cover_edge *out = &r->edges.v[i];
		const struct ki_cover_block *b =
			&r->blocks[f->first_block + (e->rule == KI_EDGE_TARGET ? e->to : e->from)];

		out->from = e->from;
		out->to = e->to;
		out->kind = e->kind;
		out->how = e->rule == KI_EDGE_PROBE	? KI_COVER_PROBED
			   : e->rule == KI_EDGE_NONE	? KI_COVER_UNKNOWN
			   : e->rule == KI_EDGE_FLOW	? KI_COVER_UNKNOWN
			   : b->how == KI_COVER_UNKNOWN ? KI_COVER_UNKNOWN
							: KI_COVER_IMPLIED;
		if (out->how == KI_COVER_IMPLIED)
			out->count = b->count;
	}
}

/* A function as it is known now. */
static int append(const struct ki_cover *c, const struct cover_function *f, struct reading *r,
		  struct ki_coverage *out, struct ki_err *err)
{
	const struct ki_cover_function is = {
		.name = f->sym->name,
		.module = *f->sym->module ? f->sym->module : NULL,
		.addr = f->sym->addr,
		.size = f->size,
		.reason = f->reason,
		.nblocks = f->nblocks,
		.nedges = f->nedges,
	};

	infer(c, f, r->blocks);
	read_edges(c, f, r);
	if (f->tree.narcs && ki_cover_follow(c, f, r->blocks, r->edges.v))
		return ki_err_set(err, -ENOMEM, 0, "coverage: out of memory");
	return ki_coverage_append(out, &is, r->blocks + f->first_block, r->edges.v + f->first_edge,
				  err);
}

static int fill(const struct ki_cover *c, struct reading *r, struct ki_coverage *out,
		struct ki_err *err)
{
	struct utsname u;
	int ret = 0;

	memcpy(r->blocks, c->blocks.v, c->blocks.n * sizeof(*r->blocks));
	memset(r->edges.v, 0, (c->edges.n + 1) * sizeof(*r->edges.v));
	read_probes(c, r);
	for (size_t i = 0; !ret && i < c->functions.n; i++)
		ret = append(c, &c->functions.v[i], r, out, err);
	if (!ret && !uname(&u)) {
		out->release = ki_coverage_intern(out, u.release);
		out->version = ki_coverage_intern(out, u.version);
	}
	out->program = ki_coverage_intern(out, c->program);
	out->totals = c->totals;
	ki_coverage_total(out);
	return ret;
}

int ki_cover_read(struct ki_cover *c, struct ki_coverage **res, struct ki_err *err)
{
	struct reading r = {.blocks = malloc((c->blocks.n + 1) * sizeof(*r.blocks))};
	struct ki_coverage *out = NULL;
	int ret = ki_coverage_new(c->o.mode, &out, err);

	ki_cover_collect(c);
	if (!ret && (!r.blocks || ki_vec_reserve(&r.edges, c->edges.n + 1)))
		ret = ki_err_set(err, -ENOMEM, 0, "coverage: out of memory");
	if (!ret)
		ret = fill(c, &r, out, err);
	free(r.blocks);
	ki_vec_free(&r.edges);
	if (ret)
		ki_coverage_free(out);
	else
		*res = out;
	return ret;
}
