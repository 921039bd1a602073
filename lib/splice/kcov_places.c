// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What of functions records itself for KCOV: see kerninst/kcov_places.h. */
#include "kerninst/kcov_places.h"

#include <errno.h>
#include <stdlib.h>

#include "kerninst/kcov.h"
#include "util/vec.h"

/* A function whose places are added, and its windows. */
struct adding {
	struct ki_kcov_places *p;
	const struct ki_function *fn;
	struct ki_spans spans;
};

/* What is asked for: a point, where it is for KCOV, and what is compared there. */
struct wanted {
	struct ki_point pt;
	uint64_t addr;
	enum ki_kcov_kind kind;
	struct ki_insn_comparison cmp;
};

static int make_code(const struct wanted *w, const struct ki_site_regs *site,
		     struct ki_long_code *out, struct ki_err *err)
{
	return w->kind == KI_KCOV_BLOCK
		       ? ki_snippet_kcov(w->addr, site, out, err)
		       : ki_snippet_kcov_comparison(w->addr, &w->cmp, site, out, err);
}

static int add_at(struct adding *a, const struct wanted *w, const struct ki_place *place,
		  struct ki_err *err)
{
	struct ki_kcov_place at = {.addr = w->addr, .kind = w->kind};
	struct ki_site_regs site;
	struct ki_long_code code;
	int ret;

	if (place->reason)
		return ki_err_reason(err, place->reason, w->addr, "KCOV");
	if (ki_vec_reserve(a->p, 1))
		return ki_err_set(err, -ENOMEM, w->addr, "out of memory");
	ki_place_site(a->fn, place, NULL, &site);
	ret = make_code(w, &site, &code, err);
	if (ret)
		return ret;
	ret = ki_plan_add_code(a->p->plan, &(struct ki_insertion){a->fn, &a->spans, place, 0},
			       &code, &at.id, err);
	ki_long_code_free(&code);
	if (!ret)
		a->p->v[a->p->n++] = at;
	return ret;
}

static int add(struct adding *a, const struct wanted *w, struct ki_err *err)
{
	struct ki_place *place;
	size_t n;
	int ret = ki_point_places(a->fn, &a->spans, &w->pt, &place, &n, err);

	if (!ret) {
		ret = add_at(a, w, place, err);
		free(place);
	}
	if (!ret || !err->reason || ret == -ENOMEM)
		return ret;
	a->p->refused[err->reason]++;
	*err = (struct ki_err){0};
	return 0;
}

static int add_blocks(struct adding *a, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < a->fn->nblocks; i++) {
		const struct wanted w = {.pt = {.kind = KI_POINT_BLOCK, .block = i},
					 .addr = a->fn->blocks[i].start};

		ret = add(a, &w, err);
	}
	return ret;
}

static int add_comparisons(struct adding *a, struct ki_err *err)
{
	struct wanted w = {.pt = {.kind = KI_POINT_INSN}, .kind = KI_KCOV_COMPARISON};
	int ret = 0;

	for (uint32_t i = 0; !ret && i < a->fn->ninsns; i++) {
		if (!ki_insn_compares(a->fn, &a->fn->insns[i], &w.cmp))
			continue;
		w.addr = w.pt.addr = a->fn->insns[i].addr;
		a->p->asked[KI_KCOV_COMPARISON]++;
		ret = add(a, &w, err);
	}
	return ret;
}

/* Smaller functions are not worth it. */
#define MOVING_BLOCKS 4

int ki_kcov_add_function(struct ki_kcov_places *p, const struct ki_function *fn, struct ki_err *err)
{
	struct adding a = {.p = p, .fn = fn};
	int ret;

	p->asked[KI_KCOV_BLOCK] += fn->nblocks;
	if (fn->reason) {
		p->refused[fn->reason] += fn->nblocks;
		return 0;
	}
	ret = ki_spans_find(fn, &a.spans, err);
	if (ret)
		return ret;
	if (p->move && fn->nblocks >= MOVING_BLOCKS)
		ret = ki_plan_move(p->plan, fn, &a.spans, err);
	if (!ret)
		ret = add_blocks(&a, err);
	if (!ret && p->comparisons)
		ret = add_comparisons(&a, err);
	ki_spans_free(&a.spans);
	return ret;
}

void ki_kcov_sort_out(struct ki_kcov_places *p, const struct ki_target *t)
{
	const struct ki_symbol *last = NULL, *sym;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct ki_kcov_place at = p->v[i];
		unsigned int reason = ki_plan_refusal(p->plan, at.id);

		p->refused[reason] += reason != KI_R_OK;
		if (reason)
			continue;
		p->recorded[at.kind]++;
		sym = ki_target_symbol_at(t, at.addr);
		p->touched += sym != last;
		last = sym;
		p->v[n++] = at;
	}
	p->n = n;
}

void ki_kcov_places_free(struct ki_kcov_places *p)
{
	ki_plan_free(p->plan);
	free(p->v);
	*p = (struct ki_kcov_places){0};
}
