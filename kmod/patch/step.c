// SPDX-License-Identifier: GPL-2.0-only
#include "ki.h"
#include "patch/step.h"

u8 ki_step_opcode(const struct ki_step *s)
{
	return s->in.opcode.nbytes == 1 ? s->in.opcode.bytes[0] : 0;
}

static u8 field(u8 low, u8 rex)
{
	return low | (rex ? 8 : 0);
}

u8 ki_step_reg(const struct ki_step *s)
{
	return field((s->in.modrm.bytes[0] >> 3) & 7, s->in.rex_prefix.bytes[0] & 4);
}

u8 ki_step_rm(const struct ki_step *s)
{
	return field(s->in.modrm.bytes[0] & 7, s->in.rex_prefix.bytes[0] & 1);
}

bool ki_step_in_memory(const struct ki_step *s)
{
	return s->in.modrm.nbytes && s->in.modrm.bytes[0] < 0xc0;
}

int ki_step_base(const struct ki_step *s)
{
	u8 mod = s->in.modrm.bytes[0] >> 6;
	u8 base = s->in.sib.nbytes ? s->in.sib.bytes[0] & 7 : s->in.modrm.bytes[0] & 7;

	if (!mod && base == KI_RBP)
		return -1;
	return field(base, s->in.rex_prefix.bytes[0] & 1);
}

bool ki_step_only_reads(const struct ki_step *s)
{
	return ki_step_opcode(s) == 0x8b || ki_step_opcode(s) == 0x8d;
}

bool ki_step_pushes(const struct ki_step *s)
{
	u8 op = ki_step_opcode(s);

	return (op & 0xf8) == 0x50 || op == 0x68 || op == 0x6a || op == 0x9c;
}

static bool is_rsp(const struct ki_step *s)
{
	return s->in.modrm.nbytes && !ki_step_in_memory(s) && ki_step_rm(s) == KI_RSP;
}

#define KI_AND 4
#define KI_SUB 5
#define KI_CMP 7

/* add, and, sub ... of a constant to %rsp: which of them; -1: no such thing. */
static int of_constant(const struct ki_step *s)
{
	u8 op = ki_step_opcode(s);

	return (op == 0x81 || op == 0x83) && is_rsp(s) ? (s->in.modrm.bytes[0] >> 3) & 7 : -1;
}

s32 ki_step_lowers(const struct ki_step *s)
{
	return of_constant(s) == KI_SUB && s->in.immediate.value > 0 ? s->in.immediate.value : 0;
}

/* Those with a part of the opcode where others have a register. */
static bool is_group(u8 op)
{
	return (op & 0xfc) == 0x80 || (op & 0xf6) == 0xf6 || (op & 0xfe) == 0xc0 ||
	       (op & 0xfe) == 0xc6 || (op & 0xfc) == 0xd0;
}

bool ki_step_may_raise(const struct ki_step *s)
{
	u8 op = ki_step_opcode(s);
	int constant = of_constant(s);

	if ((op & 0xf8) == 0x58 || op == 0x8f || op == 0x9d || op == 0xc8 || op == 0xc9)
		return true; /* pops, enter, leave */
	if (constant == KI_SUB)
		return !ki_step_lowers(s);
	if (!s->in.modrm.nbytes || constant == KI_AND || constant == KI_CMP)
		return false;
	if (op == 0x89)
		return is_rsp(s);
	if (op == 0x8b)
		return ki_step_reg(s) == KI_RSP;
	return is_rsp(s) || (!is_group(op) && ki_step_reg(s) == KI_RSP);
}

bool ki_step_makes_frame(const struct ki_step *s)
{
	return ki_step_opcode(s) == 0x89 && (s->in.rex_prefix.bytes[0] & 8) &&
	       !ki_step_in_memory(s) && ki_step_reg(s) == KI_RSP && ki_step_rm(s) == KI_RBP;
}

bool ki_step_takes_canary(const struct ki_step *s)
{
	const struct insn *in = &s->in;
	bool gs = false;
	int i;

	for (i = 0; i < ARRAY_SIZE(in->prefixes.bytes); i++)
		gs |= in->prefixes.bytes[i] == 0x65;
	return gs && ki_step_opcode(s) == 0x8b && (in->modrm.bytes[0] & 0xc7) == 4 &&
	       in->sib.nbytes && in->sib.bytes[0] == 0x25 && (in->rex_prefix.bytes[0] & 8) &&
	       in->displacement.value == 0x28;
}

bool ki_step_is_filler(const struct ki_step *s)
{
	u8 op = ki_step_opcode(s);

	if (op == KI_INT3 || (op == 0x90 && !s->in.rex_prefix.nbytes))
		return true;
	return s->in.opcode.nbytes == 2 && s->in.opcode.bytes[0] == 0x0f &&
	       s->in.opcode.bytes[1] == 0x1f;
}

bool ki_step_branches(const struct ki_step *s)
{
	u8 op = s->in.opcode.bytes[0];

	if (s->in.vex_prefix.nbytes)
		return false;
	if (s->in.opcode.nbytes == 2)
		return op == 0x0f && (s->in.opcode.bytes[1] & 0xf0) == 0x80;
	return s->in.opcode.nbytes == 1 &&
	       ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 || op == 0xe9 || op == 0xeb);
}

bool ki_step_is_last(const struct ki_step *s)
{
	u8 op = ki_step_opcode(s);

	return op == KI_JMP || op == 0xeb || (op & 0xfe) == 0xc2;
}

bool ki_step_keeps_frame(const struct ki_step *s)
{
	bool traps = s->in.opcode.nbytes == 2 && s->in.opcode.bytes[0] == 0x0f &&
		     s->in.opcode.bytes[1] == 0x0b;

	return ki_step_opcode(s) == 0xe8 || traps || ki_step_is_filler(s) || ki_step_is_last(s);
}
