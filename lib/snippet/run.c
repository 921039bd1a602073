// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The interpreter: what a snippet means, step by step over a model machine. Each kind of node says
 * its own (node/); it shares the meaning of operators with the builders (arith.c), and nothing with
 * the code generator.
 */
#include "snippet/node.h"

uint64_t ki_run_node(const struct run *r, const struct ki_node *n)
{
	return ki_ops(n)->run(r, n);
}

void ki_run_args(const struct run *r, const struct ki_node *n, uint64_t *a)
{
	for (unsigned int i = 0; i < n->nkids; i++)
		a[i] = ki_run_node(r, n->kid[i]);
}

unsigned int ki_run_words(const struct run *r, const struct ki_node *parent, unsigned int n,
			  uint64_t *v)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct ki_node *kid = parent->kid[i];

		if (kid->width)
			ki_ops(kid)->run_words(r, kid, v + at);
		else
			v[at] = ki_run_node(r, kid);
		at += ki_node_words(kid);
	}
	return at;
}

uint64_t ki_run_load(const struct run *r, uint64_t addr, unsigned int size)
{
	uint64_t v = r->m->load ? r->m->load(r->m->arg, addr, size) : 0;

	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

uint64_t *ki_run_slot(const struct run *r, const struct ki_node *n, uint64_t index)
{
	struct ki_machine *m = r->m;
	const struct {
		uint64_t *v;
		uint32_t n;
	} banks[KI_VAR_KINDS] = {
		[KI_VAR_CPU] = {m->counters, m->ncounters},
		[KI_VAR_GLOBAL] = {m->globals, m->nglobals},
		[KI_VAR_THREAD] = {m->thread, m->nthread},
		[KI_VAR_LOCAL] = {r->locals, KI_LOCALS},
	};
	uint64_t at = n->var.first + index;

	if (index && index >= n->var.count)
		return NULL;
	return at < banks[n->var.kind].n ? &banks[n->var.kind].v[at] : NULL;
}

void ki_run_count(const struct run *r, const struct ki_node *n, uint32_t bucket)
{
	uint64_t *slot = ki_run_slot(r, n, bucket);

	if (slot)
		(*slot)++;
}

bool ki_run_left_out(const struct run *r, const struct ki_node *n)
{
	return n->unless && r->locals[n->unless - 1];
}

int ki_snippet_run(const struct ki_snippet *s, const struct ki_site_regs *site,
		   struct ki_machine *m, struct ki_err *err)
{
	static const struct ki_site_regs nowhere;
	uint64_t locals[KI_LOCALS] = {0};
	struct run r = {.m = m, .site = site ? site : &nowhere, .locals = locals};
	int ret = ki_snippet_check(s, r.site, err);

	if (!ret)
		ki_run_node(&r, s->body);
	return ret;
}
