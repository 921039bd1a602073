/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Jump tables: where an indirect jump inside a function leads.
 *
 * Compilers write a switch in few ways:
 *
 *	cmp $5, I; ja default			the bound, if the value is not known to be in it
 *	jmp *table(,I,8)			absolute; with retpolines: mov ..., J; jmp thunk_J
 *
 *	lea table(%rip), B			relative: offsets from the table itself; the lea
 *	movslq (B,I,4), J			may be far away, out of a loop
 *	add B, J
 *	jmp *J
 *
 *	lea 0(,I,4), K				the same, not optimized
 *	lea table(%rip), J
 *	mov (K,J), J; cltq
 *	lea table(%rip), B
 *	add B, J
 *	jmp *J
 *
 *	lea label(%rip), B			offsets from a place in the function that is not the
 *	lea table(%rip), K			table's
 *	movslq (K,I,4), J
 *	add B, J; jmp *J
 *
 *	movslq (B,I,4), J			the sum by a lea
 *	lea (B,J), K; jmp *K
 *
 *	movslq table(%rip), J			a switch of a single case: the first entry
 *	add B, J; jmp *J
 *
 * Assembly also has jumps without a table, into pieces of code of equal length (tables_steps.c).
 *
 * The jump is followed backwards in the order of addresses until the load is found, from there
 * on the table's address and the bound, which may be one of the memory that the index was loaded
 * from. Without a bound the table ends where a number is no
 * instruction of the function (Tamches 2001, "a known block or an entry outside the function").
 * With one, every entry must be an instruction, else nothing is believed. A load of 8 bytes
 * whose first entry is elsewhere is a call through an array of functions.
 *
 * What is then taken for the call of a function by a pointer must look like one: the pointer has
 * been loaded and not calculated, and the frame is gone (depth.c). If not, it is a table that is
 * not known.
 */
#include "code/function/tables.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_ENTRIES 8192 /* of a table */
#define LINKAGE	    16	 /* bytes of an entry of the procedure linkage table */

/*
 * How many entries are read for a function. Real tables are no larger than the code that they
 * lead to; jumps of garbage, each by the same large table, would take any time.
 */
static size_t most_entries(const struct ki_analysis *a)
{
	return 512 + 8 * (size_t)a->fn->ninsns;
}

/* To code; not into the middle of one of the function's instructions, nor to its filler of int3. */
static bool leads_to_code(const struct ki_analysis *a, uint64_t to)
{
	uint32_t i;

	if (!ki_function_holds(a->fn, to))
		return ki_target_range_at(a->target, to);
	i = ki_function_covering(a->fn, to);
	return a->fn->insns[i].addr == to && !(a->extra[i].traits & KI_TRAIT_INT3);
}

/*
 * Is there an instruction of the function, or something of its cold part? In a stripped program
 * the cold part has lost its symbol and stands after that of another function.
 */
static bool possible(const struct ki_analysis *a, const struct ki_jump_table *t, uint64_t to)
{
	const struct ki_symbol *sym;

	if (t->length)
		return ki_function_holds(a->fn, to) && leads_to_code(a, to);
	if (ki_function_holds(a->fn, to))
		return a->fn->insns[ki_function_covering(a->fn, to)].addr == to;
	sym = ki_target_symbol_at(a->target, to);
	if (sym && ki_symbol_is_cold(sym))
		return true;
	return t->exact && a->target->kind != KI_TARGET_LIVE && !(sym && sym->addr == to) &&
	       ki_target_range_at(a->target, to);
}

static int by_place(const void *x, const void *y)
{
	const struct ki_table_way *a = x, *b = y;

	return a->to < b->to ? -1 : a->to > b->to;
}

void ki_table_finish_ways(struct ki_analysis *a, size_t first)
{
	struct ki_table_way *v = a->ways.v;
	size_t n = first;

	if (n < a->ways.n)
		qsort(v + first, a->ways.n - first, sizeof(*v), by_place);
	for (size_t i = first; i < a->ways.n; i++) {
		if (n > first && v[n - 1].to == v[i].to)
			continue;
		v[n++] = v[i];
	}
	a->ways.n = n;
}

static void mark_leaders(struct ki_analysis *a, size_t first)
{
	for (size_t i = first; i < a->ways.n; i++)
		if (ki_function_holds(a->fn, a->ways.v[i].to))
			ki_analysis_leader(a, a->ways.v[i].to);
}

static bool read_entry(struct ki_analysis *a, const struct ki_jump_table *t, uint64_t n,
		       uint64_t *to)
{
	int32_t offset;

	if (a->nread++ >= most_entries(a))
		return false;
	if (t->length) {
		*to = t->base + n * t->length;
		return true;
	}
	if (t->scale == 8)
		return !ki_target_read_data(a->target, t->base + 8 * n, to, 8, NULL);
	if (ki_target_read_data(a->target, t->base + 4 * n, &offset, 4, NULL))
		return false;
	*to = t->origin + (uint64_t)(int64_t)offset;
	return true;
}

int ki_table_add_way(struct ki_analysis *a, uint32_t jump, const struct ki_jump_table *t,
		     uint64_t n)
{
	uint64_t to;

	if (!read_entry(a, t, n, &to) || !leads_to_code(a, to))
		return -ENOENT;
	return ki_vec_push(&a->ways, (struct ki_table_way){jump, to});
}

bool ki_table_exhausted(const struct ki_analysis *a)
{
	return a->nread > most_entries(a);
}

/* Does some entry lead into the function itself, after its start? */
static bool leads_inside(struct ki_analysis *a, const struct ki_jump_table *t)
{
	uint64_t to;

	for (uint64_t n = 0; n < t->count && n < MAX_ENTRIES && read_entry(a, t, n, &to); n++)
		if (to != a->fn->start && ki_function_holds(a->fn, to))
			return true;
	return false;
}

/* Not believed: a table all the same, or a call through an array of functions? */
static enum ki_found judge(struct ki_analysis *a, const struct ki_jump_table *t, bool some)
{
	uint64_t to;

	if (t->scale != 8 || some || !read_entry(a, t, 0, &to))
		return KI_UNKNOWN_TABLE;
	return t->exact && leads_inside(a, t) ? KI_UNKNOWN_TABLE : KI_NOT_A_TABLE;
}

/* -ENOMEM, 0; *found is what it is after all. */
static int read_table(struct ki_analysis *a, uint32_t jump, const struct ki_jump_table *t,
		      enum ki_found *found)
{
	size_t before = a->ways.n;
	uint64_t n = 0, limit = t->count && t->count < MAX_ENTRIES ? t->count : MAX_ENTRIES, to;

	for (; n < limit && read_entry(a, t, n, &to) && possible(a, t, to); n++)
		if (ki_vec_push(&a->ways, (struct ki_table_way){jump, to}))
			return -ENOMEM;
	if (ki_table_exhausted(a)) {
		a->ways.n = before;
		*found = KI_UNKNOWN_TABLE;
		return 0;
	}
	if (n && (n == t->count || !t->exact) && (!t->exact || leads_inside(a, t))) {
		ki_table_finish_ways(a, before);
		mark_leaders(a, before);
		a->fn->guessed |= !t->exact;
		*found = KI_A_TABLE;
		return 0;
	}
	a->ways.n = before;
	*found = judge(a, t, n && !t->exact);
	return 0;
}

/* To another segment: nobody has a table of those. */
static bool is_far(const struct ki_analysis *a, uint32_t i)
{
	struct ki_form f;

	return ki_form_parse(a->fn, &a->fn->insns[i], &f) && f.opcode == 0xff && f.reg == 5;
}

static bool is_of_program(const struct ki_analysis *a)
{
	return a->target->kind != KI_TARGET_LIVE && !(a->fn->start >> 63);
}

/*
 * An entry of the procedure linkage table, which has no symbol in many programs, so it might be a
 * cold part: what it jumps to is another function, or before that is found the rest of the entry.
 */
static bool is_linkage(struct ki_analysis *a, uint32_t i)
{
	const struct ki_insn *in = &a->fn->insns[i];
	struct ki_form f;
	uint64_t to;

	if (!is_of_program(a) || a->fn->end - a->fn->start > LINKAGE ||
	    !ki_form_parse(a->fn, in, &f) || !f.rip)
		return false;
	if (!ki_target_read_data(a->target, in->target, &to, sizeof(to), NULL) &&
	    ki_function_holds(a->fn, to))
		ki_analysis_leader(a, to);
	return true;
}

/*
 * Is the frame that the function made still there? Who calls another one in his place has taken
 * it away. A cold part's is its parent's: whether it is given back is all that can be seen.
 */
static int has_frame(struct ki_analysis *a, uint32_t i, bool *frame)
{
	int32_t depth = 0;
	int ret;

	if (ki_symbol_is_cold(a->fn->symbol)) {
		*frame = !ki_stack_is_given_back(a, i);
		return 0;
	}
	ret = ki_stack_depth(a, i, &depth);
	*frame = !ret && depth;
	return ret == -ENOENT ? 0 : ret;
}

static int find_ways(struct ki_analysis *a, uint32_t i, enum ki_found *found,
		     struct ki_jump_table *t)
{
	bool frame;
	int ret = 0;

	*t = (struct ki_jump_table){0};
	*found = ki_table_form(a, i, t);
	if (*found == KI_A_TABLE) {
		if (!t->exact)
			ki_table_bound(a, t);
		ret = read_table(a, i, t, found);
	} else if (a->extra[i].traits & KI_TRAIT_TABLE_JUMP) {
		*found = KI_UNKNOWN_TABLE;
	}
	if (ret || *found != KI_NOT_A_TABLE || is_far(a, i) || is_linkage(a, i))
		return ret;
	ret = has_frame(a, i, &frame);
	if (!ret && frame)
		*found = KI_UNKNOWN_TABLE;
	return ret;
}

static int by_jump(const void *x, const void *y)
{
	const struct ki_table_way *a = x, *b = y;

	return a->insn != b->insn ? (a->insn < b->insn ? -1 : 1) : by_place(x, y);
}

/*
 * The jumps of the function that may be by tables whose addresses are not known. `sure`: some are;
 * `hopeless`: one of those is of no known form.
 */
struct unknown {
	ki_vec(struct ki_unknown_jump) jumps;
	bool sure, hopeless;
};

static int add_unknown(struct unknown *u, uint32_t i, enum ki_found found,
		       const struct ki_jump_table *t)
{
	if (found == KI_A_TABLE)
		return 0;
	u->sure |= found == KI_UNKNOWN_TABLE;
	u->hopeless |= found == KI_UNKNOWN_TABLE && !t->by_register;
	if (!t->by_register)
		return 0;
	return ki_vec_push(&u->jumps, (struct ki_unknown_jump){i, found == KI_UNKNOWN_TABLE, *t});
}

/* Do those of them that are sure have tables? Then they all may. */
static int find_together(struct ki_analysis *a, struct unknown *u)
{
	size_t before = a->ways.n;
	bool found;
	int ret = ki_table_candidates(a, u->jumps.v, u->jumps.n, &found);

	if (ret || !found || a->ways.n == before)
		return ret;
	for (size_t i = before; i < a->ways.n; i++)
		a->extra[a->ways.v[i].insn].table = true;
	mark_leaders(a, before);
	qsort(a->ways.v, a->ways.n, sizeof(*a->ways.v), by_jump);
	a->fn->guessed = true;
	u->sure = false;
	return 0;
}

int ki_tables_find(struct ki_analysis *a, bool *unknown)
{
	struct unknown u = {0};
	int ret = 0;

	for (uint32_t i = 0; !ret && i < a->fn->ninsns; i++) {
		struct ki_jump_table t;
		enum ki_found found;

		if (a->fn->insns[i].kind != KI_INSN_JMP_INDIRECT)
			continue;
		ret = find_ways(a, i, &found, &t);
		a->extra[i].table = found == KI_A_TABLE;
		if (!ret)
			ret = add_unknown(&u, i, found, &t);
	}
	if (!ret && u.jumps.n && !u.hopeless && is_of_program(a))
		ret = find_together(a, &u);
	*unknown = u.sure;
	ki_vec_free(&u.jumps);
	return ret;
}
