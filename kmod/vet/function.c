// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function as the driver reads it, to verify windows in it (verify.c): where its instructions
 * begin, where its branches lead, what of it is padding.
 */
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "array.h"
#include "compat.h"
#include "ki.h"
#include "symbols.h"
#include "vet/alone.h"
#include "vet/function.h"
#include "vet/head.h"

#define KI_FUNCTION_MAX 0x40000

int ki_verifier_new(struct ki_verifier **out)
{
	struct ki_verifier *v = kzalloc(sizeof(*v), GFP_KERNEL);

	lockdep_assert_held(&ki_lock);
	if (!v)
		return -ENOMEM;
	v->bytes = ki_array(1, KI_FUNCTION_MAX, GFP_KERNEL);
	v->boundary = ki_array(1, KI_FUNCTION_MAX / 8, GFP_KERNEL);
	v->entered = ki_array(1, KI_FUNCTION_MAX / 8, GFP_KERNEL);
	v->filler = ki_array(1, KI_FUNCTION_MAX / 8, GFP_KERNEL);
	if (!v->bytes || !v->boundary || !v->entered || !v->filler) {
		ki_verifier_free(v);
		return -ENOMEM;
	}
	*out = v;
	return 0;
}

void ki_verifier_free(struct ki_verifier *v)
{
	if (!v)
		return;
	ki_array_free(v->bytes);
	ki_array_free(v->boundary);
	ki_array_free(v->entered);
	ki_array_free(v->filler);
	kfree(v);
}

static void note_entry(struct ki_verifier *v, unsigned long target)
{
	if (target >= v->start && target < v->end)
		__set_bit(target - v->start, v->entered);
}

bool ki_verifier_is_text(unsigned long addr)
{
	struct module *owner;
	u16 reason;

	owner = ki_text_owner(addr, addr + 1, &reason);
	module_put(owner);
	return reason == KI_R_OK;
}

static bool direct_branch(const struct ki_head *in)
{
	u8 op = in->op[0];

	if (in->vex)
		return false;
	if (in->nopcodes == 2)
		return op == 0x0f && (in->op[1] & 0xf0) == 0x80;
	return in->nopcodes == 1 && ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3) ||
				     op == 0xe8 || op == 0xe9 || op == 0xeb);
}

/* An instruction of another tool stands here; what it displaced may decode to anything. */
static bool foreign(const struct ki_verifier *v, unsigned long at)
{
	u8 op = v->bytes[at];

	return (op == KI_INT3 || op == KI_JMP) && ki_text_probed(v->start + at, v->start + at + 1);
}

/* mov to %gs, pop %gs, MSR_GS_BASE into %ecx: around these %gs may lead nowhere. */
static bool touches_gs(const struct ki_head *in, const u8 *bytes)
{
	static const u8 ecx_gs_base[] = {0xb9, 0x01, 0x01, 0x00, 0xc0};
	u8 op = in->op[0];

	if (in->nopcodes == 1 && op == 0x8e)
		return ((in->modrm >> 3) & 7) == 5;
	if (in->nopcodes == 2 && op == 0x0f && in->op[1] == 0xa9)
		return true;
	return in->len == sizeof(ecx_gs_base) && !memcmp(bytes, ecx_gs_base, in->len);
}

#define KI_CLD 0xfc
#define KI_STD 0xfd

static bool is_one_byte(const struct ki_head *in, u8 op)
{
	return in->nopcodes == 1 && !in->vex && in->op[0] == op;
}

/* sti, mov to %ss: the next instruction is in their interrupt shadow. */
static bool shadows(const struct ki_head *in)
{
	return is_one_byte(in, 0xfb) || (is_one_byte(in, 0x8e) && ((in->modrm >> 3) & 7) == 2);
}

/* int3, or a nop of any length. */
static bool is_filler(const struct ki_head *in)
{
	u8 op = in->op[0];

	if (in->vex)
		return false;
	if (in->nopcodes == 1)
		return op == KI_INT3 ||
		       (op == 0x90 && !in->rex && (!in->prefix || in->prefix == 0x66));
	return in->nopcodes == 2 && op == 0x0f && in->op[1] == 0x1f;
}

/* jmp and ret; a call that does not return is not known here. */
static bool never_falls_through(const struct ki_head *in)
{
	u8 op = in->op[0];

	if (in->nopcodes != 1 || in->vex)
		return false;
	return op == 0xe9 || op == 0xeb || op == 0xc3 || op == 0xc2 ||
	       (op == 0xff && ((in->modrm >> 3) & 7) == 4);
}

/*
 * The same, and for good. A static branch that is a jump now is a nop when it is switched. A jump
 * out of all text (to a BPF program) belongs to a tool that takes it away again.
 */
static bool ends_for_good(const struct ki_verifier *v, const struct ki_head *in, unsigned long at)
{
	unsigned long start = v->start + at, end = start + in->len;
	u32 from = 0;

	if (!never_falls_through(in) || ki_reserved_next(start, end, &from))
		return false;
	return !direct_branch(in) || ki_verifier_is_text(end + in->imm);
}

#define KI_ENDBR_LEN 4

/* endbr64, or what kernels of 6.2 and later, and of 6.15 and later, write over unused ones. */
static bool begins_with_endbr(const struct ki_verifier *v)
{
	static const u8 forms[][KI_ENDBR_LEN] = {
		{0xf3, 0x0f, 0x1e, 0xfa}, {0x66, 0x0f, 0x1f, 0x00}, {0x0f, 0x1f, 0x40, 0xd6}};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!memcmp(v->bytes, forms[i], KI_ENDBR_LEN))
			return true;
	return false;
}

/* Where the function's own code begins: endbr64 and the ftrace site, on or off, stand before. */
static unsigned long body_offset(const struct ki_verifier *v)
{
	unsigned long size = v->end - v->start, at = 0;

	if (size > KI_ENDBR_LEN && begins_with_endbr(v))
		at = KI_ENDBR_LEN;
	if (size > at + KI_JMP_LEN &&
	    ki_call(ftrace_location_range)(v->start + at, v->start + at) == v->start + at)
		at += KI_JMP_LEN;
	return at;
}

static bool is_trampoline(const struct ki_verifier *v)
{
	return v->end - v->start >= KI_TRAMPOLINE_LEN && ki_is_trampoline(v->bytes);
}

static bool read_head(const struct ki_verifier *v, unsigned long at, struct ki_head *out)
{
	unsigned long left = v->end - v->start - at;

	if (at <= KI_FUNCTION_MAX - KI_INSN_LONGEST && ki_head_common(v->bytes + at, left, out))
		return true;
	return ki_head_decode(v->bytes + at, left, out);
}

/* What is said of the instructions before. */
struct ki_walk {
	bool shadow, dead, backward;
};

/* Opcodes of one byte for which no question of note_insn has a yes: most of all code. */
static const bool quiet[256] = {
	[0x00 ... 0x3f] = true, [0x50 ... 0x5f] = true, [0x63] = true,
	[0x68 ... 0x6b] = true, [0x80 ... 0x8b] = true, [0x8d] = true,
	[0x98 ... 0x99] = true, [0xa8 ... 0xa9] = true, [0xb0 ... 0xb8] = true,
	[0xba ... 0xc1] = true, [0xc6 ... 0xc7] = true, [0xc9] = true,
	[0xd0 ... 0xd3] = true, [0xf6 ... 0xf7] = true,
};

/*
 * Between a std and the next cld there is no boundary: what a chunk calls would copy backwards, and
 * interrupts alone begin with a cld.
 */
static void note_insn(struct ki_verifier *v, struct ki_walk *w, const struct ki_head *in,
		      unsigned long at)
{
	if (!w->shadow && !w->backward && !is_one_byte(in, KI_STD))
		__set_bit(at, v->boundary);
	if (in->nopcodes == 1 && !in->vex && quiet[in->op[0]]) {
		w->shadow = w->dead = false;
		return;
	}
	if (foreign(v, at))
		v->reason = KI_R_FOREIGN_BREAKPOINT;
	if (touches_gs(in, v->bytes + at))
		v->reason = KI_R_NO_PERCPU;
	w->backward |= is_one_byte(in, KI_STD);
	w->shadow = shadows(in);
	w->backward &= !is_one_byte(in, KI_CLD);
	if (w->dead && is_filler(in))
		bitmap_set(v->filler, at, in->len);
	else
		w->dead = ends_for_good(v, in, at);
	if (direct_branch(in))
		note_entry(v, v->start + at + in->len + in->imm);
}

/* The instructions that begin in the first `size` bytes. */
static void decode_bytes(struct ki_verifier *v, unsigned long size)
{
	struct ki_walk w = {};
	unsigned long at = 0;
	struct ki_head in;

	v->reason = is_trampoline(v) ? KI_R_STATIC_CALL : KI_R_OK;
	v->body = body_offset(v);
	bitmap_zero(v->boundary, size);
	bitmap_zero(v->entered, size);
	bitmap_zero(v->filler, size);
	while (at < size) {
		if (!read_head(v, at, &in)) {
			at++; /* data in text: not a boundary */
			w.dead = false;
			continue;
		}
		note_insn(v, &w, &in, at);
		at += in.len;
	}
}

/*
 * Where calls are counted the kernel writes code into the nops before functions. These have a name
 * of their own, so what stands before the name is not meant.
 */
static bool prefix_begins(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, addr);
	return strstarts(name, "__pfx_") && strstr(name, "+0x0/");
}

/*
 * A breakpoint after a jump is executed by no CPU, or the kernel would not live. A nop may
 * be: a place that only other functions jump to may begin with an instruction that the
 * kernel has written over with nops. So nops must end where padding does: at the function's
 * end, or at an aligned place that something in the function jumps to.
 */
static bool is_padding(const struct ki_verifier *v, unsigned long from, unsigned long to)
{
	if (!memchr_inv(v->bytes + from, KI_INT3, to - from))
		return true;
	if (ki_padding_is_code())
		return to == v->end - v->start && prefix_begins(v->end);
	return to == v->end - v->start || (!((v->start + to) & 7) && test_bit(to, v->entered));
}

static void strike_filler(struct ki_verifier *v)
{
	unsigned long size = v->end - v->start, from = 0, to;

	for (;;) {
		from = find_next_bit(v->filler, size, from);
		if (from >= size)
			return;
		to = find_next_zero_bit(v->filler, size, from);
		if (!is_padding(v, from, to))
			bitmap_clear(v->filler, from, to - from);
		from = to;
	}
}

/* A static branch goes on after itself too, even if a jmp stands there now: no filler begins. */
static void note_reserved_entries(struct ki_verifier *v)
{
	const struct ki_reserved_row *row;
	u32 from = 0;

	while ((row = ki_reserved_next(v->start, v->end, &from))) {
		if (row->target)
			note_entry(v, row->target);
		if (row->reason == KI_R_JUMP_LABEL)
			note_entry(v, row->addr + row->len);
	}
}

u16 ki_verifier_load(struct ki_verifier *v, unsigned long addr)
{
	unsigned long size, off;

	if (addr >= v->start && addr < v->end)
		return KI_R_OK;
	v->start = v->end = 0;
	v->whole = false;
	if (!ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return KI_R_NO_SYMBOL;
	if (size > KI_FUNCTION_MAX)
		return KI_R_FUNCTION_TOO_LARGE;
	v->start = addr - off;
	v->end = v->start + size;
	if (ki_text_read(v->start, v->bytes, size, KI_VIEW_ORIG)) {
		v->start = v->end = 0;
		return KI_R_NOT_TEXT;
	}
	return KI_R_OK;
}

void ki_verifier_decode_whole(struct ki_verifier *v)
{
	if (v->whole)
		return;
	decode_bytes(v, v->end - v->start);
	note_reserved_entries(v);
	strike_filler(v);
	v->whole = true;
}

u16 ki_verifier_decode(struct ki_verifier *v, unsigned long addr, unsigned long end)
{
	const struct ki_alone x = {v->bytes, v->end - v->start, v->start, addr - v->start,
				   end - v->start};

	if (v->whole || end > v->end || !ki_window_is_alone(&x)) {
		ki_verifier_decode_whole(v);
	} else {
		decode_bytes(v, x.to);
		note_reserved_entries(v);
	}
	return v->reason;
}
