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

#include <string.h>

#define BACK_TO_LOAD 16	  /* instructions between a jump and its load */
#define BACK_TO_BASE 512  /* from the load to the lea */
#define MAX_ENTRIES  8192 /* of a table */

/* The address that register `reg` holds at instruction i: the nearest lea or mov before it. */
static bool find_base(const struct ki_analysis *a, uint32_t i, uint8_t reg, uint64_t *base)
{
	const struct ki_function *fn = a->fn;

	for (uint32_t back = 1; back <= BACK_TO_BASE && back <= i; back++) {
		const struct ki_insn *in = &fn->insns[i - back];
		struct ki_form f;

		if (!ki_table_writes(a, i - back, reg))
			continue;
		if (!ki_form_parse(fn, in, &f))
			return false;
		if (f.opcode == 0x8d && f.rip && f.reg == reg) {
			*base = in->target;
			return true;
		}
		if (((f.opcode & ~7) == 0xb8 || (f.opcode == 0xc7 && f.reg == 0)) && f.rm == reg &&
		    f.imm) {
			*base = f.opcode == 0xc7 || in->len > 6 ? (uint64_t)f.imm : (uint32_t)f.imm;
			return true;
		}
		return false;
	}
	return false;
}

/* A table's address and index from the memory operand of instruction i. */
static bool by_operand(const struct ki_analysis *a, uint32_t i, const struct ki_form *f,
		       struct ki_jump_table *t)
{
	*t = (struct ki_jump_table){.load = i, .scale = f->scale, .index = f->index};
	if (f->index == KI_NO_REG)
		return false;
	if (f->base == KI_NO_REG) {
		t->base = (uint64_t)f->disp;
		return true;
	}
	return find_base(a, i, f->base, &t->base) && (t->base += (uint64_t)f->disp, true);
}

/*
 * How many entries are read for a function. Real tables are no larger than the code that they
 * lead to; jumps of garbage, each by the same large table, would take any time.
 */
static size_t most_entries(const struct ki_analysis *a)
{
	return 512 + 8 * (size_t)a->fn->ninsns;
}

enum found { NOT_A_TABLE, A_TABLE, UNKNOWN_TABLE };

/*
 * Somebody has calculated with what instruction f leaves in a register: that is no pointer to a
 * function, which is only loaded. (Pointers that are kept encrypted are rotated and xored.)
 */
static bool calculates(const struct ki_form *f)
{
	switch (f->opcode) {
	case 0x01:
	case 0x03:
	case 0x05:
	case 0x29:
	case 0x2b:
	case 0x2d:
	case 0x63:
	case 0x8d:
	case 0x98:
		return true;
	case 0x81:
	case 0x83:
		return f->reg == 0 || f->reg == 5;
	}
	return false;
}

/* A copy of a register: which one. */
static bool copies(const struct ki_form *f, uint8_t *reg)
{
	if (f->rm == KI_NO_REG || (f->opcode != 0x89 && f->opcode != 0x8b))
		return false;
	*reg = f->opcode == 0x89 ? f->reg : f->rm;
	return true;
}

/* The index that has been multiplied by 4 into register `reg`, at instruction i. */
static bool find_scaling(const struct ki_analysis *a, uint32_t i, uint8_t reg,
			 struct ki_jump_table *t)
{
	for (uint32_t back = 1; back <= BACK_TO_LOAD && back <= i; back++) {
		struct ki_form f;

		if (!ki_table_writes(a, i - back, reg))
			continue;
		if (!ki_form_parse(a->fn, &a->fn->insns[i - back], &f) || f.opcode != 0x8d ||
		    f.rip || f.base != KI_NO_REG || f.index == KI_NO_REG || f.scale != 4 || f.disp)
			return false;
		t->load = i - back;
		t->index = f.index;
		return true;
	}
	return false;
}

/* A load of 4 bytes from the sum of two registers: one is the table's address, the other 4 times
   the index. */
static bool by_sum(const struct ki_analysis *a, uint32_t i, const struct ki_form *f,
		   struct ki_jump_table *t)
{
	*t = (struct ki_jump_table){.scale = 4};
	if (f->base == KI_NO_REG || f->disp)
		return false;
	return (find_base(a, i, f->base, &t->base) && find_scaling(a, i, f->index, t)) ||
	       (find_base(a, i, f->index, &t->base) && find_scaling(a, i, f->base, t));
}

/* The load of what instruction i jumps to by register `reg`. */
static enum found find_load(const struct ki_analysis *a, uint32_t i, uint8_t reg,
			    struct ki_jump_table *t)
{
	const struct ki_function *fn = a->fn;
	uint8_t other = KI_NO_REG; /* the second operand of the add */
	bool sum = false;

	for (uint32_t back = 1; back <= BACK_TO_LOAD && back <= i; back++) {
		uint32_t at = i - back;
		struct ki_form f;

		if (ki_table_leaves(&fn->insns[at]))
			break;
		if (!ki_table_writes(a, at, reg) && (!sum || !ki_table_writes(a, at, other)))
			continue;
		if (!ki_form_parse(fn, &fn->insns[at], &f))
			break;
		if (!sum && copies(&f, &reg))
			continue;
		if ((f.opcode == 0x01 || f.opcode == 0x03) && !sum && f.rm != KI_NO_REG) {
			other = f.reg == reg ? f.rm : f.reg;
			sum = true;
			continue;
		}
		if (f.opcode == 0x8b && !sum && f.index != KI_NO_REG && f.scale == 8)
			return by_operand(a, at, &f, t) ? A_TABLE : NOT_A_TABLE;
		if (f.opcode == 0x63 && sum && f.index != KI_NO_REG && f.scale == 4 &&
		    (f.base == reg || f.base == other))
			return by_operand(a, at, &f, t) ? A_TABLE : UNKNOWN_TABLE;
		if (f.opcode == 0x8b && sum && f.index != KI_NO_REG && f.scale == 1)
			return by_sum(a, at, &f, t) ? A_TABLE : UNKNOWN_TABLE;
		if ((f.opcode == 0x8d || f.opcode == 0x98) && sum)
			continue; /* the lea of the base; the offset becomes 8 bytes */
		return sum || calculates(&f) ? UNKNOWN_TABLE : NOT_A_TABLE;
	}
	return sum ? UNKNOWN_TABLE : NOT_A_TABLE;
}

static enum found find_table(const struct ki_analysis *a, uint32_t i, struct ki_jump_table *t)
{
	const struct ki_insn *in = &a->fn->insns[i];
	struct ki_form f;

	if (in->target && ki_facts_thunk(a->facts, in->target) == KI_THUNK_INDIRECT) {
		uint8_t reg = ki_facts_thunk_register(a->facts, in->target);

		return reg == KI_THUNK_NO_REG ? NOT_A_TABLE : find_load(a, i, reg, t);
	}
	if (!ki_form_parse(a->fn, in, &f) || f.opcode != 0xff)
		return NOT_A_TABLE;
	if (f.rm != KI_NO_REG)
		return find_load(a, i, f.rm, t);
	if (f.index == KI_NO_REG || f.scale != 8)
		return NOT_A_TABLE;
	return by_operand(a, i, &f, t) ? A_TABLE : UNKNOWN_TABLE;
}

/*
 * Is there an instruction of the function, or something of its cold part? In a stripped program
 * the cold part has lost its symbol and stands behind that of another function.
 */
static bool possible(const struct ki_analysis *a, const struct ki_jump_table *t, uint64_t to)
{
	const struct ki_symbol *sym;

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

/* Ways from number `first` on: each place once, each a leader. */
static void finish_ways(struct ki_analysis *a, size_t first)
{
	struct ki_table_way *v = a->ways.v;
	size_t n = first;

	qsort(v + first, a->ways.n - first, sizeof(*v), by_place);
	for (size_t i = first; i < a->ways.n; i++) {
		if (n > first && v[n - 1].to == v[i].to)
			continue;
		v[n++] = v[i];
		if (ki_function_holds(a->fn, v[i].to))
			ki_analysis_leader(a, v[i].to);
	}
	a->ways.n = n;
}

static bool read_entry(struct ki_analysis *a, const struct ki_jump_table *t, uint64_t n,
		       uint64_t *to)
{
	int32_t offset;

	if (a->nread++ >= most_entries(a))
		return false;
	if (t->scale == 8)
		return !ki_target_read_data(a->target, t->base + 8 * n, to, 8, NULL);
	if (ki_target_read_data(a->target, t->base + 4 * n, &offset, 4, NULL))
		return false;
	*to = t->base + (uint64_t)(int64_t)offset;
	return true;
}

/* Does some entry lead into the function itself, behind its start? */
static bool leads_inside(struct ki_analysis *a, const struct ki_jump_table *t)
{
	uint64_t to;

	for (uint64_t n = 0; n < t->count && n < MAX_ENTRIES && read_entry(a, t, n, &to); n++)
		if (to != a->fn->start && ki_function_holds(a->fn, to))
			return true;
	return false;
}

/* Not believed: a table all the same, or a call through an array of functions? */
static enum found judge(struct ki_analysis *a, const struct ki_jump_table *t, bool some)
{
	uint64_t to;

	if (t->scale != 8 || some || !read_entry(a, t, 0, &to))
		return UNKNOWN_TABLE;
	return t->exact && leads_inside(a, t) ? UNKNOWN_TABLE : NOT_A_TABLE;
}

/* -ENOMEM, 0; *found is what it is after all. */
static int read_table(struct ki_analysis *a, uint32_t jump, const struct ki_jump_table *t,
		      enum found *found)
{
	size_t before = a->ways.n;
	uint64_t n = 0, limit = t->count && t->count < MAX_ENTRIES ? t->count : MAX_ENTRIES, to;

	for (; n < limit && read_entry(a, t, n, &to) && possible(a, t, to); n++)
		if (ki_vec_push(&a->ways, (struct ki_table_way){jump, to}))
			return -ENOMEM;
	if (a->nread > most_entries(a)) {
		a->ways.n = before;
		*found = UNKNOWN_TABLE;
		return 0;
	}
	if (n && (n == t->count || !t->exact) && (!t->exact || leads_inside(a, t))) {
		finish_ways(a, before);
		a->fn->guessed |= !t->exact;
		*found = A_TABLE;
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

static int find_ways(struct ki_analysis *a, uint32_t i, enum found *found)
{
	struct ki_jump_table t;
	bool frame;
	int ret = 0;

	*found = find_table(a, i, &t);
	if (*found == A_TABLE) {
		ki_table_bound(a, &t);
		ret = read_table(a, i, &t, found);
	} else if (a->extra[i].traits & KI_TRAIT_TABLE_JUMP) {
		*found = UNKNOWN_TABLE;
	}
	if (ret || *found != NOT_A_TABLE || is_far(a, i))
		return ret;
	ret = has_frame(a, i, &frame);
	if (!ret && frame)
		*found = UNKNOWN_TABLE;
	return ret;
}

int ki_tables_find(struct ki_analysis *a, bool *unknown)
{
	*unknown = false;
	for (uint32_t i = 0; i < a->fn->ninsns; i++) {
		enum found found;
		int ret;

		if (a->fn->insns[i].kind != KI_INSN_JMP_INDIRECT)
			continue;
		ret = find_ways(a, i, &found);
		if (ret)
			return ret;
		a->extra[i].table = found == A_TABLE;
		*unknown |= found == UNKNOWN_TABLE;
	}
	return 0;
}
