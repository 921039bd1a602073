// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What an operand is: see struct ki_compared of kerninst/code.h. */
#include "code/decode/facts.h"
#include "code/decode/zydis.h"

/* The number of a general register of any width; KI_COMPARED_NONE: it is none. */
static uint8_t number_of(ZydisRegister r)
{
	const ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return ZydisRegisterGetClass(all) == ZYDIS_REGCLASS_GPR64
		       ? (uint8_t)(all - ZYDIS_REGISTER_RAX)
		       : KI_COMPARED_NONE;
}

static bool read_register(ZydisRegister r, struct ki_compared *out)
{
	*out = (struct ki_compared){.kind = KI_COMPARED_REGISTER,
				    .reg = number_of(r),
				    .high = r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH};
	return out->reg != KI_COMPARED_NONE && out->reg != KI_RSP;
}

static bool read_memory(const struct ki_insn *in, const ZydisDecodedOperandMem *m,
			struct ki_compared *out)
{
	*out = (struct ki_compared){.kind = KI_COMPARED_MEMORY,
				    .base = number_of(m->base),
				    .index = number_of(m->index),
				    .scale = m->scale ? m->scale : 1,
				    .number = m->disp.value};
	if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS)
		return false;
	if (m->base == ZYDIS_REGISTER_RIP) {
		out->number = (int64_t)in->target;
		return in->target;
	}
	return (m->base == ZYDIS_REGISTER_NONE || out->base != KI_COMPARED_NONE) &&
	       (m->index == ZYDIS_REGISTER_NONE || out->index != KI_COMPARED_NONE);
}

bool ki_operand_read(const struct ki_insn *in, const ZydisDecodedOperand *o,
		     struct ki_compared *out)
{
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return read_register(o->reg.value, out);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*out = (struct ki_compared){.number = o->imm.value.s};
		return true;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return read_memory(in, &o->mem, out);
	default:
		return false;
	}
}

bool ki_insn_leads(const struct ki_function *fn, const struct ki_insn *in, struct ki_compared *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	const struct ki_facts *f;

	if ((in->kind != KI_INSN_CALL_INDIRECT && in->kind != KI_INSN_JMP_INDIRECT) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(
		    ki_zydis_decoder(), fn->bytes + (in->addr - fn->start), in->len, &z, ops)))
		return false;
	if (ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return z.address_width == 64 && ki_operand_read(in, &ops[0], out);
	*out = (struct ki_compared){.kind = KI_COMPARED_REGISTER, .reg = KI_THUNK_NO_REG};
	if (!ki_facts_get(fn->target, &f, NULL))
		out->reg = ki_facts_thunk_register(f, in->target);
	return out->reg != KI_THUNK_NO_REG;
}
