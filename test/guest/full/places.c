// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of functions, as requests describe them, so that a session can be had for the price of
 * a few system calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "full/full.h"

#define JMP_LEN 5

#define PLACES	  4096
#define FUNCTIONS 1024

void places_open(struct places *p)
{
	static struct ki_target *t; /* reading all symbols takes seconds here */
	struct ki_err err = {0};

	*p = (struct places){0};
	p->v = calloc(PLACES, sizeof(*p->v));
	p->fn = calloc(FUNCTIONS, sizeof(*p->fn));
	if (!p->v || !p->fn)
		die("places", "no memory");
	if (!t && ki_target_new_live(&t, &err))
		die("open", err.msg);
	p->t = t;
}

/* Does control never come to the end of the window's copies? */
static bool ends(const struct ki_insn *last)
{
	switch (last->kind) {
	case KI_INSN_JMP:
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
	case KI_INSN_RET:
		return true;
	case KI_INSN_TRAP:
		return !(last->flags & KI_INSN_BUG);
	default:
		return false;
	}
}

/* A call that the springboard does not cover is executed in its place: its copy is a jump there. */
static bool stands(const struct ki_span *span, const struct ki_insn *in)
{
	static const uint32_t covered[KI_BOARD_KINDS] = {5, 2, 1};

	return (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT) &&
	       in->addr - span->addr >= covered[span->board];
}

static bool fill_place(struct place *p, const struct ki_function *fn, const struct ki_span *span)
{
	const struct ki_insn *in = &fn->insns[span->first];
	uint32_t i;

	*p = (struct place){.host = KI_NONE, .flags_live = in->flags & KI_INSN_FLAGS_LIVE};
	p->w.addr = span->addr;
	p->w.bounce = span->bounce;
	p->w.len = span->len;
	p->w.board = span->board;
	p->w.ncopy = span->count;
	memcpy(p->w.orig, fn->bytes + (span->addr - fn->start), span->len);
	for (i = 0; i < span->count; i++) {
		if (ki_relocate(&in[i], fn->bytes + (in[i].addr - fn->start), &p->copies[i]))
			return false;
		p->bare += stands(span, &in[i]) ? JMP_LEN : p->copies[i].len;
	}
	p->bare += ends(&in[span->count - 1]) ? 0 : JMP_LEN;
	return true;
}

static void add_spans(struct places *p, const struct ki_function *fn, const struct ki_spans *spans)
{
	uint32_t first = p->n, *at = calloc(spans->n + 1, sizeof(*at));

	for (size_t i = 0; i < spans->n; i++)
		at[i] = fill_place(&p->v[p->n], fn, &spans->v[i]) ? p->n++ : KI_NONE;
	for (size_t i = 0; i < spans->n; i++)
		if (at[i] != KI_NONE && spans->v[i].host != KI_NONE)
			p->v[at[i]].host = at[spans->v[i].host];
	for (uint32_t i = first; i < p->n; i++)
		p->v[i].fn = p->nfn;
	free(at);
}

static void keep_function(struct places *p, const struct ki_function *fn, uint32_t first)
{
	struct function *f = &p->fn[p->nfn++];

	*f = (struct function){.start = fn->start, .end = fn->end, .first = first};
	snprintf(f->name, sizeof(f->name), "%s", fn->symbol->name);
	f->n = p->n - first;
	f->text = malloc(fn->end - fn->start);
	if (!f->text)
		die("places", "no memory");
	memcpy(f->text, fn->bytes, fn->end - fn->start);
}

bool places_add(struct places *p, const struct ki_symbol *sym, bool grouped)
{
	struct ki_err err = {0};
	struct ki_function *fn;
	struct ki_spans spans;
	uint32_t first = p->n;

	if (ki_function_analyze(p->t, sym, &fn, &err))
		die(sym->name, err.msg);
	if (fn->reason || p->nfn == FUNCTIONS || ki_spans_find(fn, &spans, &err)) {
		ki_function_free(fn);
		return false;
	}
	if (p->n + spans.n < PLACES)
		add_spans(p, fn, &spans);
	for (uint32_t i = first; grouped && i < p->n; i++)
		p->v[i].w.group = p->nfn + 1;
	if (p->n > first)
		keep_function(p, fn, first);
	ki_spans_free(&spans);
	ki_function_free(fn);
	return p->n > first;
}

void places_named(struct places *p, const char *name, bool grouped)
{
	const struct ki_symbol *sym = ki_target_symbol_named(p->t, NULL, name, NULL);

	if (!sym || !places_add(p, sym, grouped))
		die(name, "no windows");
}

const struct function *places_find(const struct places *p, const char *name)
{
	for (uint32_t i = 0; i < p->nfn; i++)
		if (!strcmp(p->fn[i].name, name))
			return &p->fn[i];
	die(name, "not added");
}

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void places_sort(struct places *p)
{
	struct place *v = calloc(PLACES, sizeof(*v));
	uint32_t n = 0;

	qsort(p->fn, p->nfn, sizeof(*p->fn), by_address);
	for (uint32_t f = 0; f < p->nfn; f++) {
		struct function *fn = &p->fn[f];

		for (uint32_t i = 0; i < fn->n; i++) {
			v[n + i] = p->v[fn->first + i];
			v[n + i].fn = f;
			if (v[n + i].host != KI_NONE)
				v[n + i].host += n - fn->first;
		}
		fn->first = n;
		n += fn->n;
	}
	free(p->v);
	p->v = v;
}

void places_random(struct places *p, struct rng *r, uint32_t stride, uint32_t most)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(p->t, &n);

	for (size_t i = rng_below(r, stride); i < n && p->n < most;
	     i += 1 + rng_below(r, 2 * stride))
		if (!all[i].alias && !*all[i].module)
			places_add(p, &all[i], false);
	places_sort(p);
}
