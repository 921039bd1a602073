// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a long chunk run?
 *
 * The driver does not compile, but it does not run just anything either. Each instruction must have
 * one of the forms below, and all of them together must be sure to end, with the stack as it was,
 * and to write nothing but registers, the words they have pushed, and variables of their session:
 *
 *  - control goes forward only, so the chunk ends;
 *  - the stack changes by push and pop only; on all ways to a place it is equally deep, and at the
 * end nothing is left; %rsp and %rbp are never written otherwise (traces may need them);
 *  - a memory operand is [%rsp + n] inside the chunk's own words; a counter or a global variable of
 *    the session; one of a run of counters, by an index that was compared the moment before; a
 * field of the current task, through a pointer that was loaded the moment before;
 *  - calls go to helpers, and between ENTER, if it was granted, and LEAVE to functions of the
 * kernel.
 *
 * `the moment before`: the instruction before it in the code, and no branch leads between them.
 *
 * Not checked: which registers and flags are free at the place, and what a called function of the
 * kernel does. The sender knows; if it is wrong, the instrumented function goes wrong.
 */
#include <linux/bits.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "form.h"
#include "long.h"
#include "symbols.h"

/* Before each byte: a place nothing is known of, or how deep the stack is there. */
#define UNKNOWN 0xff
#define ENTERED 0x40 /* between ENTER and LEAVE */
#define DEPTH	0x3f

struct ki_vetting {
	const struct ki_session *session;
	struct ki_long_code *c;
	u8 *state;	    /* at each byte, and behind the last */
	unsigned long *led; /* branches lead there */
	unsigned long *starts;
	u32 at, fix;
	u8 now;	 /* the state before the instruction; UNKNOWN: control does not come here */
	u8 then; /* the state behind it */
	/* What the instructions just before have made sure of: */
	int task;   /* this register holds the current task; -1: none does */
	s64 number; /* %edi holds this constant; -1: none */
	u8 bounded; /* 1: `index` has been compared with `bound`, 2: it is not above it */
	u8 index;
	u64 bound;
	u8 entering; /* 1: ENTER has been called, 2: %eax has been tested */
};

/* The next fixup, if its field is at off and it is of that kind. */
static const struct ki_fixup *take_fixup(struct ki_vetting *v, u8 kind, u32 off)
{
	const struct ki_fixup *f = &v->c->fix[v->fix];

	if (v->fix == v->c->nfix || f->kind != kind || f->off != off)
		return NULL;
	v->fix++;
	return f;
}

/* ---- memory ---- */

static u32 disp_at(const struct ki_vetting *v, const struct insn *in)
{
	return v->at + insn_offset_displacement((struct insn *)in);
}

static u16 vet_counter(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = take_fixup(v, KI_FIX_PERCPU, disp_at(v, in));
	u8 index = X86_SIB_INDEX(in->sib.value) | (ki_insn_rex(in, 2) ? 8 : 0);
	u64 count = 1;

	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	if (index != KI_SP) { /* which means none */
		if (v->bounded != 2 || index != v->index || X86_SIB_SCALE(in->sib.value) != 3)
			return KI_R_BAD_CHUNK;
		count = v->bound + 1;
	}
	return ki_counters_own(v->session, f->target, count) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_self(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = take_fixup(v, KI_FIX_SELF, disp_at(v, in));

	if (!f || f->tail || f->target >= KI_SELVES)
		return KI_R_BAD_FIXUP;
	if (in->opcode.nbytes != 1 || in->opcode.bytes[0] != 0x8b || in->sib.bytes[0] != 0x25 ||
	    ki_insn_rex(in, 8) != (f->target == KI_SELF_TASK) || in->opnd_bytes == 2)
		return KI_R_BAD_CHUNK;
	return KI_R_OK;
}

/* %gs:disp32, perhaps with an index. */
static u16 vet_percpu(struct ki_vetting *v, const struct insn *in)
{
	if (X86_MODRM_MOD(in->modrm.value) || X86_MODRM_RM(in->modrm.value) != 4 ||
	    X86_SIB_BASE(in->sib.value) != 5 || ki_insn_rex(in, 1))
		return KI_R_BAD_CHUNK;
	if (v->fix < v->c->nfix && v->c->fix[v->fix].kind == KI_FIX_SELF)
		return vet_self(v, in);
	return vet_counter(v, in);
}

static u16 vet_global(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = take_fixup(v, KI_FIX_GLOBAL, disp_at(v, in));

	if (!f || f->tail != v->at + in->length - (f->off + 4))
		return KI_R_BAD_FIXUP;
	return ki_globals_own(v->session, f->target, 1) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_stack(const struct ki_vetting *v, const struct insn *in)
{
	s32 disp = X86_MODRM_MOD(in->modrm.value) ? in->displacement.value : 0;

	if (in->sib.bytes[0] != 0x24 || ki_insn_rex(in, 3)) /* [%rsp + disp] */
		return KI_R_BAD_CHUNK;
	return disp >= 0 && disp + 8 <= (v->now & DEPTH) * 8 ? KI_R_OK : KI_R_BAD_CHUNK;
}

static u16 vet_field(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = take_fixup(v, KI_FIX_FIELD, disp_at(v, in));
	u64 more;

	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	more = f->target >> 32;
	if ((u32)f->target >= KI_FIELDS || more > 8 || (more && (u32)f->target != KI_FIELD_COMM))
		return KI_R_BAD_FIXUP;
	if (in->opcode.nbytes != 1 || in->opcode.bytes[0] != 0x8b || in->opnd_bytes == 2 ||
	    ki_insn_rex(in, 8) != ((u32)f->target == KI_FIELD_COMM))
		return KI_R_BAD_CHUNK;
	return KI_R_OK;
}

static u16 vet_memory(struct ki_vetting *v, const struct insn *in, bool gs)
{
	u8 mod = X86_MODRM_MOD(in->modrm.value), rm = X86_MODRM_RM(in->modrm.value);

	if (gs)
		return vet_percpu(v, in);
	if (mod == 0 && rm == 5)
		return vet_global(v, in);
	if (rm == 4)
		return vet_stack(v, in);
	if (mod == 2 && ki_insn_rm(in) == v->task)
		return vet_field(v, in);
	return KI_R_BAD_CHUNK;
}

/* ---- control ---- */

static u16 lead(struct ki_vetting *v, u64 to, u8 state)
{
	if (to <= v->at || to > v->c->len)
		return KI_R_BAD_CHUNK;
	if (v->state[to] != UNKNOWN && v->state[to] != state)
		return KI_R_BAD_CHUNK;
	v->state[to] = state;
	__set_bit(to, v->led);
	return KI_R_OK;
}

static u16 vet_branch(struct ki_vetting *v, const struct insn *in)
{
	u64 to = v->at + in->length + (s64)in->immediate.value;
	u8 op = in->opcode.bytes[in->opcode.nbytes - 1], there = v->now;

	if (v->entering == 2) /* not granted: control goes behind LEAVE */
		v->then |= ENTERED;
	if (op == 0xe9 || op == 0xeb)
		v->then = UNKNOWN;
	return lead(v, to, there);
}

static u16 vet_callee(struct ki_vetting *v, const struct ki_fixup *f)
{
	struct module *owner;
	u16 reason = ki_verify_callee(f->target, &owner);

	module_put(owner);
	if (owner) /* it could be unloaded */
		return KI_R_NOT_A_FUNCTION;
	return reason ? reason : v->now & ENTERED ? KI_R_OK : KI_R_BAD_CHUNK;
}

static u16 vet_helper(struct ki_vetting *v, u64 helper)
{
	bool entered = v->now & ENTERED;

	switch (helper) {
	case KI_HELPER_ENTER:
		v->entering = 1;
		return entered ? KI_R_BAD_CHUNK : KI_R_OK;
	case KI_HELPER_LEAVE:
		v->then &= ~ENTERED;
		return entered ? KI_R_OK : KI_R_BAD_CHUNK;
	case KI_HELPER_THREAD_GET:
	case KI_HELPER_THREAD_SET:
		if (v->number < 0 || !ki_globals_own(v->session, v->number, 1))
			return KI_R_NOT_YOUR_COUNTER;
		return KI_R_OK;
	default:
		return helper < KI_HELPERS ? KI_R_OK : KI_R_BAD_FIXUP;
	}
}

static u16 vet_call(struct ki_vetting *v)
{
	const struct ki_fixup *f = take_fixup(v, KI_FIX_HELPER, v->at + 1);
	bool helper = f;

	if (!f)
		f = take_fixup(v, KI_FIX_CALLEE, v->at + 1);
	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	return helper ? vet_helper(v, f->target) : vet_callee(v, f);
}

static u16 vet_push(struct ki_vetting *v, u8 op, u8 reg)
{
	u8 depth = v->now & DEPTH;

	if (reg == KI_SP || (op >= 0x58 && (reg == KI_BP || !depth)) ||
	    (op < 0x58 && depth == KI_LONG_DEPTH))
		return KI_R_BAD_CHUNK;
	v->then += op < 0x58 ? 1 : -1;
	return KI_R_OK;
}

/* ---- one instruction ---- */

static u16 vet_form(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_form *f = ki_form_find(in);
	bool gs, lock, memory = ki_insn_memory(in);

	if (!f || !ki_insn_prefixes(in, &gs, &lock) || ki_form_writes_frame(f, in))
		return KI_R_BAD_CHUNK;
	if (in->opcode.bytes[0] == 0x90 && in->rex_prefix.nbytes)
		return KI_R_BAD_CHUNK; /* xchg %r8 */
	if ((gs && !memory) || (lock && !(memory && (f->flags & KI_FORM_LOCK) && !gs)))
		return KI_R_BAD_CHUNK;
	if (f->flags & KI_FORM_BRANCH)
		return in->prefixes.nbytes ? KI_R_BAD_CHUNK : vet_branch(v, in);
	if (!memory)
		return KI_R_OK;
	if (f->flags & KI_FORM_MEM)
		return vet_memory(v, in, gs);
	if (in->opcode.nbytes == 2) /* nop: it touches nothing */
		return in->opcode.bytes[1] == 0x1f ? KI_R_OK : KI_R_BAD_CHUNK;
	if (in->opcode.bytes[0] != 0x8d) /* lea: neither does it */
		return KI_R_BAD_CHUNK;
	return X86_MODRM_MOD(in->modrm.value) == 0 && X86_MODRM_RM(in->modrm.value) == 5
		       ? KI_R_BAD_CHUNK
		       : KI_R_OK;
}

static u16 vet_insn(struct ki_vetting *v, const struct insn *in)
{
	u8 op = in->opcode.bytes[0];

	v->then = v->now;
	if (in->opcode.nbytes == 1 && op >= 0x50 && op <= 0x5f)
		return in->prefixes.nbytes
			       ? KI_R_BAD_CHUNK
			       : vet_push(v, op, (op & 7) | (ki_insn_rex(in, 1) ? 8 : 0));
	if (in->opcode.nbytes == 1 && op == 0xe8)
		return in->prefixes.nbytes || in->rex_prefix.nbytes ? KI_R_BAD_CHUNK : vet_call(v);
	return vet_form(v, in);
}

/* The ModRM and the immediate of `cmp $imm, %r64`. */
static bool compares(const struct insn *in)
{
	u8 op = in->opcode.bytes[0];

	return in->opcode.nbytes == 1 && (op == 0x81 || op == 0x83) && !ki_insn_memory(in) &&
	       X86_MODRM_REG(in->modrm.value) == 7 && ki_insn_rex(in, 8) &&
	       in->immediate.value >= 0;
}

static bool is_jcc(const struct insn *in, u8 condition)
{
	u8 op = in->opcode.bytes[in->opcode.nbytes - 1];

	return op == (in->opcode.nbytes == 2 ? 0x80 : 0x70) + condition;
}

/* What the instruction makes sure of, for the next. */
static void note(struct ki_vetting *v, const struct insn *in, const u8 *code)
{
	const struct ki_fixup *last = v->fix ? &v->c->fix[v->fix - 1] : NULL;
	bool task = last && last->kind == KI_FIX_SELF && last->off >= v->at && !last->target;

	v->task = task ? ki_insn_reg(in) : -1;
	v->number = in->length == 5 && code[0] == 0xbf ? (u32)in->immediate.value : -1;
	if (compares(in)) {
		v->bounded = 1;
		v->index = ki_insn_rm(in);
		v->bound = in->immediate.value;
	} else {
		v->bounded = v->bounded == 1 && is_jcc(in, 7) ? 2 : 0;
	}
}

/* ENTER, test %eax, %eax and jz stand together. */
static bool in_sequence(struct ki_vetting *v, const struct insn *in, const u8 *code)
{
	switch (v->entering) {
	case 1:
		return in->length == 2 && code[0] == 0x85 && code[1] == 0xc0;
	case 2:
		return is_jcc(in, 4);
	default:
		return true;
	}
}

static u16 arrive(struct ki_vetting *v)
{
	u8 led = v->state[v->at];

	if (test_bit(v->at, v->led)) { /* others come here: what was made sure of does not hold */
		if (v->entering || (v->now != UNKNOWN && v->now != led))
			return KI_R_BAD_CHUNK;
		v->now = led;
		v->task = v->number = -1;
		v->bounded = 0;
	}
	return v->now == UNKNOWN ? KI_R_BAD_CHUNK : KI_R_OK;
}

/* The instruction at v->at. */
static u16 vet_next(struct ki_vetting *v, struct insn *in)
{
	struct ki_long_code *c = v->c;
	const u8 *code = c->code + v->at;
	u8 entering = v->entering;
	u16 reason = arrive(v);

	if (reason)
		return reason;
	if (ki_call(insn_decode)(in, code, c->len - v->at, INSN_MODE_64) ||
	    !in_sequence(v, in, code))
		return KI_R_BAD_CHUNK;
	reason = vet_insn(v, in);
	if (entering)
		v->entering = entering == 1 ? 2 : 0;
	note(v, in, code);
	memset(c->depth + v->at, v->now & DEPTH, in->length);
	__set_bit(v->at, v->starts);
	v->now = v->then;
	return reason;
}

static u16 vet_all(struct ki_vetting *v)
{
	struct ki_long_code *c = v->c;
	struct insn in;
	u16 reason;

	for (v->at = 0; v->at < c->len; v->at += in.length) {
		reason = vet_next(v, &in);
		if (reason)
			return reason;
	}
	__set_bit(v->at, v->starts);
	reason = arrive(v);
	if (reason || v->now || v->entering)
		return KI_R_BAD_CHUNK;
	if (v->fix != c->nfix)
		return KI_R_BAD_FIXUP;
	return bitmap_subset(v->led, v->starts, c->len + 1) ? KI_R_OK : KI_R_BAD_CHUNK;
}

u16 ki_vet_long(const struct ki_session *s, struct ki_long_code *c)
{
	struct ki_vetting v = {.session = s, .c = c, .task = -1, .number = -1};
	u16 reason = KI_R_NO_MEMORY;

	v.state = kvmalloc(c->len + 1, GFP_KERNEL);
	v.led = bitmap_zalloc(c->len + 1, GFP_KERNEL);
	v.starts = bitmap_zalloc(c->len + 1, GFP_KERNEL);
	if (v.state && v.led && v.starts) {
		memset(v.state, UNKNOWN, c->len + 1);
		reason = vet_all(&v);
	}
	kvfree(v.state);
	bitmap_free(v.led);
	bitmap_free(v.starts);
	return reason;
}
