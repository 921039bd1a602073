// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Places in processes by breakpoints of the driver's: all of a process are put in at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "dlang/probe/user.h"
#include "dlang/run/run.h"
#include "kerninst/process.h"

/* Places of one process, and whose they are. */
struct gathered {
	ki_vec(struct ki_process_hit) hits;
	ki_vec(struct ki_d_user_place *) places;
};

static int gather(struct ki_dlang *d, uint32_t batch, struct gathered *g)
{
	for (size_t i = 0; i < d->probes.n; i++) {
		struct ki_d_user *u = d->probes.v[i].hook ? d->probes.v[i].hook->user : NULL;

		for (uint32_t k = 0; u && u->batch == batch && !u->shed && !u->gone && k < u->n;
		     k++) {
			const struct ki_process_hit hit = {.addr = u->places[k].addr,
							   .semaphore = u->semaphore_at};

			if (ki_vec_push(&g->hits, hit) || ki_vec_push(&g->places, &u->places[k]))
				return -ENOMEM;
		}
	}
	return 0;
}

/* What stays without a function of its own gets a uprobe (ki_d_user_open). */
static void note(const struct ki_dlang *d, const struct gathered *g)
{
	for (size_t i = 0; i < g->hits.n; i++) {
		struct ki_d_user_place *place = g->places.v[i];

		place->reason = g->hits.v[i].reason;
		if (!place->reason)
			place->stub = ki_process_stub(d->run->t, place->addr);
		if (!place->reason && !place->stub)
			place->reason = KI_R_NO_SYMBOL;
	}
}

static void refuse_all(struct gathered *g, unsigned int reason)
{
	for (size_t i = 0; i < g->hits.n; i++)
		g->hits.v[i].reason = (uint16_t)reason;
}

/* Several may stand at one place: no hit is lost while the old ones are there. */
static int put_in(struct ki_dlang *d, uint32_t batch)
{
	struct ki_d_process *p = &d->processes.v[batch];
	struct ki_splice_process *old = p->splice;
	struct gathered g = {0};
	struct ki_err why = {0};
	int ret = gather(d, batch, &g);

	p->splice = NULL;
	if (!ret && g.hits.n && !d->o.built_only)
		ret = ki_process_new_hits(p->t, g.hits.v, g.hits.n, &p->splice, &why);
	ki_process_free(old);
	if (ret && ret != -ENOMEM) {
		refuse_all(&g, why.reason ? why.reason : KI_R_NOT_IN_PROCESS);
		ret = 0;
	}
	if (!ret)
		note(d, &g);
	ki_vec_free(&g.hits);
	ki_vec_free(&g.places);
	return ret;
}

/* Has one of its places with a breakpoint been shed since the last time? */
static bool any_shed(struct ki_dlang *d, uint32_t batch)
{
	bool any = false;

	for (size_t i = 0; i < d->probes.n; i++) {
		struct ki_d_user *u = d->probes.v[i].hook ? d->probes.v[i].hook->user : NULL;

		for (uint32_t k = 0; u && u->batch == batch && u->shed && k < u->n; k++) {
			any |= u->places[k].stub != NULL;
			u->places[k].stub = NULL;
		}
	}
	return any;
}

int ki_d_users_put(struct ki_dlang *d, uint32_t batch, struct ki_err *err)
{
	return !d->set.uprobes && put_in(d, batch) ? ki_d_no_memory(err) : 0;
}

int ki_d_users_begin(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < d->processes.n; i++)
		ret = ki_d_users_put(d, i, err);
	return ret;
}

int ki_d_users_shed(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < d->processes.n; i++)
		if (d->processes.v[i].splice && any_shed(d, i))
			ret = ki_d_users_put(d, i, err);
	return ret;
}

void ki_d_users_end(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->processes.n; i++) {
		ki_process_free(d->processes.v[i].splice);
		d->processes.v[i].splice = NULL;
	}
}

const struct ki_symbol *ki_d_hook_symbol(const struct ki_d_probe *p, uint32_t place)
{
	const struct ki_d_user *u = p->hook ? p->hook->user : NULL;

	return u && u->places[place].stub ? u->places[place].stub : p->sym;
}

size_t ki_dlang_places(const struct ki_dlang *d, bool by_driver, unsigned int reason)
{
	size_t n = 0;

	for (size_t i = 0; i < d->probes.n; i++) {
		const struct ki_d_user *u = d->probes.v[i].hook ? d->probes.v[i].hook->user : NULL;

		for (uint32_t k = 0; u && k < u->n; k++)
			n += u->places[k].reason == reason && by_driver == !!u->places[k].stub;
	}
	return n;
}
