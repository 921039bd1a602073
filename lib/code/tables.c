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
 * The jump is followed backwards in the order of addresses until the load is found, from there
 * on the table's address and the bound, which may be one of the memory that the index was loaded
 * from. Without a bound the table ends where a number is no
 * instruction of the function (Tamches 2001, "a known block or an entry outside the function").
 * With one, every entry must be an instruction, else nothing is believed. A load of 8 bytes
 * whose first entry is elsewhere is a call through an array of functions.
 */
#include "code/function.h"

#include <string.h>

#define BACK_TO_LOAD	16   /* instructions between a jump and its load */
#define BACK_TO_BASE	512  /* from the load to the lea */
#define BACK_TO_BOUND	24   /* from the load to the comparison */
#define BACK_TO_COMPARE 8    /* from a conditional jump */
#define MAX_ENTRIES	8192 /* of a table */
#define NO_REG		0xff

/* The operands of the few instructions that matter here. */
struct form {
	uint16_t opcode; /* 0x0f00 | second byte, for two-byte ones */
	uint8_t reg;	 /* of ModRM, extended */
	uint8_t rm;	 /* register, or NO_REG: memory */
	uint8_t base, index, scale;
	bool rip;
	int64_t disp, imm;
};

struct table {
	uint32_t load; /* number of the instruction that reads it, or jumps by it */
	uint8_t scale; /* 4: offsets from base; 8: addresses */
	uint8_t index; /* register */
	uint64_t base;
	uint64_t count; /* 0: not known */
	bool exact;	/* the count is from a comparison or a mask */
};

static int64_t immediate(const uint8_t *p, unsigned int len)
{
	int32_t v;

	int16_t word;

	if (len == 1)
		return (int8_t)*p;
	if (len == 2) {
		memcpy(&word, p, 2);
		return word;
	}
	memcpy(&v, p, 4);
	return v;
}

/* ModRM with what follows; false if it is cut off. */
static bool parse_modrm(const uint8_t *p, unsigned int len, uint8_t rex, struct form *f,
			unsigned int *used)
{
	uint8_t mod, rm, b = rex & 1 ? 8 : 0, x = rex & 2 ? 8 : 0;
	unsigned int n = 1, disp;

	if (!len)
		return false;
	mod = *p >> 6;
	rm = *p & 7;
	f->reg = (uint8_t)((*p >> 3 & 7) | (rex & 4 ? 8 : 0));
	f->rm = f->base = f->index = NO_REG;
	if (mod == 3) {
		f->rm = rm | b;
		*used = 1;
		return true;
	}
	disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (rm == 4) {
		if (len < 2)
			return false;
		n = 2;
		f->scale = (uint8_t)(1 << (p[1] >> 6));
		if ((p[1] >> 3 & 7) != 4 || x)
			f->index = (uint8_t)((p[1] >> 3 & 7) | x);
		if (mod == 0 && (p[1] & 7) == 5)
			disp = 4;
		else
			f->base = (uint8_t)((p[1] & 7) | b);
	} else if (mod == 0 && rm == 5) {
		f->rip = true;
		disp = 4;
	} else {
		f->base = rm | b;
	}
	if (len < n + disp)
		return false;
	if (disp)
		f->disp = immediate(p + n, disp);
	*used = n + disp;
	return true;
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x3e || b == 0xf2 || b == 0x2e;
}

static bool parse(const struct ki_function *fn, const struct ki_insn *in, struct form *f)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start), *end = p + in->len;
	uint8_t rex = 0;
	unsigned int used;

	*f = (struct form){.base = NO_REG, .index = NO_REG, .rm = NO_REG};
	while (p < end && is_prefix(*p))
		p++;
	if (p < end && (*p & 0xf0) == 0x40)
		rex = *p++;
	if (p < end && *p == 0x0f && p + 1 < end) {
		f->opcode = (uint16_t)(0x0f00 | p[1]);
		p += 2;
	} else if (p < end) {
		f->opcode = *p++;
	}
	if ((f->opcode & ~7) == 0xb8 && end - p == 4) { /* mov $imm32, reg */
		f->rm = (uint8_t)((f->opcode & 7) | (rex & 1 ? 8 : 0));
		f->imm = immediate(p, 4);
		return true;
	}
	if ((f->opcode == 0x3c || f->opcode == 0x3d) && p < end) { /* cmp $imm, %eax */
		f->rm = KI_RAX;
		f->reg = 7;
		f->imm = immediate(p, f->opcode == 0x3c ? 1 : end - p < 4 ? 2 : 4);
		return true;
	}
	if (!parse_modrm(p, (unsigned int)(end - p), rex, f, &used))
		return false;
	p += used;
	if (f->opcode == 0x80 || f->opcode == 0x83)
		f->imm = p < end ? immediate(p, 1) : 0;
	else if ((f->opcode == 0x81 || f->opcode == 0xc7) && end - p >= 2)
		f->imm = immediate(p, end - p < 4 ? 2 : 4);
	return true;
}

static bool writes(const struct ki_analysis *a, uint32_t i, uint8_t reg)
{
	return a->extra[i].def & KI_REGSET_REG(reg);
}

static bool leaves(const struct ki_insn *in)
{
	switch (in->kind) {
	case KI_INSN_JMP:
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
	case KI_INSN_RET:
	case KI_INSN_BAD:
		return true;
	}
	return false;
}

/* The address that register `reg` holds at instruction i: the nearest lea or mov before it. */
static bool find_base(const struct ki_analysis *a, uint32_t i, uint8_t reg, uint64_t *base)
{
	const struct ki_function *fn = a->fn;

	for (uint32_t back = 1; back <= BACK_TO_BASE && back <= i; back++) {
		const struct ki_insn *in = &fn->insns[i - back];
		struct form f;

		if (!writes(a, i - back, reg))
			continue;
		if (!parse(fn, in, &f))
			return false;
		if (f.opcode == 0x8d && f.rip && f.reg == reg) {
			*base = in->target;
			return true;
		}
		if (((f.opcode & ~7) == 0xb8 || (f.opcode == 0xc7 && f.reg == 0)) && f.rm == reg &&
		    f.imm) {
			*base = f.opcode == 0xc7 ? (uint64_t)f.imm : (uint32_t)f.imm;
			return true;
		}
		return false;
	}
	return false;
}

/* A table's address and index from the memory operand of instruction i. */
static bool by_operand(const struct ki_analysis *a, uint32_t i, const struct form *f,
		       struct table *t)
{
	*t = (struct table){.load = i, .scale = f->scale, .index = f->index};
	if (f->index == NO_REG)
		return false;
	if (f->base == NO_REG) {
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

/* The load of what instruction i jumps to by register `reg`. */
static enum found find_load(const struct ki_analysis *a, uint32_t i, uint8_t reg, struct table *t)
{
	const struct ki_function *fn = a->fn;
	uint8_t other = NO_REG; /* the second operand of the add */

	for (uint32_t back = 1; back <= BACK_TO_LOAD && back <= i; back++) {
		uint32_t at = i - back;
		struct form f;

		if (leaves(&fn->insns[at]))
			return NOT_A_TABLE;
		if (!writes(a, at, reg) && (other == NO_REG || !writes(a, at, other)))
			continue;
		if (!parse(fn, &fn->insns[at], &f))
			return NOT_A_TABLE;
		if ((f.opcode == 0x01 || f.opcode == 0x03) && other == NO_REG && f.rm != NO_REG) {
			other = f.reg == reg ? f.rm : f.reg;
			continue;
		}
		if (f.opcode == 0x8b && other == NO_REG && f.index != NO_REG && f.scale == 8)
			return by_operand(a, at, &f, t) ? A_TABLE : NOT_A_TABLE;
		if (f.opcode == 0x63 && other != NO_REG && f.index != NO_REG && f.scale == 4 &&
		    (f.base == reg || f.base == other))
			return by_operand(a, at, &f, t) ? A_TABLE : UNKNOWN_TABLE;
		if (f.opcode == 0x8d && other != NO_REG)
			continue; /* the lea of the base */
		return NOT_A_TABLE;
	}
	return NOT_A_TABLE;
}

static enum found find_table(const struct ki_analysis *a, uint32_t i, struct table *t)
{
	const struct ki_insn *in = &a->fn->insns[i];
	struct form f;

	if (in->target && ki_facts_thunk(a->facts, in->target) == KI_THUNK_INDIRECT) {
		uint8_t reg = ki_facts_thunk_register(a->facts, in->target);

		return reg == KI_THUNK_NO_REG ? NOT_A_TABLE : find_load(a, i, reg, t);
	}
	if (!parse(a->fn, in, &f) || f.opcode != 0xff)
		return NOT_A_TABLE;
	if (f.rm != NO_REG)
		return find_load(a, i, f.rm, t);
	if (f.index == NO_REG || f.scale != 8)
		return NOT_A_TABLE;
	return by_operand(a, i, &f, t) ? A_TABLE : UNKNOWN_TABLE;
}

/* The jump by the flags that instruction i sets, or NULL. */
static const struct ki_insn *jump_behind(const struct ki_analysis *a, uint32_t i)
{
	uint32_t end = i + BACK_TO_COMPARE < a->fn->ninsns ? i + BACK_TO_COMPARE : a->fn->ninsns;

	while (++i < end) {
		if (a->fn->insns[i].kind == KI_INSN_JCC)
			return &a->fn->insns[i];
		if (a->fn->insns[i].kind != KI_INSN_PLAIN || a->extra[i].def & KI_REGSET_FLAGS)
			break;
	}
	return NULL;
}

/* ja, jae behind instruction i: how many values pass a comparison with imm. */
static uint64_t passing(const struct ki_analysis *a, uint32_t i, int64_t imm)
{
	const struct ki_insn *in = jump_behind(a, i);
	const uint8_t *p;

	if (!in || imm < 0)
		return 0;
	p = a->fn->bytes + (in->addr - a->fn->start);
	if (in->len == 2 && (*p == 0x77 || *p == 0x73))
		return (uint64_t)imm + (*p == 0x77);
	if (in->len == 6 && *p == 0x0f && (p[1] == 0x87 || p[1] == 0x83))
		return (uint64_t)imm + (p[1] == 0x87);
	return 0;
}

/* Where the index is while it is followed back: in a register, or in memory. */
struct place {
	uint8_t reg;
	bool memory;
	struct form form; /* of an instruction with that operand */
};

static bool is_place(const struct place *x, const struct form *f)
{
	if (!x->memory)
		return f->rm == x->reg;
	return f->rm == NO_REG && f->base == x->form.base && f->index == x->form.index &&
	       f->scale == x->form.scale && f->disp == x->form.disp && f->rip == x->form.rip;
}

/* How many values pass the comparison or mask f of place x, at instruction `at`; 0: not known. */
static uint64_t bound_at(const struct ki_analysis *a, uint32_t at, const struct place *x,
			 const struct form *f)
{
	static const uint8_t opcodes[] = {0x80, 0x81, 0x83, 0x3c, 0x3d};
	bool byte = f->opcode == 0x80 || f->opcode == 0x3c;

	if (f->opcode > 0xff || !memchr(opcodes, f->opcode, sizeof(opcodes)) || !is_place(x, f))
		return 0;
	if (f->reg == 7 && !f->rip)
		return passing(a, at, byte ? (uint8_t)f->imm : f->imm);
	return f->reg == 4 && !x->memory && f->imm >= 0 ? (uint64_t)f->imm + 1 : 0;
}

/* Instruction f writes the index: where was it before? */
static bool came_from(struct place *x, const struct form *f)
{
	switch (f->opcode) {
	case 0x0fb6:
	case 0x0fb7:
	case 0x63:
	case 0x8b:
		if (f->reg != x->reg)
			return false;
		*x = (struct place){f->rm, f->rm == NO_REG, *f};
		return true;
	case 0x89:
		x->reg = f->reg;
		return true;
	}
	return false;
}

static bool is_written(const struct ki_analysis *a, uint32_t i, const struct place *x)
{
	if (!x->memory)
		return writes(a, i, x->reg);
	return (x->form.base != NO_REG && writes(a, i, x->form.base)) ||
	       (x->form.index != NO_REG && writes(a, i, x->form.index));
}

/* How many entries the table has, if a comparison, a mask or a byte's size tells. */
static void find_bound(const struct ki_analysis *a, struct table *t)
{
	const struct ki_function *fn = a->fn;
	struct place x = {.reg = t->index};

	for (uint32_t back = 1; back <= BACK_TO_BOUND && back <= t->load; back++) {
		uint32_t at = t->load - back;
		struct form f;
		bool known;
		uint64_t n;

		if (leaves(&fn->insns[at]))
			return;
		known = fn->insns[at].kind == KI_INSN_PLAIN && parse(fn, &fn->insns[at], &f);
		n = known ? bound_at(a, at, &x, &f) : 0;
		if (n) {
			t->count = n;
			t->exact = true;
			return;
		}
		if (!is_written(a, at, &x))
			continue;
		if (!known || x.memory || !came_from(&x, &f))
			return;
		if (f.opcode == 0x0fb6)
			t->count = 256;
	}
}

/*
 * Is there an instruction of the function, or something of its cold part? In a stripped program
 * the cold part has lost its symbol and stands behind that of another function.
 */
static bool possible(const struct ki_analysis *a, const struct table *t, uint64_t to)
{
	const struct ki_symbol *sym;

	if (ki_function_holds(a->fn, to))
		return a->fn->insns[ki_function_covering(a->fn, to)].addr == to;
	sym = ki_target_symbol_at(a->target, to);
	if (sym && ki_symbol_is_cold(sym))
		return true;
	return t->exact && a->target->kind == KI_TARGET_IMAGE && !(sym && sym->addr == to) &&
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

static bool read_entry(struct ki_analysis *a, const struct table *t, uint64_t n, uint64_t *to)
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
static bool leads_inside(struct ki_analysis *a, const struct table *t)
{
	uint64_t to;

	for (uint64_t n = 0; n < t->count && n < MAX_ENTRIES && read_entry(a, t, n, &to); n++)
		if (to != a->fn->start && ki_function_holds(a->fn, to))
			return true;
	return false;
}

/* Not believed: a table all the same, or a call through an array of functions? */
static enum found judge(struct ki_analysis *a, const struct table *t, bool some)
{
	uint64_t to;

	if (t->scale != 8 || some || !read_entry(a, t, 0, &to))
		return UNKNOWN_TABLE;
	return t->exact && leads_inside(a, t) ? UNKNOWN_TABLE : NOT_A_TABLE;
}

/* -ENOMEM, 0; *found is what it is after all. */
static int read_table(struct ki_analysis *a, uint32_t jump, const struct table *t,
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
	if (n && (n == t->count || !t->count) && (!t->exact || leads_inside(a, t))) {
		finish_ways(a, before);
		*found = A_TABLE;
		return 0;
	}
	a->ways.n = before;
	*found = judge(a, t, n && !t->exact);
	return 0;
}

/* It jumps by tables of labels; a jump of it that is by no known table is still no tail call. */
static bool is_interpreter(const struct ki_function *fn)
{
	return strncmp(fn->symbol->name, "___bpf_prog_run", 15) == 0;
}

int ki_tables_find(struct ki_analysis *a, bool *unknown)
{
	*unknown = false;
	for (uint32_t i = 0; i < a->fn->ninsns; i++) {
		enum found found;
		struct table t;

		if (a->fn->insns[i].kind != KI_INSN_JMP_INDIRECT)
			continue;
		found = find_table(a, i, &t);
		if (found == A_TABLE) {
			int ret;

			find_bound(a, &t);
			ret = read_table(a, i, &t, &found);
			if (ret)
				return ret;
			a->extra[i].table = found == A_TABLE;
		} else if (a->extra[i].traits & KI_TRAIT_TABLE_JUMP || is_interpreter(a->fn)) {
			found = UNKNOWN_TABLE;
		}
		*unknown |= found == UNKNOWN_TABLE;
	}
	return 0;
}
