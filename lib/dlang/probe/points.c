// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * insn, block, edge and call: places inside of functions. There are millions, so only functions
 * that a description names are looked into, each once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/probe.h"

#define NAME 64

struct listing {
	struct ki_d_match *m;
	const struct ki_function *fn;
	struct ki_d_listed *to;
};

static int add(struct listing *l, struct ki_point at, const char *name)
{
	struct ki_d_spot p = {.at = at, .name = strdup(name)};

	if (p.name && !ki_vec_push(&l->to->places, p))
		return 0;
	free(p.name);
	return ki_d_no_memory(l->m->err);
}

static int list_insns(struct listing *l)
{
	char name[NAME];
	int ret = 0;

	for (uint32_t i = 0; !ret && i < l->fn->ninsns; i++) {
		const struct ki_insn *in = &l->fn->insns[i];
		struct ki_point at = {.kind = KI_POINT_INSN, .addr = in->addr};

		if (!i) /* nothing of it can be moved where ftrace writes */
			at = (struct ki_point){.kind = KI_POINT_ENTRY};

		snprintf(name, sizeof(name), "%" PRIx64, in->addr - l->fn->start);
		if (in->kind != KI_INSN_PAD)
			ret = add(l, at, name);
	}
	return ret;
}

static int list_blocks(struct listing *l)
{
	char name[NAME];
	int ret = 0;

	for (uint32_t i = 0; !ret && i < l->fn->nblocks; i++) {
		snprintf(name, sizeof(name), "%" PRIu32, i);
		ret = add(l, (struct ki_point){.kind = KI_POINT_BLOCK, .block = i}, name);
	}
	return ret;
}

static int list_edges(struct listing *l)
{
	char name[NAME];
	int ret = 0;

	for (uint32_t i = 0; !ret && i < l->fn->nedges; i++) {
		const struct ki_edge *e = &l->fn->edges[i];

		if (e->to_block == KI_NONE)
			snprintf(name, sizeof(name), "%" PRIu32 "-%s", e->block,
				 ki_edge_kind_name(e->kind));
		else
			snprintf(name, sizeof(name), "%" PRIu32 "-%" PRIu32, e->block, e->to_block);
		ret = add(l, (struct ki_point){.kind = KI_POINT_EDGE, .edge = i}, name);
	}
	return ret;
}

static int list_calls(struct listing *l)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < l->fn->nedges; i++) {
		const struct ki_edge *e = &l->fn->edges[i];
		const bool named = e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_TAIL;
		const struct ki_symbol *to = named ? ki_target_symbol_at(l->m->t, e->to) : NULL;

		if (to || e->kind == KI_EDGE_CALL_INDIRECT || e->kind == KI_EDGE_TAIL_INDIRECT)
			ret = add(l, (struct ki_point){.kind = KI_POINT_EDGE, .edge = i},
				  to ? to->name : "indirect");
	}
	return ret;
}

static const struct {
	const char *provider;
	int (*list)(struct listing *l);
} kinds[] = {
	{"insn", list_insns}, {"block", list_blocks}, {"edge", list_edges}, {"call", list_calls}};

/* All places of a function. NULL: out of memory. One that cannot be analysed has none. */
static struct ki_d_listed *list(struct ki_d_match *m, const struct ki_d_provider *self,
				const struct ki_symbol *sym)
{
	struct ki_d_listed new = {.provider = self, .sym = sym};
	struct listing l = {.m = m};
	struct ki_function *fn = NULL;
	struct ki_err ignored = {0};
	int ret = 0;

	for (size_t i = 0; i < m->listed.n; i++)
		if (m->listed.v[i].provider == self && m->listed.v[i].sym == sym)
			return &m->listed.v[i];
	if (ki_vec_push(&m->listed, new))
		return NULL;
	l.to = &m->listed.v[m->listed.n - 1];
	if (ki_function_analyze(m->t, sym, &fn, &ignored))
		return ignored.code == -ENOMEM ? NULL : l.to;
	l.fn = fn;
	for (size_t i = 0; !ret && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].provider, self->name))
			ret = kinds[i].list(&l);
	ki_function_free(fn);
	return ret ? NULL : l.to;
}

static int found(struct ki_d_match *m, struct ki_d_listed *in, struct ki_d_spot *p)
{
	struct ki_d_probe probe = {
		.provider = in->provider,
		.sym = in->sym,
		.module = *in->sym->module ? in->sym->module : KI_D_KERNEL,
		.function = in->sym->name,
		.id = (uint32_t)(KI_D_FIRST_FUNCTION +
				 2 * KI_D_FUNCTION_PROVIDERS * (m->nsymbols + 1) + m->d->probes.n)};

	if (!p->probe) {
		probe.owned = strdup(p->name);
		probe.name = probe.owned;
		probe.point = malloc(sizeof(*probe.point));
		if (probe.point)
			*probe.point = p->at;
		if (!probe.owned || !probe.point || ki_vec_push(&m->d->probes, probe)) {
			free(probe.owned);
			free(probe.point);
			return ki_d_no_memory(m->err);
		}
		p->probe = (uint32_t)m->d->probes.n;
	}
	return ki_d_found_again(m, p->probe - 1);
}

static int in_function(struct ki_d_match *m, const struct ki_d_provider *self,
		       const struct ki_symbol *sym)
{
	const char *name = m->pattern->field[3];
	struct ki_d_listed *l = list(m, self, sym);
	int ret = l ? 0 : ki_d_no_memory(m->err);

	if (self->number) { /* offsets: +0x1c is 1c */
		name += *name == '+';
		name += !strncmp(name, "0x", 2) ? 2 : 0;
	}
	for (size_t i = 0; !ret && i < l->places.n; i++)
		if (ki_d_field_matches(name, l->places.v[i].name))
			ret = found(m, l, &l->places.v[i]);
	return ret;
}

/* A description that names no such provider means none of its probes. */
int ki_d_find_points(struct ki_d_match *m, const struct ki_d_provider *self)
{
	const struct ki_symbol *all;
	size_t n;
	int ret = 0;

	if (strcmp(m->pattern->field[0], self->name) != 0)
		return 0;
	if (!*m->pattern->field[2])
		return ki_d_fail(m->d, m->err, m->pattern->at, "D_PDESC_INVAL",
				 "%s: name the function: %s::vfs_read:", self->name, self->name);
	all = ki_target_symbols(m->t, &n);
	for (size_t i = 0; !ret && i < n; i++)
		if (!all[i].alias && strncmp(all[i].name, "__pfx_", 6) != 0 &&
		    ki_d_field_matches(m->pattern->field[2], all[i].name) &&
		    ki_d_field_matches(m->pattern->field[1],
				       *all[i].module ? all[i].module : KI_D_KERNEL))
			ret = in_function(m, self, &all[i]);
	return ret;
}

void ki_d_listed_free(struct ki_d_match *m)
{
	for (size_t i = 0; i < m->listed.n; i++) {
		for (size_t k = 0; k < m->listed.v[i].places.n; k++)
			free(m->listed.v[i].places.v[k].name);
		ki_vec_free(&m->listed.v[i].places);
	}
	ki_vec_free(&m->listed);
}
