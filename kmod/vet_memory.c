// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory operands that a long chunk may have: see vet_long.c.
 */
#include <linux/kernel.h>

#include "vetting.h"

static u32 disp_at(const struct ki_vetting *v, const struct insn *in)
{
	return v->at + insn_offset_displacement((struct insn *)in);
}

static u16 vet_counter(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_PERCPU, disp_at(v, in));
	u8 index = X86_SIB_INDEX(in->sib.value) | (ki_insn_rex(in, 2) ? 8 : 0);
	u64 count = 1;

	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	if (index != KI_SP) { /* which means none */
		if (v->bounded != 2 || index != v->index || X86_SIB_SCALE(in->sib.value) != 3)
			return KI_R_BAD_CHUNK;
		count = v->bound + 1;
	}
	return ki_counters_own(v->session, f->target, count) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

/* What may be done with each: the opcodes, and whether with 8 bytes or with 4. */
static const struct {
	u8 opcodes[3];
	bool wide;
} ki_selves[KI_SELVES] = {
	[KI_SELF_TASK] = {{0x8b}, true},
	[KI_SELF_CPU] = {{0x8b}, false},
	[KI_SELF_WORDS] = {{0x8b}, true},
	[KI_SELF_CLOCK] = {{0x8b, 0x2b, 0x3b}, true}, /* mov, sub, cmp */
	[KI_SELF_KCOV] = {{0x83}, true},	      /* cmp $imm8, of the group */
};

static u16 vet_self(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_SELF, disp_at(v, in));
	u8 op = in->opcode.bytes[0];
	u32 i;

	if (!f || f->tail || f->target >= KI_SELVES)
		return KI_R_BAD_FIXUP;
	if (in->opcode.nbytes != 1 || in->sib.bytes[0] != 0x25 || ki_insn_rex(in, 2) ||
	    ki_insn_rex(in, 8) != ki_selves[f->target].wide || in->opnd_bytes == 2)
		return KI_R_BAD_CHUNK;
	if (op == 0x83 && X86_MODRM_REG(in->modrm.value) != 7)
		return KI_R_BAD_CHUNK;
	for (i = 0; i < ARRAY_SIZE(ki_selves[0].opcodes); i++)
		if (op && op == ki_selves[f->target].opcodes[i])
			return KI_R_OK;
	return KI_R_BAD_CHUNK;
}

/* %gs:disp32, perhaps with an index. */
static u16 vet_percpu(struct ki_vetting *v, const struct insn *in)
{
	if (X86_MODRM_MOD(in->modrm.value) || X86_MODRM_RM(in->modrm.value) != 4 ||
	    X86_SIB_BASE(in->sib.value) != 5 || ki_insn_rex(in, 1))
		return KI_R_BAD_CHUNK;
	if (v->fix < v->c->nfix && v->c->fix[v->fix].kind == KI_FIX_SELF)
		return vet_self(v, in);
	return vet_counter(v, in);
}

static u16 vet_global(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_GLOBAL, disp_at(v, in));

	if (!f || f->tail != v->at + in->length - (f->off + 4))
		return KI_R_BAD_FIXUP;
	return ki_globals_own(v->session, f->target, 1) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

static u16 vet_stack(const struct ki_vetting *v, const struct insn *in)
{
	s32 disp = X86_MODRM_MOD(in->modrm.value) ? in->displacement.value : 0;

	if (in->sib.bytes[0] != 0x24 || ki_insn_rex(in, 3)) /* [%rsp + disp] */
		return KI_R_BAD_CHUNK;
	return disp >= 0 && disp + 8 <= (v->now & KI_VET_DEPTH) * 8 ? KI_R_OK : KI_R_BAD_CHUNK;
}

static u16 vet_field(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_FIELD, disp_at(v, in));
	u32 field;
	u64 more;

	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	field = f->target;
	more = f->target >> 32;
	if (field >= KI_FIELDS || more > 8 || (more && field != KI_FIELD_COMM))
		return KI_R_BAD_FIXUP;
	if (in->opcode.nbytes != 1 || in->opcode.bytes[0] != 0x8b || in->opnd_bytes == 2 ||
	    ki_insn_rex(in, 8) != (field >= KI_FIELD_COMM)) /* from there on all have 8 bytes */
		return KI_R_BAD_CHUNK;
	return KI_R_OK;
}

/* Of the forms that may have memory those with an even opcode access one byte. */
static bool is_byte(const struct insn *in)
{
	return !(in->opcode.bytes[in->opcode.nbytes - 1] & 1);
}

/* [reg + disp32]. With %r12 there is a SIB byte, which says so and no more. */
static u16 vet_word(struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_WORD, disp_at(v, in));
	u64 byte = f ? f->target >> 32 : 0;
	bool gs, lock;

	if (!f || f->tail || byte > 7 || (byte && !is_byte(in)))
		return KI_R_BAD_FIXUP;
	if (X86_MODRM_RM(in->modrm.value) == 4 && (in->sib.bytes[0] != 0x24 || ki_insn_rex(in, 2)))
		return KI_R_BAD_CHUNK;
	if (!(v->regs & KI_VET_SURE(ki_insn_rm(in))))
		return KI_R_BAD_CHUNK;
	if (!ki_insn_prefixes(in, &gs, &lock) || lock)
		return KI_R_BAD_CHUNK;
	v->c->words = true;
	return ki_words_own(v->session, (u32)f->target, 1) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

/* The next word's fixup may be one of a later instruction: this one's operand is on the stack. */
static bool is_word(const struct ki_vetting *v, const struct insn *in)
{
	const struct ki_fixup *f = &v->c->fix[v->fix];

	return v->fix < v->c->nfix && f->kind == KI_FIX_WORD && f->off == disp_at(v, in);
}

u16 ki_vet_memory(struct ki_vetting *v, const struct insn *in, bool gs)
{
	u8 mod = X86_MODRM_MOD(in->modrm.value), rm = X86_MODRM_RM(in->modrm.value);

	if (gs)
		return vet_percpu(v, in);
	if (mod == 0 && rm == 5)
		return vet_global(v, in);
	if (mod == 2 && is_word(v, in))
		return vet_word(v, in);
	if (rm == 4)
		return vet_stack(v, in);
	if (mod == 2 && ki_insn_rm(in) == v->task)
		return vet_field(v, in);
	return KI_R_BAD_CHUNK;
}
