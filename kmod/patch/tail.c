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
 * code they are free to all. Hand-written is what has neither an ftrace site nor a stack
 * protector's canary. Only a compiler puts a canary into a frame, and does if the address of a
 * variable is taken. There a copy of %rsp is refused. (The bodies of system calls are declared
 * inline, so they have no site.) Code that loads %rsp with something else changes stacks,
 * and is refused as well.
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
#include "patch/step.h"
#include "symbols.h"
#include "yield.h"

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
	/* After the prologue's end %rsp is so far below where it was before the call, or farther,
	   wherever the row is by %rbp and it has not been raised. */
	unsigned long deep_from;
	s32 depth;
	bool raised;
};

/* Does it look above, or change, the return address? */
static bool operand_reaches_out(const struct ki_walk *w, const struct ki_step *s)
{
	bool by_frame = s->row.sp_reg == ORC_REG_BP;
	s32 top = s->row.sp_offset - 8, disp = s->in.displacement.value;
	int base;

	if (!ki_step_in_memory(s))
		return false;
	base = ki_step_base(s);
	if (base != KI_RSP && !(base == KI_RBP && by_frame))
		return false;
	if (base == KI_RSP && ki_step_opcode(s) == 0x8f)
		return true; /* where it points is not known */
	if (base == KI_RSP && ki_step_opcode(s) == 0x8d && !w->compiled && ki_step_reg(s) != KI_RSP)
		return true;
	if (base == KI_RSP && by_frame)
		return w->raised || s->addr <= w->deep_from || disp >= w->depth - 8;
	return disp > top || (disp == top && !ki_step_only_reads(s));
}

static bool moves_stack(const struct ki_walk *w, const struct ki_step *s)
{
	bool load = ki_step_opcode(s) == 0x8b, store = ki_step_opcode(s) == 0x89;
	u8 to, from;

	if (ki_step_opcode(s) == 0x5c ||
	    ki_step_opcode(s) == 0x94) /* pop %rsp, xchg %rsp with %rax */
		return !s->in.rex_prefix.nbytes || !(s->in.rex_prefix.bytes[0] & 1);
	if (load && ki_step_in_memory(s))
		return ki_step_reg(s) == KI_RSP;
	if (ki_step_opcode(s) == 0x87)
		return ki_step_reg(s) == KI_RSP ||
		       (!ki_step_in_memory(s) && ki_step_rm(s) == KI_RSP);
	if ((!load && !store) || ki_step_in_memory(s))
		return false;
	to = load ? ki_step_reg(s) : ki_step_rm(s);
	from = load ? ki_step_rm(s) : ki_step_reg(s);
	if (to == KI_RSP)
		return from != KI_RBP || s->row.sp_reg != ORC_REG_BP;
	return from == KI_RSP && !w->compiled;
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

/* What is left of a frame that is being left: nothing there leads back into the function. */
static bool leads_back(const struct ki_walk *w, const struct ki_step *s)
{
	unsigned long end = s->addr + s->in.length, target = end + s->in.immediate.value;

	if (!w->raised || s->row.sp_reg != ORC_REG_BP)
		return false;
	return (ki_step_branches(s) && target >= w->start && target < w->end) ||
	       is_reserved(s->addr, end, KI_R_JUMP_LABEL) ||
	       is_reserved(s->addr, end, KI_R_EXTABLE);
}

static u16 look_at_step(struct ki_walk *w, const struct ki_step *s)
{
	bool known = s->row.sp_reg == ORC_REG_SP || s->row.sp_reg == ORC_REG_BP;

	if (ki_step_is_filler(s) && ki_step_opcode(s) != KI_INT3)
		return KI_R_OK;
	if ((ki_step_opcode(s) == KI_INT3 || ki_step_opcode(s) == KI_JMP) &&
	    ki_text_probed(s->addr, s->addr + 1))
		return KI_R_FOREIGN_BREAKPOINT;
	if (ki_step_opcode(s) == KI_INT3)
		return KI_R_OK;
	if (!known || s->row.type != KI_ORC_CALL)
		return KI_R_TAIL_UNKNOWN;
	if (operand_reaches_out(w, s) || moves_stack(w, s) || leads_back(w, s))
		return KI_R_TAIL_STACK;
	if (ki_step_branches(s))
		return follow_branch(w, s);
	if (ki_step_opcode(s) == 0xff && (ki_step_reg(s) & 6) == 4) /* indirect jumps */
		return KI_R_TAIL_UNKNOWN;
	if ((ki_step_opcode(s) & 0xfe) == 0xc2 &&
	    is_reserved(s->addr, s->addr + 1, KI_R_STATIC_CALL))
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
		w->raised = s.row.sp_reg == ORC_REG_BP && !ki_step_is_last(&s) &&
			    (w->raised || ki_step_may_raise(&s));
		at += s.in.length;
	}
	return reason ? reason : follow_rows(w);
}

/* mov %REG into the frame. */
static bool keeps_word(const struct ki_walk *w, const struct ki_step *s, u8 reg)
{
	int base;

	if (ki_step_opcode(s) != 0x89 || !(s->in.rex_prefix.bytes[0] & 8) ||
	    !ki_step_in_memory(s) || ki_step_reg(s) != reg)
		return false;
	base = ki_step_base(s);
	return (base == KI_RSP || (base == KI_RBP && s->row.sp_reg == ORC_REG_BP)) &&
	       !operand_reaches_out(w, s);
}

/* What is known of a function from its first instructions. */
struct ki_prologue {
	struct ki_step last;
	s32 depth;    /* of %rsp, so far; 0: %rbp is not yet the frame, or the prologue has ended */
	u8 frames;    /* so often has %rbp become the frame */
	bool guarded; /* the canary was taken, and kept at once */
};

static bool begins_frame(const struct ki_prologue *p, const struct ki_step *s)
{
	return s->row.sp_reg == ORC_REG_BP && p->last.row.sp_reg == ORC_REG_SP &&
	       !ki_step_keeps_frame(&p->last);
}

/* From "mov %rsp,%rbp" straight on to "sub $N,%rsp". */
static void add_depth(struct ki_walk *w, struct ki_prologue *p, const struct ki_step *s)
{
	if (begins_frame(p, s))
		p->depth =
			!p->frames++ && ki_step_makes_frame(&p->last) ? p->last.row.sp_offset : 0;
	if (!p->depth)
		return;
	if (ki_step_lowers(s)) {
		w->depth = p->depth + ki_step_lowers(s);
		w->deep_from = s->addr;
		p->depth = 0;
	} else if (ki_step_pushes(s)) {
		p->depth += 8;
	} else if (ki_step_may_raise(s) || ki_step_branches(s) || ki_step_is_last(s) ||
		   ki_step_opcode(s) == 0xff) {
		p->depth = 0;
	}
}

static void read_prologue(struct ki_walk *w)
{
	unsigned long size = w->end - w->start, at = 0;
	struct ki_prologue p = {};
	struct ki_step s;

	w->depth = 0;
	w->deep_from = ULONG_MAX;
	w->raised = false;
	while (at < size) {
		if (ki_call(insn_decode)(&s.in, w->bytes + at, size - at, INSN_MODE_64))
			return;
		s.addr = w->start + at;
		ki_orc_find(w->owner, s.addr, &s.row);
		if (at)
			add_depth(w, &p, &s);
		if (at && ki_step_takes_canary(&p.last))
			p.guarded |= keeps_word(w, &s, ki_step_reg(&p.last));
		p.last = s;
		at += s.in.length;
	}
	if (p.frames > 1)
		w->deep_from = ULONG_MAX;
	w->compiled |= p.guarded;
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
	w->owner = ki_text_owner(w->start, w->end, &reason);
	if (reason)
		return KI_R_TAIL_UNKNOWN;
	if (ki_text_read(w->start, w->bytes, size, KI_VIEW_ORIG)) {
		reason = KI_R_TAIL_UNKNOWN;
	} else {
		w->compiled = is_compiled(w->start);
		read_prologue(w);
		reason = look_at_code(w);
	}
	module_put(w->owner);
	return reason;
}

static u16 look_at_all(struct ki_walk *w, unsigned long target)
{
	u16 reason = follow(w, target);
	u32 i;

	for (i = 0; !reason && i < w->n; i++) {
		reason = look_at_function(w, w->starts[i]);
		ki_yield();
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
