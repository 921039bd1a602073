// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The graph of a search: functions that were or are in question, and who calls them. */
#include "crosswalk/walk.h"

#include <string.h>

static const char *const hows[] = {"root", "call", "pointer", "stack", "syscall", "fault"};
static const char *const truths[] = {"open", "true", "false", "refused"};

const char *ki_crosswalk_how_name(unsigned int how)
{
	return how < sizeof(hows) / sizeof(*hows) ? hows[how] : "?";
}

const char *ki_crosswalk_truth_name(unsigned int truth)
{
	return truth < sizeof(truths) / sizeof(*truths) ? truths[truth] : "?";
}

void ki_crosswalk_graph_free(struct ki_crosswalk_graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		free(g->nodes.v[i].name);
		free(g->nodes.v[i].module);
		free(g->nodes.v[i].threads);
	}
	ki_vec_free(&g->nodes);
	ki_vec_free(&g->edges);
}

uint32_t ki_crosswalk_find(const struct ki_crosswalk_graph *g, bool kernel, uint64_t addr)
{
	for (uint32_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.v[i].addr == addr && g->nodes.v[i].kernel == kernel)
			return i;
	return KI_NONE;
}

static bool is_known(const struct ki_crosswalk_graph *g, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < g->edges.n; i++)
		if (g->edges.v[i].from == from && g->edges.v[i].to == to)
			return true;
	return false;
}

static int add_node(struct ki_crosswalk_graph *g, const struct ki_symbol *sym, bool kernel,
		    uint32_t level)
{
	struct ki_crosswalk_node n = {.name = strdup(sym->name),
				      .module =
					      strdup(kernel ? ki_symbol_module(sym) : sym->module),
				      .addr = sym->addr,
				      .kernel = kernel,
				      .level = level};

	if (n.name && n.module && !ki_vec_push(&g->nodes, n))
		return 0;
	free(n.name);
	free(n.module);
	return -ENOMEM;
}

int ki_crosswalk_add(struct ki_crosswalk_graph *g, const struct ki_symbol *sym, bool kernel,
		     const struct ki_crosswalk_seen *by)
{
	const uint32_t from = by->from;
	const uint32_t level = from == KI_NONE ? 0 : g->nodes.v[from].level + 1;
	uint32_t to = ki_crosswalk_find(g, kernel, sym->addr);
	int ret = 0;

	if (to == KI_NONE) {
		to = (uint32_t)g->nodes.n;
		ret = add_node(g, sym, kernel, level);
	}
	if (ret || is_known(g, from, to))
		return ret;
	return ki_vec_push(&g->edges,
			   (struct ki_crosswalk_edge){from, to, (uint8_t)by->how, by->site});
}

void ki_crosswalk_conclude(struct ki_crosswalk_node *n, double threshold)
{
	n->truth = n->share >= threshold ? KI_CROSSWALK_TRUE : KI_CROSSWALK_FALSE;
}

void ki_crosswalk_refuse(struct ki_crosswalk_node *n, unsigned int reason)
{
	n->truth = KI_CROSSWALK_REFUSED;
	n->reason = (uint16_t)reason;
}

void ki_crosswalk_mark_last(struct ki_crosswalk_graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++)
		g->nodes.v[i].is_last = g->nodes.v[i].truth == KI_CROSSWALK_TRUE;
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct ki_crosswalk_edge *e = &g->edges.v[i];

		if (e->from != KI_NONE && e->from != e->to &&
		    g->nodes.v[e->to].truth == KI_CROSSWALK_TRUE)
			g->nodes.v[e->from].is_last = false;
	}
}
