/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Jump tables whose address the code in front of the jump does not tell.
 *
 * Interpreters and printf jump in many places by one table, and keep its address in a register, or
 * on the stack, from the function's beginning on:
 *
 *	mov (B,I,8), J; jmp *J			labels as values, in an array
 *	movslq (B,I,4), J; add O, J; jmp *J	the same, as distances from one of the labels
 *	lea label(%rip), J; jmp *J		a label, or on another way to the jump one of these
 *
 * Wherever B and O come from, the function itself has put the addresses together: by an instruction
 * that makes a constant one. So each constant address in the function is taken for a table that
 * each such jump may use (and for O, each that lies in the function). A table ends where a number
 * leads to no code. (Some may lead to another symbol: the function's cold part, which has lost its
 * name in a stripped program.) What is found is more than what the jumps use, seldom less: more
 * ways only make blocks smaller and registers live for longer.
 *
 * It is less where a table's address comes from elsewhere. Then most often some code of the
 * function is reached by nothing. So tables are believed only if all code is reached by what is
 * known.
 *
 * Programs only: kernels have few such functions, and their windows depend on it.
 */
#include "code/function/tables.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ENTRIES 1024 /* of a table */

struct search {
	struct ki_analysis *a;
	ki_vec(uint64_t) tables; /* constant addresses */
	ki_vec(uint64_t) places; /* those of them that are instructions of the function */
};

static int by_value(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

static size_t unique(uint64_t *v, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1] != v[i])
			v[kept++] = v[i];
	return kept;
}

static int find_addresses(struct search *s)
{
	const struct ki_function *fn = s->a->fn;
	uint64_t address;
	uint8_t reg;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < fn->ninsns; i++) {
		if (!ki_table_address(s->a, i, &reg, &address))
			continue;
		ret = ki_function_holds(fn, address) ? ki_vec_push(&s->places, address)
						     : ki_vec_push(&s->tables, address);
	}
	s->tables.n = unique(s->tables.v, s->tables.n);
	s->places.n = unique(s->places.v, s->places.n);
	return ret;
}

static bool leads_inside(const struct ki_analysis *a, size_t first)
{
	for (size_t i = first; i < a->ways.n; i++)
		if (a->ways.v[i].to > a->fn->start && a->ways.v[i].to < a->fn->end)
			return true;
	return false;
}

/* All ways of one table, if some lead into the function. */
static int add_table(struct ki_analysis *a, uint32_t jump, const struct ki_jump_table *t)
{
	size_t before = a->ways.n;
	int ret = 0;

	for (uint64_t n = 0; !ret && n < MOST_ENTRIES; n++)
		ret = ki_table_add_way(a, jump, t, n);
	if (!leads_inside(a, before))
		a->ways.n = before;
	return ret == -ENOENT ? 0 : ret;
}

/* All ways of one jump: by each table, from each origin. */
static int add_tables(struct search *s, const struct ki_unknown_jump *j)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < s->tables.n; i++) {
		struct ki_jump_table t = j->table;

		t.base = s->tables.v[i] + t.disp;
		t.origin = t.base;
		ret = add_table(s->a, j->insn, &t);
		for (size_t o = 0; !ret && t.apart && o < s->places.n; o++) {
			t.origin = s->places.v[o];
			ret = add_table(s->a, j->insn, &t);
		}
	}
	return ret;
}

/* A jump to a label: to each of which the address is made, and where the others lead. */
static int add_labels(struct search *s, uint32_t jump)
{
	struct ki_analysis *a = s->a;
	size_t before = a->ways.n;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->places.n; i++)
		if (ki_function_insn_at(a->fn, s->places.v[i]))
			ret = ki_vec_push(&a->ways, (struct ki_table_way){jump, s->places.v[i]});
	for (size_t i = 0; !ret && i < before; i++)
		ret = ki_vec_push(&a->ways, (struct ki_table_way){jump, a->ways.v[i].to});
	return ret;
}

static int add_ways(struct search *s, const struct ki_unknown_jump *j)
{
	return j->table.scale ? add_tables(s, j) : add_labels(s, j->insn);
}

/* The ways of a jump before are this one's too: it has the same form. */
static int copy_ways(struct ki_analysis *a, size_t first, size_t end, uint32_t jump)
{
	int ret = 0;

	for (size_t i = first; !ret && i < end; i++)
		ret = ki_vec_push(&a->ways, (struct ki_table_way){jump, a->ways.v[i].to});
	return ret;
}

static bool same_form(const struct ki_unknown_jump *x, const struct ki_unknown_jump *y)
{
	const struct ki_jump_table *a = &x->table, *b = &y->table;

	return x->sure <= y->sure && a->scale == b->scale && a->disp == b->disp &&
	       a->apart == b->apart;
}

/* *found stays if each jump that is sure has a way. */
static int add_jumps(struct search *s, const struct ki_unknown_jump *jumps, size_t n, bool *found)
{
	struct ki_analysis *a = s->a;
	const struct ki_unknown_jump *last = NULL;
	size_t first = a->ways.n, end = first;
	int ret = 0;

	for (size_t i = 0; !ret && *found && i < n; i++) {
		if (last && same_form(&jumps[i], last)) {
			ret = copy_ways(a, first, end, jumps[i].insn);
			continue;
		}
		last = &jumps[i];
		first = a->ways.n;
		ret = add_ways(s, last);
		if (!ret)
			ki_table_finish_ways(a, first);
		end = a->ways.n;
		*found = end > first || !last->sure;
	}
	return ret;
}

/* ---- is all code reached? ---- */

struct walk {
	const struct ki_analysis *a;
	uint8_t *seen;
	ki_vec(uint32_t) todo;
};

static int reach(struct walk *w, uint64_t addr)
{
	uint32_t i;

	if (!ki_function_holds(w->a->fn, addr))
		return 0;
	i = ki_function_covering(w->a->fn, addr);
	if (w->seen[i])
		return 0;
	w->seen[i] = 1;
	return ki_vec_push(&w->todo, i);
}

static int reach_beginnings(struct walk *w)
{
	const struct ki_analysis *a = w->a;
	int ret = reach(w, a->fn->start);

	for (uint32_t i = 0; !ret && i < a->fn->ninsns; i++)
		if (a->extra[i].entered)
			ret = reach(w, a->fn->insns[i].addr);
	for (size_t r = 0; !ret && r < a->nrows; r++)
		if (a->rows[r].target)
			ret = reach(w, a->rows[r].target);
	for (size_t i = 0; !ret && i < a->ways.n; i++)
		ret = reach(w, a->ways.v[i].to);
	return ret;
}

static int reach_from(struct walk *w, const struct ki_insn *in)
{
	int ret = 0;

	switch (in->kind) {
	case KI_INSN_RET:
	case KI_INSN_BAD:
	case KI_INSN_TRAP:
	case KI_INSN_JMP_INDIRECT:
		return 0;
	case KI_INSN_JMP:
		return reach(w, in->target);
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
	case KI_INSN_CALL:
		ret = reach(w, in->target);
		break;
	}
	return ret ? ret : reach(w, in->addr + in->len);
}

/* *all: but for filler, each instruction is reached by what is known. */
static int look_whether_reached(const struct ki_analysis *a, bool *all)
{
	struct walk w = {.a = a, .seen = calloc(a->fn->ninsns, 1)};
	int ret = w.seen ? reach_beginnings(&w) : -ENOMEM;

	while (!ret && w.todo.n)
		ret = reach_from(&w, &a->fn->insns[w.todo.v[--w.todo.n]]);
	*all = !ret;
	for (uint32_t i = 0; *all && i < a->fn->ninsns; i++)
		*all = w.seen[i] || a->extra[i].traits & KI_TRAIT_FILLER;
	free(w.seen);
	ki_vec_free(&w.todo);
	return ret;
}

static int by_form(const void *x, const void *y)
{
	const struct ki_unknown_jump *a = x, *b = y;

	if (a->table.scale != b->table.scale)
		return a->table.scale < b->table.scale ? 1 : -1;
	return b->sure - a->sure;
}

int ki_table_candidates(struct ki_analysis *a, struct ki_unknown_jump *jumps, size_t n, bool *found)
{
	struct search s = {.a = a};
	size_t before = a->ways.n;
	int ret = find_addresses(&s);

	*found = !ret;
	qsort(jumps, n, sizeof(*jumps), by_form); /* those to labels are the last */
	if (!ret)
		ret = add_jumps(&s, jumps, n, found);
	*found &= !ret && !ki_table_exhausted(a);
	if (*found)
		ret = look_whether_reached(a, found);
	if (!*found)
		a->ways.n = before;
	ki_vec_free(&s.tables);
	ki_vec_free(&s.places);
	return ret;
}
