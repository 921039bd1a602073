/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decoding with Zydis, 4.0 and 4.1. Operands are never decoded on the way to a function's
 * instructions: bytes, category and flags tell all that is needed.
 */
#include "code/decode.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

static ZydisDecoder decoder, length_decoder;
static ZydisFormatter formatter;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Instructions that change the machine's state, or whose own address means something. */
static const ZydisMnemonic privileged_list[] = {
	ZYDIS_MNEMONIC_HLT,	 ZYDIS_MNEMONIC_MONITOR,  ZYDIS_MNEMONIC_MONITORX,
	ZYDIS_MNEMONIC_MWAIT,	 ZYDIS_MNEMONIC_MWAITX,	  ZYDIS_MNEMONIC_IRET,
	ZYDIS_MNEMONIC_IRETD,	 ZYDIS_MNEMONIC_IRETQ,	  ZYDIS_MNEMONIC_UIRET,
	ZYDIS_MNEMONIC_SYSRET,	 ZYDIS_MNEMONIC_SYSEXIT,  ZYDIS_MNEMONIC_SYSCALL,
	ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_SWAPGS,	  ZYDIS_MNEMONIC_INT,
	ZYDIS_MNEMONIC_INT1,	 ZYDIS_MNEMONIC_INTO,	  ZYDIS_MNEMONIC_LGDT,
	ZYDIS_MNEMONIC_LIDT,	 ZYDIS_MNEMONIC_LTR,	  ZYDIS_MNEMONIC_LLDT,
	ZYDIS_MNEMONIC_LMSW,	 ZYDIS_MNEMONIC_LSS,	  ZYDIS_MNEMONIC_CLTS,
	ZYDIS_MNEMONIC_WBINVD,	 ZYDIS_MNEMONIC_INVD,	  ZYDIS_MNEMONIC_VMCALL,
	ZYDIS_MNEMONIC_VMCLEAR,	 ZYDIS_MNEMONIC_VMFUNC,	  ZYDIS_MNEMONIC_VMLAUNCH,
	ZYDIS_MNEMONIC_VMLOAD,	 ZYDIS_MNEMONIC_VMMCALL,  ZYDIS_MNEMONIC_VMPTRLD,
	ZYDIS_MNEMONIC_VMPTRST,	 ZYDIS_MNEMONIC_VMREAD,	  ZYDIS_MNEMONIC_VMRESUME,
	ZYDIS_MNEMONIC_VMRUN,	 ZYDIS_MNEMONIC_VMSAVE,	  ZYDIS_MNEMONIC_VMWRITE,
	ZYDIS_MNEMONIC_VMXOFF,	 ZYDIS_MNEMONIC_VMXON,	  ZYDIS_MNEMONIC_RSM,
	ZYDIS_MNEMONIC_CLGI,	 ZYDIS_MNEMONIC_STGI,	  ZYDIS_MNEMONIC_SKINIT,
	ZYDIS_MNEMONIC_GETSEC,	 ZYDIS_MNEMONIC_ENCLS,	  ZYDIS_MNEMONIC_ENCLU,
	ZYDIS_MNEMONIC_ENCLV,	 ZYDIS_MNEMONIC_SEAMCALL, ZYDIS_MNEMONIC_SEAMOPS,
	ZYDIS_MNEMONIC_SEAMRET,	 ZYDIS_MNEMONIC_TDCALL,	  ZYDIS_MNEMONIC_XBEGIN,
};

static bool is_privileged[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static void init(void)
{
	for (size_t i = 0; i < sizeof(privileged_list) / sizeof(*privileged_list); i++)
		is_privileged[privileged_list[i]] = true;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_KNC, ZYAN_FALSE);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	length_decoder = decoder;
	ZydisDecoderEnableMode(&length_decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
}

static uint8_t flag_mask(ZydisAccessedFlagsMask m)
{
	return (uint8_t)((m & ZYDIS_CPUFLAG_CF ? KI_FLAG_CF : 0) |
			 (m & ZYDIS_CPUFLAG_PF ? KI_FLAG_PF : 0) |
			 (m & ZYDIS_CPUFLAG_AF ? KI_FLAG_AF : 0) |
			 (m & ZYDIS_CPUFLAG_ZF ? KI_FLAG_ZF : 0) |
			 (m & ZYDIS_CPUFLAG_SF ? KI_FLAG_SF : 0) |
			 (m & ZYDIS_CPUFLAG_OF ? KI_FLAG_OF : 0));
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
		if (!z->raw.imm[0].size)
			return true;
		return !(z->raw.imm[0].value.u & (z->operand_width == 64 ? 63 : 31));
	default:
		/* A repeated compare of no elements does not compare. */
		return z->attributes &
		       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	}
}

static void set_flags(const ZydisDecodedInstruction *z, struct ki_decoded *out)
{
	const ZydisAccessedFlags *f = z->cpu_flags;

	if (!f)
		return;
	out->read = flag_mask(f->tested);
	if (!may_keep_flags(z))
		out->written = flag_mask(f->modified | f->set_0 | f->set_1 | f->undefined);
	if (out->read)
		out->in.flags |= KI_INSN_READS_FLAGS;
	if (out->written == KI_FLAG_ALL)
		out->in.flags |= KI_INSN_WRITES_FLAGS;
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
	if (is_privileged[z->mnemonic])
		return true;
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return true;
	if (z->mnemonic != ZYDIS_MNEMONIC_MOV)
		return false;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F) /* control and debug registers */
		return z->opcode >= 0x20 && z->opcode <= 0x23;
	return z->opcode == 0x8e && z->raw.modrm.reg == 2; /* mov %ss */
}

/* Instructions behind which the next one does not run. */
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
	switch (d->in.kind) {
	case KI_INSN_TRAP:
		return d->traits & KI_TRAIT_INT3 ? KI_R_FOREIGN_BREAKPOINT : KI_R_BUG_SITE;
	case KI_INSN_LOOP:
		return KI_R_LOOP_INSN;
	case KI_INSN_CALL:
		/* It wants to know where it is. */
		return d->in.target == d->in.addr + d->in.len ? KI_R_STACK_CALL : KI_R_OK;
	case KI_INSN_CALL_INDIRECT:
		return by_stack(z) ? KI_R_STACK_CALL : KI_R_OK;
	}
	/* A 32-bit instruction pointer: it cannot be said with a 64-bit one. */
	if (d->in.flags & KI_INSN_RIP && z->address_width != 64)
		return KI_R_TOO_FAR;
	return KI_R_OK;
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
	case ZYDIS_MNEMONIC_MOV:
		if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode == 0x8e &&
		    z->raw.modrm.reg == 2)
			traits |= KI_TRAIT_NEXT_FIXED;
		break;
	case ZYDIS_MNEMONIC_MOVSXD:
		if (by_index(z) && z->raw.sib.scale == 2)
			traits |= KI_TRAIT_TABLE_LOAD;
		break;
	default:
		break;
	}
	if (kind != KI_INSN_JMP_INDIRECT)
		return traits;
	if (by_index(z) || z->attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
		traits |= KI_TRAIT_TABLE_JUMP;
	if (z->raw.modrm.mod == 3)
		traits |= KI_TRAIT_REG_JUMP;
	return traits;
}

/* The field that depends on where the instruction stands; false if it is of no known form. */
static bool set_field(const ZydisDecodedInstruction *z, const uint8_t *p, struct ki_insn *in)
{
	uint64_t next = in->addr + in->len;
	int32_t rel;

	if (z->raw.imm[0].is_relative) {
		in->field = z->raw.imm[0].offset;
		if (z->raw.imm[0].size == 8) {
			in->target = next + (uint64_t)(int64_t)(int8_t)p[in->field];
			return in->field + 1 == in->len;
		}
		if (z->raw.imm[0].size != 32 || in->field + 4 != in->len)
			return false;
		memcpy(&rel, p + in->field, 4);
		in->target = next + (uint64_t)(int64_t)rel;
		return true;
	}
	if (!has_modrm(z) || z->raw.modrm.mod != 0 || z->raw.modrm.rm != 5 ||
	    z->raw.disp.size != 32)
		return true;
	in->flags |= KI_INSN_RIP;
	in->field = z->raw.disp.offset;
	in->tail = (uint8_t)(in->len - in->field - 4);
	memcpy(&rel, p + in->field, 4);
	in->target = next + (uint64_t)(int64_t)rel;
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
	out->read = KI_FLAG_ALL;
}

void ki_decode(const uint8_t *p, size_t avail, uint64_t addr, struct ki_decoded *out)
{
	ZydisDecodedInstruction z;

	pthread_once(&once, init);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, p, avail, &z))) {
		set_bad(out, addr);
		return;
	}
	memset(out, 0, sizeof(*out));
	out->in.addr = addr;
	out->in.len = z.length;
	if (!set_field(&z, p, &out->in)) {
		set_bad(out, addr);
		return;
	}
	out->in.kind = kind_of(&z);
	out->traits = traits_of(&z, out->in.kind);
	out->in.reason = reason_of(&z, out);
	set_flags(&z, out);
}

size_t ki_decode_len(const uint8_t *p, size_t avail)
{
	ZydisDecodedInstruction z;

	pthread_once(&once, init);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&length_decoder, NULL, p, avail, &z)))
		return 1;
	return z.length;
}

/* The names of conditions that people use. */
static const char *usual_name(const char *mnemonic)
{
	static const char *const names[][2] = {{"jz", "je"},	  {"jnz", "jne"}, {"jnb", "jae"},
					       {"jnbe", "ja"},	  {"jnl", "jge"}, {"jnle", "jg"},
					       {"loopz", "loope"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(mnemonic, names[i][0]) == 0)
			return names[i][1];
	return mnemonic;
}

int ki_decode_text(const uint8_t *p, size_t avail, uint64_t addr, char text[KI_DECODE_TEXT],
		   bool *direct, uint64_t *target)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	struct ki_decoded d;

	ki_decode(p, avail, addr, &d);
	if (d.in.kind == KI_INSN_BAD ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, p, avail, &z, ops)))
		return -EILSEQ;
	*direct = z.raw.imm[0].is_relative;
	*target = d.in.target;
	if (*direct) {
		snprintf(text, KI_DECODE_TEXT, "%s",
			 usual_name(ZydisMnemonicGetString(z.mnemonic)));
		return 0;
	}
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &z, ops,
							z.operand_count_visible, text,
							KI_DECODE_TEXT, addr, NULL)))
		return -EILSEQ;
	return 0;
}
