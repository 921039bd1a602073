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

static int gather(struct ki_dlang *d, pid_t pid, struct gathered *g)
{
	for (size_t i = 0; i < d->probes.n; i++) {
		struct ki_d_user *u = d->probes.v[i].hook ? d->probes.v[i].hook->user : NULL;

		for (uint32_t k = 0; u && u->pid == pid && !u->shed && k < u->n; k++) {
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

static int put_in(struct ki_dlang *d, struct ki_d_process *p)
{
	struct gathered g = {0};
	struct ki_err why = {0};
	int ret = gather(d, p->pid, &g);

	if (!ret && g.hits.n && !d->o.built_only)
		ret = ki_process_new_hits(p->t, g.hits.v, g.hits.n, &p->splice, &why);
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
static bool any_shed(struct ki_dlang *d, pid_t pid)
{
	bool any = false;

	for (size_t i = 0; i < d->probes.n; i++) {
		struct ki_d_user *u = d->probes.v[i].hook ? d->probes.v[i].hook->user : NULL;

		for (uint32_t k = 0; u && u->pid == pid && u->shed && k < u->n; k++) {
			any |= u->places[k].stub != NULL;
			u->places[k].stub = NULL;
		}
	}
	return any;
}

int ki_d_users_begin(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && !d->set.uprobes && i < d->processes.n; i++)
		ret = put_in(d, &d->processes.v[i]);
	return ret ? ki_d_no_memory(err) : 0;
}

int ki_d_users_shed(struct ki_dlang *d, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < d->processes.n; i++) {
		struct ki_d_process *p = &d->processes.v[i];

		if (!p->splice || !any_shed(d, p->pid))
			continue;
		ki_process_free(p->splice);
		p->splice = NULL;
		ret = put_in(d, p);
	}
	return ret ? ki_d_no_memory(err) : 0;
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
