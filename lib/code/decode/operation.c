// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "code/decode/operation.h"

#include <string.h>

#include "code/decode/zydis.h"

static const struct {
	ZydisMnemonic mnemonic;
	uint8_t kind;
} ki_operations[] = {
	{ZYDIS_MNEMONIC_MOV, KI_OP_MOVE},   {ZYDIS_MNEMONIC_MOVZX, KI_OP_MOVE},
	{ZYDIS_MNEMONIC_MOVSX, KI_OP_SIGN}, {ZYDIS_MNEMONIC_MOVSXD, KI_OP_SIGN},
	{ZYDIS_MNEMONIC_LEA, KI_OP_LEA},    {ZYDIS_MNEMONIC_ADD, KI_OP_ADD},
	{ZYDIS_MNEMONIC_SUB, KI_OP_SUB},    {ZYDIS_MNEMONIC_AND, KI_OP_AND},
	{ZYDIS_MNEMONIC_OR, KI_OP_OR},	    {ZYDIS_MNEMONIC_XOR, KI_OP_XOR},
	{ZYDIS_MNEMONIC_CMP, KI_OP_CMP},    {ZYDIS_MNEMONIC_TEST, KI_OP_TEST},
	{ZYDIS_MNEMONIC_INC, KI_OP_INC},    {ZYDIS_MNEMONIC_DEC, KI_OP_DEC},
	{ZYDIS_MNEMONIC_NEG, KI_OP_NEG},    {ZYDIS_MNEMONIC_NOT, KI_OP_NOT},
	{ZYDIS_MNEMONIC_SHL, KI_OP_SHL},    {ZYDIS_MNEMONIC_SHR, KI_OP_SHR},
	{ZYDIS_MNEMONIC_SAR, KI_OP_SAR},    {ZYDIS_MNEMONIC_BSR, KI_OP_BSR},
	{ZYDIS_MNEMONIC_IMUL, KI_OP_MUL},
};

/* By the low half of the opcode. */
static const struct {
	ZydisMnemonic jump, set, when;
} ki_conditions[16] = {
	{ZYDIS_MNEMONIC_JO, ZYDIS_MNEMONIC_SETO, ZYDIS_MNEMONIC_CMOVO},
	{ZYDIS_MNEMONIC_JNO, ZYDIS_MNEMONIC_SETNO, ZYDIS_MNEMONIC_CMOVNO},
	{ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_SETB, ZYDIS_MNEMONIC_CMOVB},
	{ZYDIS_MNEMONIC_JNB, ZYDIS_MNEMONIC_SETNB, ZYDIS_MNEMONIC_CMOVNB},
	{ZYDIS_MNEMONIC_JZ, ZYDIS_MNEMONIC_SETZ, ZYDIS_MNEMONIC_CMOVZ},
	{ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_SETNZ, ZYDIS_MNEMONIC_CMOVNZ},
	{ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_SETBE, ZYDIS_MNEMONIC_CMOVBE},
	{ZYDIS_MNEMONIC_JNBE, ZYDIS_MNEMONIC_SETNBE, ZYDIS_MNEMONIC_CMOVNBE},
	{ZYDIS_MNEMONIC_JS, ZYDIS_MNEMONIC_SETS, ZYDIS_MNEMONIC_CMOVS},
	{ZYDIS_MNEMONIC_JNS, ZYDIS_MNEMONIC_SETNS, ZYDIS_MNEMONIC_CMOVNS},
	{ZYDIS_MNEMONIC_JP, ZYDIS_MNEMONIC_SETP, ZYDIS_MNEMONIC_CMOVP},
	{ZYDIS_MNEMONIC_JNP, ZYDIS_MNEMONIC_SETNP, ZYDIS_MNEMONIC_CMOVNP},
	{ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_SETL, ZYDIS_MNEMONIC_CMOVL},
	{ZYDIS_MNEMONIC_JNL, ZYDIS_MNEMONIC_SETNL, ZYDIS_MNEMONIC_CMOVNL},
	{ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_SETLE, ZYDIS_MNEMONIC_CMOVLE},
	{ZYDIS_MNEMONIC_JNLE, ZYDIS_MNEMONIC_SETNLE, ZYDIS_MNEMONIC_CMOVNLE},
};

static uint8_t number_of(ZydisRegister r)
{
	const ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return ZydisRegisterGetClass(all) == ZYDIS_REGCLASS_GPR64
		       ? (uint8_t)(all - ZYDIS_REGISTER_RAX)
		       : KI_OPERAND_NO_REG;
}

static void read_memory(const struct ki_insn *in, const ZydisDecodedOperandMem *m,
			struct ki_operand *out)
{
	out->kind = KI_OPERAND_MEMORY;
	out->base = number_of(m->base);
	out->index = number_of(m->index);
	out->scale = m->scale ? m->scale : 1;
	out->number = m->disp.value;
	out->elsewhere = m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS ||
			 m->base == ZYDIS_REGISTER_EIP ||
			 ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, m->base) == 32 ||
			 ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, m->index) == 32;
	if (m->base == ZYDIS_REGISTER_RIP)
		out->number = (int64_t)in->target;
}

static void read_operand(const struct ki_insn *in, const ZydisDecodedOperand *o,
			 struct ki_operand *out)
{
	out->size = (uint8_t)(o->size / 8);
	out->base = out->index = KI_OPERAND_NO_REG;
	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		out->kind = KI_OPERAND_NUMBER;
		out->number = o->imm.value.s;
	} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		read_memory(in, &o->mem, out);
	} else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		   number_of(o->reg.value) != KI_OPERAND_NO_REG) {
		out->kind = KI_OPERAND_REGISTER;
		out->reg = number_of(o->reg.value);
		out->high = o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH;
	}
}

/* Everything that it may change, by all of its operands, those that are not written included. */
static void read_effects(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops,
			 struct ki_operation *out)
{
	const ZydisAccessedFlags *f = z->cpu_flags;
	const struct {
		uint32_t zydis;
		uint8_t ours;
	} flags[] = {{ZYDIS_CPUFLAG_CF, KI_FLAG_CF}, {ZYDIS_CPUFLAG_PF, KI_FLAG_PF},
		     {ZYDIS_CPUFLAG_AF, KI_FLAG_AF}, {ZYDIS_CPUFLAG_ZF, KI_FLAG_ZF},
		     {ZYDIS_CPUFLAG_SF, KI_FLAG_SF}, {ZYDIS_CPUFLAG_OF, KI_FLAG_OF}};

	for (size_t i = 0; f && i < sizeof(flags) / sizeof(*flags); i++)
		if ((f->modified | f->set_0 | f->set_1 | f->undefined) & flags[i].zydis)
			out->flags |= flags[i].ours;
	for (unsigned int i = 0; i < z->operand_count; i++) {
		const ZydisDecodedOperand *o = &ops[i];
		bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
			out->reads_memory |= !writes || o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
			out->writes_memory |= writes;
		}
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && writes &&
		    number_of(o->reg.value) != KI_OPERAND_NO_REG)
			out->writes |= (uint16_t)(1u << number_of(o->reg.value));
	}
	if (z->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    z->meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		out->writes |= 1u << KI_RSI | 1u << KI_RDI | 1u << KI_RCX;
}

static void read_kind(const ZydisDecodedInstruction *z, struct ki_operation *out)
{
	for (size_t i = 0; i < sizeof(ki_operations) / sizeof(*ki_operations); i++)
		if (ki_operations[i].mnemonic == z->mnemonic)
			out->kind = ki_operations[i].kind;
	for (uint8_t c = 0; c < 16 && out->kind == KI_OP_OTHER; c++) {
		out->condition = c;
		if (z->mnemonic == ki_conditions[c].jump)
			out->kind = KI_OP_JUMP;
		else if (z->mnemonic == ki_conditions[c].set)
			out->kind = KI_OP_SET;
		else if (z->mnemonic == ki_conditions[c].when)
			out->kind = KI_OP_WHEN;
	}
}

static bool same_register(const struct ki_operand *a, const struct ki_operand *b)
{
	return a->kind == KI_OPERAND_REGISTER && b->kind == KI_OPERAND_REGISTER &&
	       a->reg == b->reg && a->size == b->size && a->high == b->high;
}

/* What it computes is only what its kind says. */
static void classify_kind(const ZydisDecodedInstruction *z, struct ki_operation *out)
{
	const bool rep = z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
					  ZYDIS_ATTRIB_HAS_REPNE | ZYDIS_ATTRIB_HAS_LOCK);
	const unsigned int n = z->operand_count_visible;

	if (out->kind == KI_OP_MUL && n < 2)
		out->kind = KI_OP_OTHER;
	if (out->kind == KI_OP_MUL && n == 2)
		out->v[2] = out->v[0];
	if (z->address_width != 64 || rep)
		out->kind = KI_OP_OTHER;
	if (out->kind == KI_OP_MOVE &&
	    (out->v[0].kind == KI_OPERAND_NONE || out->v[1].kind == KI_OPERAND_NONE))
		out->kind = KI_OP_OTHER; /* a segment's or a control register's */
	if ((out->kind == KI_OP_XOR || out->kind == KI_OP_SUB) &&
	    same_register(&out->v[0], &out->v[1]))
		out->kind = KI_OP_CLEAR;
	out->pure = out->kind != KI_OP_OTHER && out->kind != KI_OP_JUMP && !out->writes_memory &&
		    !(out->writes & 1u << KI_RSP);
}

bool ki_operation_read(const struct ki_insn *in, const uint8_t *bytes, struct ki_operation *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	memset(out, 0, sizeof(*out));
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(ki_zydis_decoder(), bytes, in->len, &z, ops)))
		return false;
	for (unsigned int i = 0; i < z.operand_count_visible && i < 3; i++)
		read_operand(in, &ops[i], &out->v[i]);
	read_effects(&z, ops, out);
	if (ki_zydis_class(z.mnemonic) & (KI_ZYDIS_PRIVILEGED | KI_ZYDIS_EXPOSES)) {
		out->writes = UINT16_MAX;
		out->flags = KI_FLAG_ALL;
		return true;
	}
	read_kind(&z, out);
	classify_kind(&z, out);
	return true;
}

bool ki_condition_holds(uint8_t condition, uint8_t f)
{
	const bool less = !(f & KI_FLAG_SF) != !(f & KI_FLAG_OF);
	const bool holds[8] = {
		f & KI_FLAG_OF, f & KI_FLAG_CF, f & KI_FLAG_ZF, f & (KI_FLAG_CF | KI_FLAG_ZF),
		f & KI_FLAG_SF, f & KI_FLAG_PF, less,		less || f & KI_FLAG_ZF,
	};

	return holds[condition >> 1 & 7] != (condition & 1);
}

uint8_t ki_condition_flags(uint8_t condition)
{
	static const uint8_t flags[8] = {
		KI_FLAG_OF,
		KI_FLAG_CF,
		KI_FLAG_ZF,
		KI_FLAG_CF | KI_FLAG_ZF,
		KI_FLAG_SF,
		KI_FLAG_PF,
		KI_FLAG_SF | KI_FLAG_OF,
		KI_FLAG_SF | KI_FLAG_OF | KI_FLAG_ZF,
	};

	return flags[condition >> 1 & 7];
}
