/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is told of an instruction, in two steps: what follows from its head (prefixes, opcode,
 * ModRM, SIB) wherever it stands, which memo.c remembers, and what follows from its address and
 * displacement (ki_decode_place). One more thing matters, the count of a shift: one by 0 leaves
 * the flags alone.
 */
#include "code/decode/zydis.h"

#include <string.h>

static ki_regset flag_mask(ZydisAccessedFlagsMask m)
{
	return (m & ZYDIS_CPUFLAG_CF ? KI_REGSET_CF : 0) |
	       (m & ZYDIS_CPUFLAG_PF ? KI_REGSET_PF : 0) |
	       (m & ZYDIS_CPUFLAG_AF ? KI_REGSET_AF : 0) |
	       (m & ZYDIS_CPUFLAG_ZF ? KI_REGSET_ZF : 0) |
	       (m & ZYDIS_CPUFLAG_SF ? KI_REGSET_SF : 0) |
	       (m & ZYDIS_CPUFLAG_OF ? KI_REGSET_OF : 0);
}

/* The bits of its immediate that a shift counts by; 0 for other instructions. */
static uint8_t count_mask(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		return z->raw.imm[0].size ? (z->operand_width == 64 ? 63 : 31) : 0;
	default:
		return 0;
	}
}

/* Shifts and rotates by a count that may be 0 leave the flags alone. */
static bool may_keep_flags(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_RCL:
	case ZYDIS_MNEMONIC_RCR:
		return z->opcode != 0xd0 && z->opcode != 0xd1;
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		if (z->opcode == 0xd0 || z->opcode == 0xd1)
			return false;
		return !(z->raw.imm[0].value.u & count_mask(z));
	default:
		/* A repeated compare of no elements does not compare. */
		return z->attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	}
}

static void add_flags(const ZydisDecodedInstruction *z, struct ki_decoded *out)
{
	const ZydisAccessedFlags *f = z->cpu_flags;

	if (!f)
		return;
	out->use |= flag_mask(f->tested);
	if (ki_zydis_class(z->mnemonic) & KI_ZYDIS_ALL_FLAGS)
		out->def |= KI_REGSET_FLAGS;
	if (!may_keep_flags(z))
		out->def |= flag_mask(f->modified | f->set_0 | f->set_1 | f->undefined);
}

static bool has_modrm(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_MODRM;
}

static bool in_memory(const ZydisDecodedInstruction *z)
{
	return has_modrm(z) && z->raw.modrm.mod != 3;
}

/* The stack pointer itself, or memory addressed by it. */
static bool by_stack(const ZydisDecodedInstruction *z)
{
	if (!has_modrm(z) || z->raw.modrm.rm != 4 || z->raw.rex.B)
		return false;
	return z->raw.modrm.mod == 3 || z->raw.sib.base == 4;
}

static bool by_index(const ZydisDecodedInstruction *z)
{
	return in_memory(z) && z->raw.modrm.rm == 4 && z->raw.sib.scale &&
	       !(z->raw.sib.index == 4 && !z->raw.rex.X);
}

static bool privileged(const ZydisDecodedInstruction *z)
{
	if (ki_zydis_class(z->mnemonic) & KI_ZYDIS_PRIVILEGED)
		return true;
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return true;
	if (z->mnemonic != ZYDIS_MNEMONIC_MOV)
		return false;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F) /* control and debug registers */
		return z->opcode >= 0x20 && z->opcode <= 0x23;
	return z->opcode == 0x8e && z->raw.modrm.reg == 2; /* mov %ss */
}

/* Instructions after which the next one does not run. */
static bool leaves(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_UIRET:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_RSM:
		return true;
	default:
		return z->meta.category == ZYDIS_CATEGORY_RET;
	}
}

static uint8_t kind_of(const ZydisDecodedInstruction *z)
{
	bool direct = z->raw.imm[0].is_relative;

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
		return KI_INSN_TRAP;
	case ZYDIS_MNEMONIC_XABORT: /* goes where xbegin says, or does nothing */
		return KI_INSN_PLAIN;
	default:
		break;
	}
	if (leaves(z))
		return KI_INSN_RET;
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return direct ? KI_INSN_CALL : KI_INSN_CALL_INDIRECT;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return direct ? KI_INSN_JMP : KI_INSN_JMP_INDIRECT;
	case ZYDIS_CATEGORY_COND_BR:
		if (!direct)
			return KI_INSN_PLAIN;
		return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode >= 0xe0 &&
				       z->opcode <= 0xe3
			       ? KI_INSN_LOOP
			       : KI_INSN_JCC;
	default:
		return direct ? KI_INSN_JCC : KI_INSN_PLAIN;
	}
}

static uint16_t reason_of(const ZydisDecodedInstruction *z, const struct ki_decoded *d)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return KI_R_ENDBR;
	if (z->mnemonic == ZYDIS_MNEMONIC_STI)
		return KI_R_STI;
	if (privileged(z))
		return KI_R_PRIVILEGED_INSN;
	if (d->in.kind == KI_INSN_TRAP && z->mnemonic != ZYDIS_MNEMONIC_UD2)
		return d->traits & KI_TRAIT_INT3 ? KI_R_FOREIGN_BREAKPOINT : KI_R_BUG_SITE;
	if (d->in.kind == KI_INSN_CALL_INDIRECT && by_stack(z))
		return KI_R_STACK_CALL;
	/* A 32-bit instruction pointer: it cannot be said with a 64-bit one. */
	if (d->in.flags & KI_INSN_RIP && z->address_width != 64)
		return KI_R_TOO_FAR;
	return KI_R_OK;
}

/* mov to %ss */
static bool loads_ss(const ZydisDecodedInstruction *z)
{
	return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode == 0x8e &&
	       z->raw.modrm.reg == 2;
}

static uint8_t traits_of(const ZydisDecodedInstruction *z, uint8_t kind)
{
	uint8_t traits = 0;

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_NOP:
		traits |= KI_TRAIT_NOP;
		break;
	case ZYDIS_MNEMONIC_INT3:
		traits |= KI_TRAIT_INT3;
		break;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		traits |= KI_TRAIT_CONTINUES;
		break;
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_LSS:
		traits |= KI_TRAIT_NEXT_FIXED;
		break;
	case ZYDIS_MNEMONIC_STD:
		traits |= KI_TRAIT_STD;
		break;
	case ZYDIS_MNEMONIC_CLD:
		traits |= KI_TRAIT_CLD;
		break;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		traits |= KI_TRAIT_POPF;
		break;
	case ZYDIS_MNEMONIC_MOV:
		traits |= loads_ss(z) ? KI_TRAIT_NEXT_FIXED : 0;
		break;
	default:
		break;
	}
	if (kind == KI_INSN_JMP_INDIRECT &&
	    (by_index(z) || z->attributes & ZYDIS_ATTRIB_HAS_NOTRACK))
		traits |= KI_TRAIT_TABLE_JUMP;
	return traits;
}

/* The field that depends on where the instruction stands; false if it is of no known form. */
static bool set_field(const ZydisDecodedInstruction *z, struct ki_insn *in)
{
	if (z->raw.imm[0].is_relative) {
		in->field = z->raw.imm[0].offset;
		return (z->raw.imm[0].size == 8 || z->raw.imm[0].size == 32) &&
		       in->field + z->raw.imm[0].size / 8 == in->len;
	}
	if (!has_modrm(z) || z->raw.modrm.mod != 0 || z->raw.modrm.rm != 5 ||
	    z->raw.disp.size != 32)
		return true;
	in->flags |= KI_INSN_RIP;
	in->field = z->raw.disp.offset;
	in->tail = (uint8_t)(in->len - in->field - 4);
	return true;
}

static void set_bad(struct ki_decoded *out, uint64_t addr)
{
	memset(out, 0, sizeof(*out));
	out->in.addr = addr;
	out->in.len = 1;
	out->in.kind = KI_INSN_BAD;
	out->in.reason = KI_R_UNDECODABLE;
	out->in.flags = KI_INSN_READS_FLAGS;
	out->use = KI_REGSET_ALL;
}

static void set_regsets(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops,
			struct ki_decoded *out)
{
	if (ki_zydis_class(z->mnemonic) & KI_ZYDIS_EXPOSES ||
	    z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		out->use = KI_REGSET_ALL;
	} else {
		ki_zydis_regsets(z, ops, out);
		add_flags(z, out);
	}
	if (ki_regset_flags(out->use))
		out->in.flags |= KI_INSN_READS_FLAGS;
	if (ki_regset_flags(out->def) == KI_FLAG_ALL)
		out->in.flags |= KI_INSN_WRITES_FLAGS;
}

/* How much of it must be the same for an instruction to be the same but for numbers; 0 if that
   cannot be said. Displacement and immediates are always the last. */
static uint8_t head_len(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops)
{
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    z->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX &&
	    z->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return 0;
	for (unsigned int i = 0; i < z->operand_count; i++)
		if (ops[i].encoding == ZYDIS_OPERAND_ENCODING_IS4)
			return 0;
	if (count_mask(z) && !(z->raw.imm[0].value.u & count_mask(z)))
		return 0;
	return (uint8_t)(z->length -
			 (z->raw.disp.size + z->raw.imm[0].size + z->raw.imm[1].size) / 8);
}

void ki_decode_head(const uint8_t *p, size_t avail, uint64_t addr, struct ki_decoded *out,
		    struct ki_head *head)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	memset(head, 0, sizeof(*head));
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(ki_zydis_decoder(), p, avail, &z, ops))) {
		set_bad(out, addr);
		return;
	}
	memset(out, 0, sizeof(*out));
	out->in.len = z.length;
	if (!set_field(&z, &out->in)) {
		set_bad(out, addr);
		return;
	}
	out->in.kind = kind_of(&z);
	out->traits = traits_of(&z, out->in.kind);
	out->in.reason = reason_of(&z, out);
	set_regsets(&z, ops, out);
	head->len = head_len(&z, ops);
	head->count_mask = count_mask(&z);
	ki_decode_place(p, addr, &out->in);
}

void ki_decode(const uint8_t *p, size_t avail, uint64_t addr, struct ki_decoded *out)
{
	struct ki_head head;

	ki_decode_head(p, avail, addr, out, &head);
}

size_t ki_decode_len(const uint8_t *p, size_t avail)
{
	ZydisDecodedInstruction z;

	if (ZYAN_FAILED(
		    ZydisDecoderDecodeInstruction(ki_zydis_length_decoder(), NULL, p, avail, &z)))
		return 1;
	return z.length;
}
