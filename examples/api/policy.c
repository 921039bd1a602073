// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy of one's own for a kernel that goes on to improve itself: blocks stand as control goes
 * most often, from the entry on. That is tried, and kept if it is better. In the end it is out.
 *
 * usage: policy SECONDS
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/evolve.h"

static double left; /* seconds */

static bool wait_for(void *arg, double seconds)
{
	(void)arg;
	left -= seconds;
	usleep((useconds_t)(1e6 * (left < 0 ? seconds + left : seconds)));
	return left > 0;
}

/* The order: the hottest way on from each block, then from the first that is left. */
static int hottest_way(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot)
{
	bool *placed = calloc(g->nblocks + 1, sizeof(*placed));
	uint32_t n = 0;

	if (!placed)
		return -ENOMEM;
	for (uint32_t first = 0; first < g->nblocks; first++) {
		uint32_t b = first;

		while (b < g->nblocks && !placed[b] && (!b || g->blocks[b].count > hot)) {
			const struct ki_lay_edge *best = NULL, *e = g->edges;

			placed[b] = true;
			order[n++] = b;
			for (; e < g->edges + g->nedges; e++)
				if (e->from == b && !placed[e->to] &&
				    (!best || e->count > best->count))
					best = e;
			b = best ? best->to : g->nblocks;
		}
	}
	*nhot = n;
	for (uint32_t b = 0; b < g->nblocks; b++)
		if (!placed[b])
			order[n++] = b;
	free(placed);
	return 0;
}

/* Functions of one cache line gain nothing: -ENODATA without a text. Others: that order. */
static int propose(const struct ki_evolve_case *c, struct ki_evolve_idea *out, struct ki_err *err)
{
	int ret = c->hot->sym->size > 64 ? ki_evolve_propose_layout(c, out, err) : -ENODATA;

	if (!ret)
		out->what = "the hottest way";
	return ret;
}

static void tell(void *arg, const struct ki_evolve_notice *n)
{
	(void)arg;
	if (n->verdict)
		printf("%s: %s: %+.2f %% to %+.2f %%: %s\n", n->sym->name, n->what,
		       100 * n->verdict->low, 100 * n->verdict->high,
		       n->news == KI_EVOLVE_KEPT ? "kept" : "not kept");
}

int main(int argc, char **argv)
{
	static ki_evolve_policy *const policies[] = {propose};
	const struct ki_evolve_service s = {
		.choice = {.policy = hottest_way, .hot = 20},
		.policies = policies,
		.npolicies = 1,
		.search = {.n = 4, .seconds = 0.5, .wait = wait_for},
		.seconds = 0.5, /* of a profile */
		.trial = {.windows = 3, .seconds = 0.2, .wait = wait_for},
		.budget = 0.3,
		.again = 10,
		.tell = tell,
	};
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = ki_target_new_live(&t, &err);

	left = argc > 1 ? atof(argv[1]) : 10;
	if (!ret)
		ret = ki_evolve_serve(t, &s, &err);
	if (ret)
		fprintf(stderr, "policy: %s\n", err.msg);
	ki_target_free(t);
	return ret != 0;
}
