// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Replacements of one plan must not lead in a circle: of the kernel's the driver looks at it
 * (kmod/splice/circle.c), of a process's nobody else does. Those of other tools need no look: a
 * function that one of them has changed is refused as a whole.
 *
 * From each function to what stands for it: what leads to a function that nothing stands for is
 * harmless, and what leads to that. What is left when no more is found ends in a circle.
 */
#include <errno.h>
#include <stdlib.h>

#include "process/judge.h"
#include "util/search.h"
#include "util/vec.h"

struct arc {
	uint64_t from, to; /* functions */
	uint32_t chunk;
	bool harmless;
};

typedef ki_vec(struct arc) arcs;

static uint64_t function_of(const struct ki_target *t, uint64_t addr)
{
	const struct ki_symbol *sym = ki_target_symbol_at(t, addr);

	return sym ? sym->addr : addr;
}

static int by_origin(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static int gather(const struct ki_plan *p, const struct ki_target *t, arcs *a)
{
	for (uint32_t i = 0; i < p->chunks.n; i++) {
		const struct ki_chunk *c = &p->chunks.v[i].c;
		struct arc arc = {.to = c->target, .chunk = i};

		if (c->kind != KI_CHUNK_REPLACE || c->reason)
			continue;
		arc.from = function_of(t, p->windows.v[c->window].addr);
		arc.to = function_of(t, c->target);
		if (ki_vec_push(a, arc))
			return -ENOMEM;
	}
	if (a->n)
		qsort(a->v, a->n, sizeof(*a->v), by_origin);
	return 0;
}

/* Is all that stands for the function harmless? */
static bool ends(const arcs *a, uint64_t function)
{
	size_t i = KI_FIRST(k, a->n, a->v[k].from >= function);

	for (; i < a->n && a->v[i].from == function; i++)
		if (!a->v[i].harmless)
			return false;
	return true;
}

int ki_circle_refuse(struct ki_plan *p, const struct ki_target *t)
{
	arcs a = {0};
	int ret = gather(p, t, &a);
	bool more = !ret;

	while (more) {
		more = false;
		for (size_t i = 0; i < a.n; i++)
			if (!a.v[i].harmless && ends(&a, a.v[i].to))
				more = a.v[i].harmless = true;
	}
	for (size_t i = 0; !ret && i < a.n; i++)
		if (!a.v[i].harmless)
			ki_bundle_refuse(p, a.v[i].chunk, KI_R_REPLACE_CIRCLE);
	ki_vec_free(&a);
	return ret;
}
