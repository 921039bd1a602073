// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a long chunk run?
 *
 * The driver does not compile, but it does not run just anything either. Each instruction must
 * have one of the forms of vet_forms.c. All of them together must be sure to end, with the stack
 * as it was. They write nothing but registers, the words they have pushed, and variables of their
 * session:
 *
 *  - control goes forward only, so the chunk ends;
 *  - the stack changes by push and pop only. On all ways to a place it is equally deep, and at the
 *    end nothing is left. %rsp and %rbp are never written otherwise (traces may need them);
 *  - a memory operand is one of five: [%rsp + n] inside the chunk's own words. A counter or a
 *    global variable of the session. One of a run of counters, by an index that was compared the
 *    moment before. A field of the current task, through a pointer that was loaded the moment
 *    before. A word of the session's in the current thread's block (vet_memory.c);
 *  - calls go to helpers; between ENTER, if it was granted, and LEAVE also to the beginning of
 *    functions of the kernel and of modules;
 *  - a helper has a register set the moment before, to what it may do:
 *      RECORD             %edi, to the session's ring, with no more words than are on the stack
 *      TABLE              %edi, to what may be done with a table of the session; its key is on the
 *                         stack
 *      STACK DEPTH USTACK %edi, to the session's table
 *      STRING USTRING     %esi, to no more words than are on the stack
 *      TEXT               %edi, to the session's table of strings
 *      ENTER_RECORD       %eax, to the session's ring
 *      MINMAX            %edi, to a variable of the session, or to one of a run of counters by the
 *                         index %rdx
 *      SIGNAL             %edi, to a signal's number, or 0
 *      KCOV_COMPARISON    none: its words are on the stack
 *
 * `the moment before`: the instruction before it in the code, and no branch leads between them;
 * what an index was compared with also holds after a constant that goes into another register.
 *
 * Where the thread's words are, a chunk loads into any register, once for all of them, and must
 * see that it is not 0: `test` of the register with itself, and `je` the moment after it. After
 * that the register may be used for the rest of the chunk, until it is written. That holds also
 * where ways join that both have made sure of it. A helper writes %rax (MINMAX nothing), a
 * function of the kernel all of them. The pointer is good for so long. The chunk's thread may be
 * moved to another CPU meanwhile, but the block goes with it. It is not taken away before the
 * thread has ended, or before no task can be in a chunk whose session has words.
 *
 * Not checked: which registers and flags are free at the place, and what a called function of the
 * kernel does. The sender knows; if it is wrong, the instrumented function goes wrong.
 */
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "data/ring.h"
#include "data/stacks.h"
#include "data/table.h"
#include "data/texts.h"
#include "symbols.h"
#include "vet/vetting.h"

/* ---- control ---- */

static u16 lead(struct ki_vetting *v, u64 to, u8 state)
{
	struct ki_place *p;

	if (to <= v->at || to > v->c->len)
		return KI_R_BAD_CHUNK;
	p = &v->place[to];
	if (p->state != KI_VET_UNKNOWN && p->state != state)
		return KI_R_BAD_CHUNK;
	p->regs = p->state == KI_VET_UNKNOWN ? v->regs : p->regs & v->regs;
	p->state = state;
	__set_bit(to, v->led);
	return KI_R_OK;
}

static u16 vet_branch(struct ki_vetting *v, const struct ki_instr *in)
{
	u64 to = v->at + in->len + in->imm;
	u8 there = v->now;

	if (v->entering == 2) /* not granted: control goes past LEAVE */
		v->then |= KI_VET_ENTERED;
	if (in->form->class == KI_IS_JMP)
		v->then = KI_VET_UNKNOWN;
	return lead(v, to, there);
}

/* One reference for each module; NULL is the kernel. */
static u16 keep_owner(struct ki_long_code *c, struct module *owner)
{
	u32 i;

	for (i = 0; i < c->nowners; i++)
		if (c->owner[i] == owner)
			break;
	if (owner && i == c->nowners && i < KI_LONG_OWNERS) {
		c->owner[c->nowners++] = owner;
		return KI_R_OK;
	}
	module_put(owner);
	return owner && i == KI_LONG_OWNERS ? KI_R_TOO_MANY : KI_R_OK;
}

static u16 vet_callee(struct ki_vetting *v, const struct ki_fixup *f)
{
	struct module *owner;
	u16 reason;

	if (!(v->now & KI_VET_ENTERED))
		return KI_R_BAD_CHUNK;
	reason = ki_verify_callee(f->target, &owner);
	if (reason)
		return reason;
	reason = ki_may_sleep(f->target);
	if (!reason)
		return keep_owner(v->c, owner);
	module_put(owner);
	return reason;
}

static u16 vet_record(struct ki_vetting *v)
{
	u32 words = (u8)v->imm;

	if (v->imm_reg != KI_DI || words > KI_RECORD_WORDS || words > (v->now & KI_VET_DEPTH))
		return KI_R_BAD_CHUNK;
	return ki_ring_own(v->session, v->imm >> 8) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_table(struct ki_vetting *v)
{
	static const u8 words[KI_TABLE_OPS] = {
		[KI_TABLE_LOG2] = KI_TABLE_LOG2_WORDS,
		[KI_TABLE_STATS] = KI_TABLE_STATS_WORDS,
	};
	u32 what = v->imm, op = what >> 16 & 15, index = (u16)what;
	struct ki_table_shape t;

	if (v->imm_reg != KI_DI || op >= KI_TABLE_OPS)
		return KI_R_BAD_CHUNK;
	if (!ki_table_own(v->session, what >> 20, &t))
		return KI_R_NOT_YOUR_COUNTER;
	if (t.keys > (v->now & KI_VET_DEPTH) || index >= t.values || words[op] > t.values - index)
		return KI_R_BAD_CHUNK;
	return op <= KI_TABLE_DELETE && !t.shared ? KI_R_BAD_CHUNK : KI_R_OK;
}

static u16 vet_stacks(struct ki_vetting *v)
{
	if (v->imm_reg != KI_DI)
		return KI_R_BAD_CHUNK;
	return ki_stacks_own(v->session, v->imm >> 8) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_string(struct ki_vetting *v)
{
	return v->imm_reg != KI_SI || !v->imm || v->imm > KI_STRING_WORDS ||
			       v->imm > (v->now & KI_VET_DEPTH)
		       ? KI_R_BAD_CHUNK
		       : KI_R_OK;
}

static u16 vet_text(struct ki_vetting *v)
{
	const u8 op = v->imm;

	if (v->imm_reg != KI_DI || op >= KI_TEXT_OPS)
		return KI_R_BAD_CHUNK;
	if (op == KI_TEXT_PATH && !ki_paths_known)
		return KI_R_NO_PATHS;
	v->c->writes |= op == KI_TEXT_COPY_OUT || op == KI_TEXT_COPY_OUT_TEXT;
	return ki_texts_own(v->session, v->imm >> 8) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_signal(struct ki_vetting *v)
{
	v->c->signals = true;
	return v->imm_reg != KI_DI || v->imm > KI_SIGNALS ? KI_R_BAD_CHUNK : KI_R_OK;
}

static u16 vet_minmax(struct ki_vetting *v)
{
	u32 number = v->imm / KI_MINMAX_NUMBER;
	bool indexed = v->imm & KI_MINMAX_INDEXED, own;

	if (v->imm_reg != KI_DI || (indexed && (v->bounded != 2 || v->index != KI_DX)))
		return KI_R_BAD_CHUNK;
	v->lost = 0;
	switch (KI_MINMAX_OF(v->imm)) {
	case KI_MINMAX_CPU:
		own = ki_counters_own(v->session, number, indexed ? v->bound + 1 : 1);
		break;
	case KI_MINMAX_GLOBAL:
		own = !indexed && ki_globals_own(v->session, number, 1);
		break;
	case KI_MINMAX_THREAD:
		v->c->words = true;
		own = !indexed && ki_words_own(v->session, number, 1);
		break;
	default:
		return KI_R_BAD_CHUNK;
	}
	return own ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_enter(struct ki_vetting *v)
{
	v->entering = 1;
	return v->now & KI_VET_ENTERED ? KI_R_BAD_CHUNK : KI_R_OK;
}

static u16 vet_enter_record(struct ki_vetting *v)
{
	if (v->imm_reg != KI_AX)
		return KI_R_BAD_CHUNK;
	if (!ki_ring_own(v->session, v->imm / KI_HIT_IDS))
		return KI_R_NOT_YOUR_COUNTER;
	return vet_enter(v);
}

static u16 vet_leave(struct ki_vetting *v)
{
	v->then &= ~KI_VET_ENTERED;
	return v->now & KI_VET_ENTERED ? KI_R_OK : KI_R_BAD_CHUNK;
}

static u16 vet_comparison(struct ki_vetting *v)
{
	return (v->now & KI_VET_DEPTH) < KI_COMPARISON_WORDS ? KI_R_BAD_CHUNK : KI_R_OK;
}

static u16 vet_any(struct ki_vetting *v)
{
	return KI_R_OK;
}

static u16 vet_helper(struct ki_vetting *v, u64 helper)
{
	static u16 (*const each[KI_HELPERS])(struct ki_vetting * v) = {
#define KI_HELPER(tag, args, entry, vet, cost, text) [KI_HELPER_##tag] = vet_##vet,
#include "uapi/kerninst_helpers.def"
#undef KI_HELPER
	};

	if (helper >= KI_HELPERS)
		return KI_R_BAD_FIXUP;
	return each[array_index_nospec(helper, KI_HELPERS)](v);
}

static u16 vet_call(struct ki_vetting *v)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_HELPER, v->at + 1);
	bool helper = f;

	if (!f)
		f = ki_vet_fixup(v, KI_FIX_CALLEE, v->at + 1);
	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	v->lost = helper ? BIT(KI_AX) : U16_MAX;
	return helper ? vet_helper(v, f->target) : vet_callee(v, f);
}

static u16 vet_push(struct ki_vetting *v, const struct ki_instr *in)
{
	if (in->rm == KI_SP || (v->now & KI_VET_DEPTH) == KI_LONG_DEPTH)
		return KI_R_BAD_CHUNK;
	v->then++;
	return KI_R_OK;
}

static u16 vet_pop(struct ki_vetting *v)
{
	if (!(v->now & KI_VET_DEPTH))
		return KI_R_BAD_CHUNK;
	v->then--;
	return KI_R_OK;
}

/* ---- one instruction ---- */

static u16 vet_insn(struct ki_vetting *v, const struct ki_instr *in)
{
	v->then = v->now;
	v->lost = ki_instr_written(in);
	if (v->lost & (BIT(KI_SP) | BIT(KI_BP)))
		return KI_R_BAD_CHUNK;
	switch (in->form->class) {
	case KI_IS_PUSH:
		return vet_push(v, in);
	case KI_IS_POP:
		return vet_pop(v);
	case KI_IS_CALL:
		return vet_call(v);
	case KI_IS_JMP:
	case KI_IS_JCC:
		return vet_branch(v, in);
	case KI_IS_ADDRESS: /* a patch may be moved: nothing in it is told its place */
		return in->mod == 0 && in->rm % 8 == 5 ? KI_R_BAD_CHUNK : KI_R_OK;
	case KI_IS_NOP:
		return KI_R_OK;
	default:
		return in->memory ? ki_vet_memory(v, in) : KI_R_OK;
	}
}

/* `cmp $imm, %r64` */
static bool compares(const struct ki_instr *in)
{
	return (in->form->class == KI_IS_CMP_IMM || in->form->class == KI_IS_CMP_IMM8) &&
	       !in->memory && in->size == 8 && in->imm >= 0;
}

static bool is_jcc(const struct ki_instr *in, u8 condition)
{
	return in->form->class == KI_IS_JCC && (in->op & 15) == condition;
}

/* `test` of a register with itself: which; -1: it is not. */
static int tests(const struct ki_instr *in, u8 size)
{
	return in->form->class == KI_IS_TEST && !in->memory && in->size == size && in->reg == in->rm
		       ? in->rm
		       : -1;
}

/* The register of `mov $imm32, %reg`; -1: it is another instruction. */
static int constant_in(const struct ki_instr *in)
{
	return in->form->class == KI_IS_CONSTANT && in->size == 4 && !in->rex ? in->rm : -1;
}

/* What registers hold after the instruction. */
static void note_words(struct ki_vetting *v, const struct ki_instr *in, int self)
{
	v->regs &= ~((u32)v->lost << 16 | v->lost);
	if (self == KI_SELF_WORDS)
		v->regs |= KI_VET_HOLDS(in->reg);
	if (v->tested >= 0 && is_jcc(in, 4) && (v->regs & KI_VET_HOLDS(v->tested)))
		v->regs |= KI_VET_SURE(v->tested);
	v->tested = tests(in, 8);
}

/* What the instruction makes sure of, for those after it. */
static void note(struct ki_vetting *v, const struct ki_instr *in)
{
	const struct ki_fixup *last = v->fix ? &v->c->fix[v->fix - 1] : NULL;
	int self = last && last->kind == KI_FIX_SELF && last->off >= v->at ? (int)last->target : -1;

	v->task = self == KI_SELF_TASK ? in->reg : -1;
	v->imm_reg = constant_in(in);
	v->imm = in->imm;
	note_words(v, in, self);
	if (compares(in)) {
		v->bounded = 1;
		v->index = in->rm;
		v->bound = in->imm;
	} else if (v->bounded != 2 || v->imm_reg < 0 || v->imm_reg == v->index) {
		v->bounded = v->bounded == 1 && is_jcc(in, 7) ? 2 : 0;
	}
}

/* ENTER, test %eax, %eax and jz stand together. */
static bool in_sequence(const struct ki_vetting *v, const struct ki_instr *in)
{
	switch (v->entering) {
	case 1:
		return tests(in, 4) == KI_AX;
	case 2:
		return is_jcc(in, 4);
	default:
		return true;
	}
}

static u16 arrive(struct ki_vetting *v)
{
	const struct ki_place *led = &v->place[v->at];

	if (test_bit(v->at, v->led)) { /* others come here: what was made sure of does not hold */
		if (v->entering || (v->now != KI_VET_UNKNOWN && v->now != led->state))
			return KI_R_BAD_CHUNK;
		v->regs = v->now == KI_VET_UNKNOWN ? led->regs : v->regs & led->regs;
		v->now = led->state;
		v->task = v->tested = v->imm_reg = -1;
		v->bounded = 0;
	}
	return v->now == KI_VET_UNKNOWN ? KI_R_BAD_CHUNK : KI_R_OK;
}

/* The instruction at v->at. */
static u16 vet_next(struct ki_vetting *v, struct ki_instr *in)
{
	struct ki_long_code *c = v->c;
	u8 entering = v->entering;
	u16 reason = arrive(v);

	if (reason)
		return reason;
	if (!ki_instr_read(c->code + v->at, c->len - v->at, in) || !in_sequence(v, in))
		return KI_R_BAD_CHUNK;
	reason = vet_insn(v, in);
	if (entering)
		v->entering = entering == 1 ? 2 : 0;
	note(v, in);
	memset(c->depth + v->at, v->now & KI_VET_DEPTH, in->len);
	__set_bit(v->at, v->starts);
	v->now = v->then;
	return reason;
}

static u16 vet_all(struct ki_vetting *v)
{
	struct ki_long_code *c = v->c;
	struct ki_instr in;
	u16 reason;

	for (v->at = 0; v->at < c->len; v->at += in.len) {
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
	struct ki_vetting v = {.session = s, .c = c, .task = -1, .tested = -1, .imm_reg = -1};
	u16 reason = KI_R_NO_MEMORY;
	u32 i;

	v.place = ki_array(1, (c->len + 1) * sizeof(*v.place), GFP_KERNEL);
	v.led = bitmap_zalloc(c->len + 1, GFP_KERNEL);
	v.starts = bitmap_zalloc(c->len + 1, GFP_KERNEL);
	if (v.place && v.led && v.starts) {
		for (i = 0; i <= c->len; i++)
			v.place[i].state = KI_VET_UNKNOWN;
		reason = vet_all(&v);
	}
	ki_array_free(v.place);
	bitmap_free(v.led);
	bitmap_free(v.starts);
	return reason;
}
