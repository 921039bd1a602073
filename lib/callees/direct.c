// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What the code of a function says that it calls. */
#include "kerninst/callees.h"

#include <errno.h>
#include <stdlib.h>

#include "callees/inside.h"
#include "util/vec.h"

#define STUB_MAX 64 /* bytes of an entry of a linkage table, at most */

struct found {
	struct ki_target *t;
	ki_vec(uint64_t) v;
	size_t indirect;
};

/* The word at a fixed address through which an instruction calls or jumps; 0: it does not. */
static uint64_t word_of(const struct ki_function *fn, const struct ki_insn *in)
{
	struct ki_compared x;

	if (!ki_insn_leads(fn, in, &x) || x.kind != KI_COMPARED_MEMORY ||
	    x.base != KI_COMPARED_NONE || x.index != KI_COMPARED_NONE)
		return 0;
	return (uint64_t)x.number;
}

static uint64_t read_word(struct ki_target *t, uint64_t addr)
{
	uint64_t word;

	return ki_target_read_data(t, addr, &word, sizeof(word), NULL) ? 0 : word;
}

/* Where a function leads that does nothing but jump through a word; 0: it does more. */
static uint64_t led_on(struct ki_target *t, const struct ki_symbol *sym)
{
	struct ki_function *fn;
	uint64_t word = 0;

	if (sym->size > STUB_MAX || ki_function_analyze(t, sym, &fn, NULL))
		return 0;
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (in->kind == KI_INSN_JMP_INDIRECT) {
			word = word_of(fn, in);
			break;
		}
		if (in->kind != KI_INSN_PLAIN || in->reason == KI_R_OK)
			break; /* endbr64 alone may come first: it is reserved */
	}
	ki_function_free(fn);
	return word ? read_word(t, word) : 0;
}

/* An entry that has never been used leads back into its table, to the loader. */
static int add(struct found *f, uint64_t to)
{
	const struct ki_symbol *sym = ki_target_symbol_at(f->t, to);
	const uint64_t next = sym && sym->addr == to ? led_on(f->t, sym) : 0;

	if (next) {
		to = next;
		sym = ki_target_symbol_at(f->t, to);
	}
	return sym && sym->addr == to ? ki_vec_push(&f->v, to) : 0;
}

bool ki_callees_is_unknown(const struct ki_function *fn, const struct ki_edge *e)
{
	return (e->kind == KI_EDGE_CALL_INDIRECT || e->kind == KI_EDGE_TAIL_INDIRECT) &&
	       !word_of(fn, &fn->insns[e->insn]);
}

static int look(struct found *f, const struct ki_function *fn, const struct ki_edge *e)
{
	uint64_t word;

	switch (e->kind) {
	case KI_EDGE_CALL:
	case KI_EDGE_TAIL:
		return add(f, e->to);
	case KI_EDGE_CALL_INDIRECT:
	case KI_EDGE_TAIL_INDIRECT:
		word = word_of(fn, &fn->insns[e->insn]);
		f->indirect += !word;
		return word ? add(f, read_word(f->t, word)) : 0;
	default:
		return 0;
	}
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t only_once(uint64_t *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), by_address);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	return kept;
}

int ki_callees_direct(const struct ki_function *fn, uint64_t **out, size_t *n, size_t *indirect,
		      struct ki_err *err)
{
	struct found f = {.t = fn->target};
	int ret = ki_vec_reserve(&f.v, 1);

	for (uint32_t i = 0; !ret && i < fn->nedges; i++)
		ret = look(&f, fn, &fn->edges[i]);
	if (ret) {
		ki_vec_free(&f.v);
		return ki_err_set(err, ret, fn->start, "callees: out of memory");
	}
	*out = f.v.v;
	*n = only_once(f.v.v, f.v.n);
	if (indirect)
		*indirect = f.indirect;
	return 0;
}
