// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clauses that are the same code at all functions: they are compiled once for each set of registers
 * that are free, and not tens of thousands of times.
 *
 * Of most clauses that is not known: what they record says which probe it was, what they read may
 * be a parameter. Here are those of which nothing is about their place, and nothing else: counts
 * without a key and without a predicate.
 */
#include <string.h>

#include "dlang/run/run.h"
#include "dlang/words/names.h"

static bool counts(const struct ki_d_clause *c)
{
	const struct ki_d_node *n = c->body;

	return n && !n->next && !c->predicate && n->kind == KI_D_AGG && !n->kid[0] &&
	       ki_d_agg_kind(n->sym.agg) == KI_D_COUNT && !n->sym.agg->weighted;
}

static bool is_alike(const struct ki_dlang *d, const struct ki_d_site *site)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];

	if (p->hook || site->is_trigger || site->keeps || site->to || site->meter ||
	    site->regs->user || d->o.listing || d->o.built_only)
		return false;
	for (uint32_t i = p->first; i < p->first + p->n; i++)
		if (!counts(&d->clauses.v[d->uses.v[i]]))
			return false;
	return p->n;
}

static bool serves(const struct ki_dlang *d, const struct ki_d_alike *a,
		   const struct ki_d_site *site, const struct ki_plan *plan)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];

	return a->plan == plan && a->dead == site->regs->dead && a->n == p->n &&
	       !memcmp(&d->uses.v[a->first], &d->uses.v[p->first], p->n * sizeof(*d->uses.v));
}

const struct ki_d_alike *ki_d_alike_find(const struct ki_dlang *d, const struct ki_d_site *site,
					 const struct ki_plan *plan)
{
	const struct ki_d_run *r = d->run;

	for (unsigned int i = 0; i < r->nalike && is_alike(d, site); i++)
		if (serves(d, &r->alike[i], site, plan))
			return &r->alike[i];
	return NULL;
}

void ki_d_alike_note(struct ki_dlang *d, const struct ki_d_site *site, const struct ki_plan *plan,
		     uint32_t chunk)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];

	if (d->run->nalike == KI_D_ALIKE || !is_alike(d, site))
		return;
	d->run->alike[d->run->nalike++] =
		(struct ki_d_alike){plan, chunk, p->first, p->n, site->regs->dead};
}
