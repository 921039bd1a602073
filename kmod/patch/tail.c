// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a tail jump leave a return address (KI_RETURNED, returns.c)?
 *
 * The function that is jumped to then finds the stack one word deeper than its caller's caller
 * left it. It does not notice, unless it looks above its own return address: there lie its
 * arguments after the sixth, if it has any. Whether it has cannot be asked, so it is read off its
 * code. The same stack is found by whatever it jumps to in turn. So what is jumped to is followed,
 * function by function, to the end.
 *
 * The unwinder's rows make this easy. For each instruction the row says how far from %rsp, or from
 * %rbp, the word above the return address is. An operand that begins there or above is refused, and
 * so is one on the return address, unless it is only read. objtool has proved the rows right.
 *
 * An address of the stack in another register could lead there, too. A compiler makes such
 * addresses of the variable that they are for (lea, which is an operand); only in hand-written
 * code they are free to all. Hand-written is what has no ftrace site, and there a copy of %rsp is
 * refused. Code that loads %rsp with something else changes stacks, and is refused as well.
 *
 * A jump that cannot be followed could lead to a function that takes such arguments, which the one
 * that jumps handed through unread: an indirect jump, a static call. And one that leads back to the
 * function itself would push again and again: a ring of tail jumps is a loop that needs no stack.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "array.h"
#include "compat.h"
#include "heap/rows.h"
#include "symbols.h"

#define KI_TAIL_FUNCTIONS 32
#define KI_TAIL_BYTES	  0x10000

struct ki_walk {
	unsigned long own_start, own_end; /* the function with the jump */
	unsigned long starts[KI_TAIL_FUNCTIONS];
	u32 n;
	u32 budget;
	/* The function at hand: */
	unsigned long start, end;
	struct module *owner;
	bool compiled;
	u8 *bytes;
};

/* One instruction of it. */
struct ki_step {
	struct insn in;
	struct orc_entry row;
	unsigned long addr;
};

static u8 opcode(const struct ki_step *s)
{
	return s->in.opcode.nbytes == 1 ? s->in.opcode.bytes[0] : 0;
}

static u8 field(u8 low, u8 rex)
{
	return low | (rex ? 8 : 0);
}

static u8 reg_of(const struct insn *in)
{
	return field((in->modrm.bytes[0] >> 3) & 7, in->rex_prefix.bytes[0] & 4);
}

static u8 rm_of(const struct insn *in)
{
	return field(in->modrm.bytes[0] & 7, in->rex_prefix.bytes[0] & 1);
}

static bool is_memory(const struct insn *in)
{
	return in->modrm.nbytes && in->modrm.bytes[0] < 0xc0;
}

#define KI_RSP 4
#define KI_RBP 5

/* The base register of the operand in memory; -1: none. */
static int base_of(const struct insn *in)
{
	u8 mod = in->modrm.bytes[0] >> 6;
	u8 base = in->sib.nbytes ? in->sib.bytes[0] & 7 : in->modrm.bytes[0] & 7;

	if (!mod && base == KI_RBP)
		return -1;
	return field(base, in->rex_prefix.bytes[0] & 1);
}

/* mov, lea: what takes a word and changes none. */
static bool only_reads(const struct ki_step *s)
{
	return opcode(s) == 0x8b || opcode(s) == 0x8d;
}

/* Does it look above, or change, the return address? */
static bool operand_reaches_out(const struct ki_walk *w, const struct ki_step *s)
{
	bool by_frame = s->row.sp_reg == ORC_REG_BP;
	s32 top = s->row.sp_offset - 8, disp = s->in.displacement.value;
	int base;

	if (!is_memory(&s->in))
		return false;
	base = base_of(&s->in);
	if (base != KI_RSP && !(base == KI_RBP && by_frame))
		return false;
	if (base == KI_RSP && (by_frame || opcode(s) == 0x8f))
		return true; /* where it points is not known */
	if (base == KI_RSP && opcode(s) == 0x8d && !w->compiled && reg_of(&s->in) != KI_RSP)
		return true;
	return disp > top || (disp == top && !only_reads(s));
}

static bool moves_stack(const struct ki_walk *w, const struct ki_step *s)
{
	bool load = opcode(s) == 0x8b, store = opcode(s) == 0x89;
	u8 to, from;

	if (opcode(s) == 0x5c || opcode(s) == 0x94) /* pop %rsp, xchg %rsp with %rax */
		return !s->in.rex_prefix.nbytes || !(s->in.rex_prefix.bytes[0] & 1);
	if (load && is_memory(&s->in))
		return reg_of(&s->in) == KI_RSP;
	if (opcode(s) == 0x87)
		return reg_of(&s->in) == KI_RSP || (!is_memory(&s->in) && rm_of(&s->in) == KI_RSP);
	if ((!load && !store) || is_memory(&s->in))
		return false;
	to = load ? reg_of(&s->in) : rm_of(&s->in);
	from = load ? rm_of(&s->in) : reg_of(&s->in);
	if (to == KI_RSP)
		return from != KI_RBP || s->row.sp_reg != ORC_REG_BP;
	return from == KI_RSP && !w->compiled;
}

static bool is_filler(const struct ki_step *s)
{
	u8 op = opcode(s);

	if (op == KI_INT3 || (op == 0x90 && !s->in.rex_prefix.nbytes))
		return true;
	return s->in.opcode.nbytes == 2 && s->in.opcode.bytes[0] == 0x0f &&
	       s->in.opcode.bytes[1] == 0x1f;
}

static bool is_branch(const struct insn *in)
{
	u8 op = in->opcode.bytes[0];

	if (in->vex_prefix.nbytes)
		return false;
	if (in->opcode.nbytes == 2)
		return op == 0x0f && (in->opcode.bytes[1] & 0xf0) == 0x80;
	return in->opcode.nbytes == 1 &&
	       ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 || op == 0xe9 || op == 0xeb);
}

static bool is_return_thunk(unsigned long addr)
{
	static const char *const names[] = {
		"__x86_return_thunk", "retbleed_return_thunk",	 "srso_return_thunk",
		"its_return_thunk",   "srso_alias_return_thunk", "call_depth_return_thunk",
	};
	static unsigned long thunks[ARRAY_SIZE(names)];
	static bool known;
	size_t i;

	for (i = 0; !known && i < ARRAY_SIZE(names); i++)
		thunks[i] = ki_symbol(names[i]);
	known = true;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (thunks[i] == addr)
			return true;
	return false;
}

static bool is_reserved(unsigned long start, unsigned long end, u16 reason)
{
	const struct ki_reserved_row *row;
	u32 from = 0;

	while ((row = ki_reserved_next(start, end, &from)))
		if (row->reason == reason)
			return true;
	return false;
}

/* The function that addr lies in is to be followed, too. */
static u16 follow(struct ki_walk *w, unsigned long addr)
{
	unsigned long size, off;
	u32 i;

	if (addr >= w->own_start && addr < w->own_end)
		return KI_R_TAIL_RING;
	if (is_reserved(addr, addr + 1, KI_R_THUNK) ||
	    !ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return KI_R_TAIL_UNKNOWN;
	for (i = 0; i < w->n; i++)
		if (w->starts[i] == addr - off)
			return KI_R_OK;
	if (w->n == KI_TAIL_FUNCTIONS)
		return KI_R_TAIL_UNKNOWN;
	w->starts[w->n++] = addr - off;
	return KI_R_OK;
}

static u16 follow_branch(struct ki_walk *w, const struct ki_step *s)
{
	unsigned long end = s->addr + s->in.length, target = end + s->in.immediate.value;

	if (is_reserved(s->addr, end, KI_R_STATIC_CALL))
		return KI_R_TAIL_UNKNOWN;
	if ((target >= w->start && target < w->end) || is_return_thunk(target))
		return KI_R_OK;
	return follow(w, target);
}

static u16 look_at_step(struct ki_walk *w, const struct ki_step *s)
{
	bool known = s->row.sp_reg == ORC_REG_SP || s->row.sp_reg == ORC_REG_BP;

	if (is_filler(s) && opcode(s) != KI_INT3)
		return KI_R_OK;
	if ((opcode(s) == KI_INT3 || opcode(s) == KI_JMP) && ki_text_probed(s->addr, s->addr + 1))
		return KI_R_FOREIGN_BREAKPOINT;
	if (opcode(s) == KI_INT3)
		return KI_R_OK;
	if (!known || s->row.type != KI_ORC_CALL)
		return KI_R_TAIL_UNKNOWN;
	if (operand_reaches_out(w, s) || moves_stack(w, s))
		return KI_R_TAIL_STACK;
	if (is_branch(&s->in))
		return follow_branch(w, s);
	if (opcode(s) == 0xff && (reg_of(&s->in) & 6) == 4) /* indirect jumps */
		return KI_R_TAIL_UNKNOWN;
	if ((opcode(s) & 0xfe) == 0xc2 && is_reserved(s->addr, s->addr + 1, KI_R_STATIC_CALL))
		return KI_R_TAIL_UNKNOWN; /* for the time being a return */
	return KI_R_OK;
}

/* Static branches and exceptions may lead to other functions' code: to a cold part. */
static u16 follow_rows(struct ki_walk *w)
{
	const struct ki_reserved_row *row;
	u32 from = 0;
	u16 reason = KI_R_OK;

	while (!reason && (row = ki_reserved_next(w->start, w->end, &from)))
		if ((row->reason == KI_R_JUMP_LABEL || row->reason == KI_R_EXTABLE) &&
		    row->target && (row->target < w->start || row->target >= w->end))
			reason = follow(w, row->target);
	return reason;
}

static u16 look_at_code(struct ki_walk *w)
{
	unsigned long size = w->end - w->start, at = 0;
	struct ki_step s;
	u16 reason = KI_R_OK;

	while (!reason && at < size) {
		if (ki_call(insn_decode)(&s.in, w->bytes + at, size - at, INSN_MODE_64))
			return KI_R_TAIL_UNKNOWN;
		s.addr = w->start + at;
		ki_orc_find(w->owner, s.addr, &s.row);
		reason = look_at_step(w, &s);
		at += s.in.length;
	}
	return reason ? reason : follow_rows(w);
}

/* A cold part has no ftrace site, but the function that it is a part of. */
static bool is_compiled(unsigned long start)
{
	char name[KSYM_SYMBOL_LEN];

	if (ki_call(ftrace_location_range)(start, start + 4))
		return true;
	sprint_symbol(name, start);
	return strstr(name, ".cold");
}

static u16 look_at_function(struct ki_walk *w, unsigned long start)
{
	unsigned long size, off;
	u16 reason;

	if (!ki_call(kallsyms_lookup_size_offset)(start, &size, &off) || size > w->budget)
		return KI_R_TAIL_UNKNOWN;
	w->budget -= size;
	w->start = start;
	w->end = start + size;
	w->compiled = is_compiled(start);
	w->owner = ki_text_owner(w->start, w->end, &reason);
	if (reason)
		return KI_R_TAIL_UNKNOWN;
	if (ki_text_read(w->start, w->bytes, size, KI_VIEW_ORIG))
		reason = KI_R_TAIL_UNKNOWN;
	else
		reason = look_at_code(w);
	module_put(w->owner);
	return reason;
}

static u16 look_at_all(struct ki_walk *w, unsigned long target)
{
	u16 reason = follow(w, target);
	u32 i;

	for (i = 0; !reason && i < w->n; i++) {
		reason = look_at_function(w, w->starts[i]);
		cond_resched();
	}
	return reason;
}

/* Nothing is on the stack but the return address. */
static bool is_bare(struct module *owner, unsigned long addr)
{
	struct orc_entry row;

	ki_orc_find(owner, addr, &row);
	return row.type == KI_ORC_CALL && row.sp_reg == ORC_REG_SP && row.sp_offset == 8 &&
	       row.bp_reg == ORC_REG_UNDEFINED;
}

u16 ki_tail_check(const struct ki_win *w, u8 insn)
{
	unsigned long addr = ki_win_insn(w, insn), size, off;
	struct module *owner;
	struct ki_walk *walk;
	struct ki_copy c;
	u64 target;
	u16 reason;

	lockdep_assert_held(&ki_lock);
	ki_win_copy(w, insn, &c);
	target = c.fix[c.nfix - 1].target;
	if (!is_bare(w->owner, addr) || ki_verify_function(target, &owner))
		return KI_R_TAIL_FRAME;
	module_put(owner);
	if (!ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return KI_R_NO_SYMBOL;
	walk = ki_array(1, sizeof(*walk) + KI_TAIL_BYTES, GFP_KERNEL | __GFP_ZERO);
	if (!walk)
		return KI_R_NO_MEMORY;
	walk->own_start = addr - off;
	walk->own_end = addr - off + size;
	walk->budget = KI_TAIL_BYTES;
	walk->bytes = (u8 *)(walk + 1);
	reason = look_at_all(walk, target);
	ki_array_free(walk);
	return reason;
}
