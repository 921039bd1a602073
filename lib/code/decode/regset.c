/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The registers of an instruction, from its operands, those that are not written in it included.
 *
 * What may be wrong must be wrong to one side: too much in use, too little in def. So a register
 * that is only perhaps written is in use and not in def, and a repeated string instruction,
 * which may do nothing at all, has no def. test_regexec.c executes instructions and compares.
 */
#include "code/decode/zydis.h"

static ki_regset parts_of(ZydisRegister r)
{
	unsigned int n;

	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8:
		/* al cl dl bl, ah ch dh bh, spl bpl sil dil, r8b ... */
		n = r - ZYDIS_REGISTER_AL;
		if (n >= 4 && n < 8)
			return KI_REGSET_HIGH(n - 4);
		return KI_REGSET_LOW(n < 4 ? n : n - 4);
	case ZYDIS_REGCLASS_GPR16:
		n = r - ZYDIS_REGISTER_AX;
		return KI_REGSET_LOW(n) | KI_REGSET_HIGH(n);
	case ZYDIS_REGCLASS_GPR32:
		return KI_REGSET_REG(r - ZYDIS_REGISTER_EAX);
	case ZYDIS_REGCLASS_GPR64:
		return KI_REGSET_REG(r - ZYDIS_REGISTER_RAX);
	default:
		return 0;
	}
}

static void add(const ZydisDecodedOperand *o, struct ki_decoded *out)
{
	ki_regset parts;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->use |= parts_of(o->mem.base) | parts_of(o->mem.index);
		return;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	parts = parts_of(o->reg.value);
	if (o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
		out->use |= parts;
	if (o->actions & ZYDIS_OPERAND_ACTION_WRITE)
		out->def |= parts;
	if (o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		out->def &= ~parts;
}

/* Its result does not depend on what its one register held. */
static bool is_zero_idiom(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
		return ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       ops[0].reg.value == ops[1].reg.value;
	default:
		return false;
	}
}

/* What Zydis does not know to be read. */
static ki_regset hidden_use(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XLAT:
		return KI_REGSET_LOW(KI_RAX);
	case ZYDIS_MNEMONIC_ENTER: /* an address, even where it pushes only bp */
	case ZYDIS_MNEMONIC_LEAVE:
		return KI_REGSET_REG(KI_RBP) | KI_REGSET_REG(KI_RSP);
	default:
		return 0;
	}
}

void ki_zydis_regsets(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops,
		      struct ki_decoded *out)
{
	uint8_t class = ki_zydis_class(z->mnemonic);

	if (class & KI_ZYDIS_IDLE)
		return;
	for (unsigned int i = 0; i < z->operand_count; i++)
		add(&ops[i], out);
	if (is_zero_idiom(z, ops))
		out->use = 0;
	/* String instructions move on, which is not told of all of them. */
	if (z->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    z->meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		out->def |= out->use & (KI_REGSET_REG(KI_RSI) | KI_REGSET_REG(KI_RDI));
	if (class & KI_ZYDIS_MAY_WRITE ||
	    z->attributes &
		    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) {
		out->use |= out->def;
		out->def = 0;
	}
	out->use |= hidden_use(z);
}
