// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading one instruction of a chunk by the table of forms (vet_forms.c).
 *
 * The kernel's decoder knows all encodings and tells of them in fields that mean different things
 * in each. So what looks like a push by one field is a vector instruction by another. So the bytes
 * are read here by the table alone, which has one encoding: each byte is a prefix that the table
 * allows, or stands where a row says that something stands. Then the kernel's decoder must have
 * found the same things at the same places. What one of the two cannot read is refused.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "symbols.h"
#include "vet/form.h"

#define LONGEST 15 /* bytes of an instruction */

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

struct cursor {
	const u8 *code;
	u32 len, at;
	bool over; /* a byte was wanted that is not there */
};

static u8 peek(struct cursor *c)
{
	if (c->at < c->len)
		return c->code[c->at];
	c->over = true;
	return 0;
}

static u8 take(struct cursor *c)
{
	u8 byte = peek(c);

	c->at += !c->over;
	return byte;
}

/* Little-endian, with a sign. */
static s64 take_number(struct cursor *c, u8 bytes)
{
	u64 v = 0;
	u8 i;

	for (i = 0; i < bytes; i++)
		v |= (u64)take(c) << (8 * i);
	return bytes && bytes < 8 && v >> (8 * bytes - 1) ? (s64)(v | ~0ull << (8 * bytes))
							  : (s64)v;
}

/* Each once: with two of a kind nothing would be wrong, but there is no need. */
static bool read_prefixes(struct cursor *c, struct ki_instr *in)
{
	for (;; in->prefixes++) {
		u8 byte = peek(c);
		bool *has = byte == 0x65   ? &in->gs
			    : byte == 0xf0 ? &in->lock
			    : byte == 0x66 ? &in->half
					   : NULL;

		if (!has)
			break;
		if (*has)
			return false;
		*has = true;
		take(c);
	}
	if ((peek(c) & 0xf0) == 0x40)
		in->rex = take(c);
	return true;
}

static u8 displacement(const struct ki_instr *in)
{
	u8 low = in->modrm & 7;

	if (in->mod == 0)
		return low == 5 || (low == 4 && (in->sib & 7) == 5) ? 4 : 0;
	return in->mod == 1 ? 1 : in->mod == 2 ? 4 : 0;
}

static void read_operand(struct cursor *c, struct ki_instr *in)
{
	in->modrm = take(c);
	in->mod = in->modrm >> 6;
	in->reg = (in->modrm >> 3 & 7) | (in->rex & REX_R ? 8 : 0);
	in->rm = (in->modrm & 7) | (in->rex & REX_B ? 8 : 0);
	in->memory = in->mod != 3;
	in->has_sib = in->memory && (in->modrm & 7) == 4;
	if (in->has_sib)
		in->sib = take(c);
	in->index = (in->sib >> 3 & 7) | (in->rex & REX_X ? 8 : 0);
	in->disp_at = c->at;
	in->disp_bytes = displacement(in);
	in->disp = take_number(c, in->disp_bytes);
}

static u8 size_of(const struct ki_instr *in)
{
	if (in->form->sizes <= 1)
		return in->form->sizes;
	return in->rex & REX_W ? 8 : in->half ? 2 : 4;
}

static u8 bytes_of_number(const struct ki_instr *in)
{
	switch (in->form->imm) {
	case KI_IMM_8:
		return 1;
	case KI_IMM_Z:
		return in->size == 2 ? 2 : 4;
	case KI_IMM_V:
		return in->size;
	default:
		return 0;
	}
}

/* Has each bit of REX a meaning, and the operand size? Both say it: no. */
static bool may_have_size(const struct ki_instr *in)
{
	const struct ki_form *f = in->form;
	u8 rex = 0;

	if (f->sizes & 8)
		rex |= REX_W;
	if (f->flags & KI_FORM_MODRM)
		rex |= REX_B | (f->group ? 0 : REX_R) | (in->has_sib ? REX_X : 0);
	if (f->flags & KI_FORM_OP)
		rex |= REX_B;
	if (in->rex && (!rex || (in->rex & 0xf & ~rex)))
		return false;
	if (in->half && (in->rex & REX_W || !(f->sizes & 2)))
		return false;
	return in->size == f->sizes || in->size & f->sizes;
}

static bool may_have_operand(const struct ki_instr *in)
{
	u16 flags = in->form->flags;

	if (in->gs && !(in->memory && flags & KI_FORM_MEM))
		return false;
	if (in->lock && !(in->memory && flags & KI_FORM_LOCK && !in->gs))
		return false;
	if (!(flags & KI_FORM_MODRM))
		return true;
	return flags & (in->memory ? KI_FORM_MEM | KI_FORM_ADDR : KI_FORM_REG);
}

static bool agrees(const struct ki_instr *in, const u8 *code, u32 len)
{
	struct insn k;

	if (ki_call(insn_decode)(&k, code, len, INSN_MODE_64))
		return false;
	return k.length == in->len && k.prefixes.nbytes == in->prefixes &&
	       k.rex_prefix.nbytes == !!in->rex && !k.vex_prefix.nbytes && !k.emulate_prefix_size &&
	       k.opcode.nbytes == 1 + in->two && k.opcode.bytes[in->two] == in->op &&
	       k.modrm.nbytes == !!(in->form->flags & KI_FORM_MODRM) &&
	       k.sib.nbytes == in->has_sib && k.displacement.nbytes == in->disp_bytes;
}

bool ki_instr_read(const u8 *code, u32 len, struct ki_instr *in)
{
	struct cursor c = {.code = code, .len = len < LONGEST ? len : LONGEST};

	memset(in, 0, sizeof(*in));
	if (!read_prefixes(&c, in))
		return false;
	in->two = peek(&c) == 0x0f;
	if (in->two)
		take(&c);
	in->op = take(&c);
	/* An opcode at the very end is found as of /0, and refused for the byte that is missing. */
	in->form = ki_form_find(in->two, in->op, c.at < c.len ? code[c.at] >> 3 & 7 : 0);
	if (!in->form)
		return false;
	in->size = size_of(in);
	if (in->form->flags & KI_FORM_MODRM)
		read_operand(&c, in);
	in->bytes = in->form->memory ? in->form->memory : in->size;
	in->imm = take_number(&c, bytes_of_number(in));
	in->len = c.at;
	if (in->form->flags & KI_FORM_OP)
		in->rm = (in->op & 7) | (in->rex & REX_B ? 8 : 0);
	return !c.over && may_have_size(in) && may_have_operand(in) && agrees(in, code, len);
}

/* Without REX the second bytes of the first four registers have the numbers 4 to 7. */
static u16 bit_of(const struct ki_instr *in, u8 reg)
{
	return BIT(reg >= 4 && in->size == 1 && !in->rex ? reg - 4 : reg);
}

u16 ki_instr_written(const struct ki_instr *in)
{
	u16 flags = in->form->flags, regs = 0;

	if (flags & KI_FORM_W_REG)
		regs |= bit_of(in, in->reg);
	if ((flags & KI_FORM_W_OP) || (flags & KI_FORM_W_RM && !in->memory))
		regs |= bit_of(in, in->rm);
	if (flags & KI_FORM_W_AX)
		regs |= BIT(KI_AX);
	if (flags & KI_FORM_W_DX)
		regs |= BIT(KI_DX);
	return regs;
}
