// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/kernel.h>

#include "form.h"

/* The eight columns of a row of arithmetic: from register to the other operand, back, to %al, %rax.
 */
#define ARITHMETIC(op, to_rm, to_reg, to_ax, lock)                                                 \
	{(op), (op) + 1, 0, KI_FORM_MEM | (to_rm) | (lock)},                                       \
		{(op) + 2, (op) + 3, 0, KI_FORM_MEM | (to_reg)},                                   \
	{                                                                                          \
		(op) + 4, (op) + 5, 0, (to_ax)                                                     \
	}

static const struct ki_form ki_one_byte[] = {
	ARITHMETIC(0x00, KI_FORM_W_RM, KI_FORM_W_REG, KI_FORM_W_AX, KI_FORM_LOCK), /* add */
	ARITHMETIC(0x08, KI_FORM_W_RM, KI_FORM_W_REG, KI_FORM_W_AX, KI_FORM_LOCK), /* or */
	ARITHMETIC(0x20, KI_FORM_W_RM, KI_FORM_W_REG, KI_FORM_W_AX, KI_FORM_LOCK), /* and */
	ARITHMETIC(0x28, KI_FORM_W_RM, KI_FORM_W_REG, KI_FORM_W_AX, KI_FORM_LOCK), /* sub */
	ARITHMETIC(0x30, KI_FORM_W_RM, KI_FORM_W_REG, KI_FORM_W_AX, KI_FORM_LOCK), /* xor */
	ARITHMETIC(0x38, 0, 0, 0, 0),						   /* cmp */
	{0x63, 0x63, 0, KI_FORM_MEM | KI_FORM_W_REG},				   /* movsxd */
	{0x69, 0x69, 0, KI_FORM_MEM | KI_FORM_W_REG},				   /* imul */
	{0x6b, 0x6b, 0, KI_FORM_MEM | KI_FORM_W_REG},
	{0x70, 0x7f, 0, KI_FORM_BRANCH},
	{0x80, 0x81, 0x7f & ~0x0c,
	 KI_FORM_GROUP | KI_FORM_MEM | KI_FORM_W_RM | KI_FORM_LOCK}, /* not adc, sbb; cmp below */
	{0x83, 0x83, 0x7f & ~0x0c, KI_FORM_GROUP | KI_FORM_MEM | KI_FORM_W_RM | KI_FORM_LOCK},
	{0x80, 0x81, 0x80, KI_FORM_GROUP | KI_FORM_MEM}, /* cmp */
	{0x83, 0x83, 0x80, KI_FORM_GROUP | KI_FORM_MEM},
	{0x84, 0x85, 0, KI_FORM_MEM},		     /* test */
	{0x88, 0x89, 0, KI_FORM_MEM | KI_FORM_W_RM}, /* mov */
	{0x8a, 0x8b, 0, KI_FORM_MEM | KI_FORM_W_REG},
	{0x8d, 0x8d, 0, KI_FORM_W_REG},			  /* lea */
	{0x90, 0x90, 0, 0},				  /* nop */
	{0x98, 0x98, 0, KI_FORM_W_AX},			  /* cdqe */
	{0x9e, 0x9e, 0, 0},				  /* sahf */
	{0x9f, 0x9f, 0, KI_FORM_W_AX},			  /* lahf */
	{0xa8, 0xa9, 0, 0},				  /* test */
	{0xb0, 0xbf, 0, KI_FORM_W_OP},			  /* mov */
	{0xc0, 0xc1, 0xb0, KI_FORM_GROUP | KI_FORM_W_RM}, /* shl, shr, sar */
	{0xd0, 0xd3, 0xb0, KI_FORM_GROUP | KI_FORM_W_RM},
	{0xc6, 0xc7, 0x01, KI_FORM_GROUP | KI_FORM_MEM | KI_FORM_W_RM}, /* mov */
	{0xe9, 0xe9, 0, KI_FORM_BRANCH},
	{0xeb, 0xeb, 0, KI_FORM_BRANCH},
	{0xf6, 0xf7, 0x01, KI_FORM_GROUP | KI_FORM_MEM},  /* test */
	{0xf6, 0xf7, 0x0c, KI_FORM_GROUP | KI_FORM_W_RM}, /* not, neg */
	{0xf6, 0xf7, 0x30,
	 KI_FORM_GROUP | KI_FORM_W_RM | KI_FORM_W_AX | KI_FORM_W_DX}, /* mul, imul */
	{0xfe, 0xff, 0x03,
	 KI_FORM_GROUP | KI_FORM_MEM | KI_FORM_W_RM | KI_FORM_LOCK}, /* inc, dec */
};

static const struct ki_form ki_two_byte[] = {
	{0x1f, 0x1f, 0x01, KI_FORM_GROUP},	      /* nop */
	{0x31, 0x31, 0, KI_FORM_W_AX | KI_FORM_W_DX}, /* rdtsc */
	{0x40, 0x4f, 0, KI_FORM_W_REG},		      /* cmov */
	{0x80, 0x8f, 0, KI_FORM_BRANCH},
	{0x90, 0x9f, 0, KI_FORM_W_RM},						    /* set */
	{0xa3, 0xa3, 0, 0},							    /* bt */
	{0xaf, 0xaf, 0, KI_FORM_MEM | KI_FORM_W_REG},				    /* imul */
	{0xb6, 0xb7, 0, KI_FORM_MEM | KI_FORM_W_REG},				    /* movzx */
	{0xba, 0xba, 0x10, KI_FORM_GROUP},					    /* bt */
	{0xbc, 0xbd, 0, KI_FORM_W_REG},						    /* bsf, bsr */
	{0xbe, 0xbf, 0, KI_FORM_MEM | KI_FORM_W_REG},				    /* movsx */
	{0xc0, 0xc1, 0, KI_FORM_MEM | KI_FORM_W_RM | KI_FORM_W_REG | KI_FORM_LOCK}, /* xadd */
};

bool ki_insn_rex(const struct insn *in, u8 bit)
{
	return in->rex_prefix.nbytes && (in->rex_prefix.bytes[0] & bit);
}

u8 ki_insn_reg(const struct insn *in)
{
	return X86_MODRM_REG(in->modrm.value) | (ki_insn_rex(in, 4) ? 8 : 0);
}

u8 ki_insn_rm(const struct insn *in)
{
	return X86_MODRM_RM(in->modrm.value) | (ki_insn_rex(in, 1) ? 8 : 0);
}

bool ki_insn_memory(const struct insn *in)
{
	return in->modrm.nbytes && X86_MODRM_MOD(in->modrm.value) != 3;
}

bool ki_insn_prefixes(const struct insn *in, bool *gs, bool *lock)
{
	u32 i;

	*gs = *lock = false;
	for (i = 0; i < in->prefixes.nbytes; i++) {
		u8 p = in->prefixes.bytes[i];

		*gs |= p == 0x65;
		*lock |= p == 0xf0;
		if (p != 0x65 && p != 0xf0 && p != 0x66)
			return false;
	}
	return !in->vex_prefix.nbytes;
}

const struct ki_form *ki_form_find(const struct insn *in)
{
	bool two = in->opcode.nbytes == 2;
	const struct ki_form *f = two ? ki_two_byte : ki_one_byte;
	const struct ki_form *end = two ? f + ARRAY_SIZE(ki_two_byte) : f + ARRAY_SIZE(ki_one_byte);
	u8 op = in->opcode.bytes[two];

	if (in->opcode.nbytes > 2)
		return NULL;
	for (; f < end; f++)
		if (op >= f->first && op <= f->last &&
		    (!(f->flags & KI_FORM_GROUP) ||
		     (f->group >> X86_MODRM_REG(in->modrm.value) & 1)))
			return f;
	return NULL;
}

static u8 op_reg(const struct insn *in)
{
	return (in->opcode.bytes[0] & 7) | (ki_insn_rex(in, 1) ? 8 : 0);
}

bool ki_form_writes_frame(const struct ki_form *f, const struct insn *in)
{
	u8 op = op_reg(in), reg = ki_insn_reg(in), rm = ki_insn_rm(in);

	if ((f->flags & KI_FORM_W_OP) && (op == KI_SP || op == KI_BP))
		return true;
	if ((f->flags & KI_FORM_W_REG) && (reg == KI_SP || reg == KI_BP))
		return true;
	return (f->flags & KI_FORM_W_RM) && !ki_insn_memory(in) && (rm == KI_SP || rm == KI_BP);
}

/* Is what it writes, if it writes a register, a byte? */
static bool writes_byte(const struct insn *in)
{
	u8 op = in->opcode.bytes[in->opcode.nbytes - 1];

	if (in->opcode.nbytes == 2)
		return (op & 0xf0) == 0x90 || op == 0xc0; /* set, xadd */
	return (op & 0xf0) == 0xb0 ? op < 0xb8 : !(op & 1);
}

/* Without REX the second bytes of the first four registers have the numbers 4 to 7. */
static u16 bit_of(const struct insn *in, u8 reg)
{
	return BIT(reg >= 4 && writes_byte(in) && !in->rex_prefix.nbytes ? reg - 4 : reg);
}

u16 ki_form_written(const struct ki_form *f, const struct insn *in)
{
	u16 regs = 0;

	if (f->flags & KI_FORM_W_REG)
		regs |= bit_of(in, ki_insn_reg(in));
	if ((f->flags & KI_FORM_W_RM) && !ki_insn_memory(in))
		regs |= bit_of(in, ki_insn_rm(in));
	if (f->flags & KI_FORM_W_OP)
		regs |= bit_of(in, op_reg(in));
	if (f->flags & KI_FORM_W_AX)
		regs |= BIT(KI_AX);
	if (f->flags & KI_FORM_W_DX)
		regs |= BIT(KI_DX);
	return regs;
}
