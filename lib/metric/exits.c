// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where a function's callers get control back. Compilers move what is seldom executed away, into a
 * cold part with a symbol of its own, and one in seven of these returns by itself. Counting may
 * leave them out; what ends something must not: a return that is not seen leaves the thread's word
 * as it is, and all its later calls would be inside that one.
 */
#include <stdlib.h>
#include <string.h>

#include "code/function/function.h"
#include "metric/measure.h"

/* In a process nothing comes back after a tail jump: there the jump is the end. */
static enum ki_point_kind exit_kind(const struct ask *a)
{
	return ki_measure_in_process(a->m) || a->m->told ? KI_POINT_EXIT : KI_POINT_EXIT_AFTER;
}

/* The function's cold part that an edge leads to; NULL. */
static const struct ki_symbol *cold_part(const struct ki_function *fn, const struct ki_edge *e)
{
	const struct ki_symbol *sym;
	size_t n = fn->symbol ? strlen(fn->symbol->name) : 0;

	if (!n || !e->to || (e->to >= fn->start && e->to < fn->end))
		return NULL;
	sym = ki_target_symbol_at(fn->target, e->to);
	return sym && sym->addr != fn->start && ki_symbol_is_cold(sym) &&
			       !strncmp(sym->name, fn->symbol->name, n)
		       ? sym
		       : NULL;
}

static int find_in_cold(const struct ask *a, const struct ki_symbol *sym, struct exits *out)
{
	struct ask own = *a;
	int ret = ki_function_analyze(a->fn->target, sym, &out->cold, a->err);

	if (!ret)
		ret = ki_spans_find(out->cold, &out->spans, a->err);
	own.fn = out->cold;
	own.spans = &out->spans;
	return ret ? ret : ki_measure_places(&own, exit_kind(a), &out->cold_at);
}

int ki_exits_find(const struct ask *a, struct exits *out)
{
	const struct ki_symbol *cold = NULL, *next;
	int ret = ki_measure_places(a, exit_kind(a), &out->at);

	for (uint32_t e = 0; !ret && e < a->fn->nedges; e++) {
		next = cold_part(a->fn, &a->fn->edges[e]);
		if (cold && next && next->addr != cold->addr)
			ret = ki_err_reason(a->err, KI_R_TAIL_UNKNOWN, next->addr, "%s",
					    next->name);
		cold = cold ? cold : next;
	}
	return !ret && cold ? find_in_cold(a, cold, out) : ret;
}

struct ask ki_exits_cold(const struct ask *a, const struct exits *e)
{
	struct ask own = *a;

	own.fn = e->cold;
	own.spans = &e->spans;
	return own;
}

int ki_exits_put(const struct ask *a, struct code *c, const struct exits *e, uint16_t order)
{
	const struct ask own = ki_exits_cold(a, e);
	int ret = ki_code_put(a, c, &e->at, order);

	return ret || !e->cold_at.n ? ret : ki_code_put(&own, c, &e->cold_at, order);
}

void ki_exits_free(struct exits *e)
{
	free(e->at.v);
	free(e->cold_at.v);
	ki_spans_free(&e->spans);
	ki_function_free(e->cold);
}
