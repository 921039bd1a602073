// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function's control-flow graph: its blocks, where each leads, its loops, and whom it calls.
 *
 * usage: graph [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>

#include "kerninst/cfg.h"

static void show_edge(const struct ki_function *fn, const struct ki_edge *e)
{
	const struct ki_symbol *to = e->to ? ki_target_symbol_at(fn->target, e->to) : NULL;

	printf(" %s", ki_edge_kind_name(e->kind));
	if (e->to_block != KI_NONE)
		printf(":%u", e->to_block);
	else if (to)
		printf(":%s", to->name);
}

static void show(const struct ki_cfg *cfg)
{
	const struct ki_function *fn = cfg->fn;

	for (uint32_t i = 0; i < fn->nblocks; i++) {
		const struct ki_block *b = &fn->blocks[i];

		printf("block %u +0x%llx..+0x%llx ->", i,
		       (unsigned long long)(b->start - fn->start),
		       (unsigned long long)(b->end - fn->start));
		for (uint32_t e = 0; e < b->nedges; e++)
			show_edge(fn, &fn->edges[b->first_edge + e]);
		printf("\n");
	}
	for (uint32_t i = 0; i < cfg->nloops; i++)
		printf("loop at block %u, depth %u, %u blocks%s\n", cfg->loops[i].header,
		       cfg->loops[i].depth, cfg->loops[i].nblocks,
		       cfg->loops[i].irreducible ? ", entered elsewhere too" : "");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[argc - 1] : "";
	const struct ki_symbol *sym = NULL;
	struct ki_function *fn = NULL;
	struct ki_cfg *cfg = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = argc > 2 ? ki_target_new_process(atoi(argv[1]), &t, &err)
			   : ki_target_new_live(&t, &err);

	if (!ret)
		sym = ki_target_symbol_named(t, NULL, name, NULL);
	if (!ret && !sym)
		ret = ki_err_set(&err, -1, 0, "no function '%s'", name);
	if (!ret)
		ret = ki_function_analyze(t, sym, &fn, &err);
	if (!ret)
		ret = ki_cfg_new(fn, &cfg, &err);
	if (ret)
		fprintf(stderr, "graph: %s\n", err.msg);
	else
		show(cfg);
	ki_cfg_free(cfg);
	ki_function_free(fn);
	ki_target_free(t);
	return ret != 0;
}
