// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory operands that a long chunk may have: see vet_long.c.
 */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "vet/vetting.h"

static u32 disp_at(const struct ki_vetting *v, const struct ki_instr *in)
{
	return v->at + in->disp_at;
}

static u16 vet_counter(struct ki_vetting *v, const struct ki_instr *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_PERCPU, disp_at(v, in));
	u64 count = 1;

	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	if (in->index != KI_SP) { /* which means none */
		if (v->bounded != 2 || in->index != v->index || in->sib >> 6 != 3)
			return KI_R_BAD_CHUNK;
		count = v->bound + 1;
	}
	return ki_counters_own(v->session, f->target, count) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

/* What may be done with each, with how many bytes. */
static const struct {
	u32 classes; /* a bit for each */
	u8 size;
} ki_selves[KI_SELVES] = {
	[KI_SELF_TASK] = {BIT(KI_IS_LOAD), 8},
	[KI_SELF_CPU] = {BIT(KI_IS_LOAD), 4},
	[KI_SELF_WORDS] = {BIT(KI_IS_LOAD), 8},
	[KI_SELF_CLOCK] = {BIT(KI_IS_LOAD) | BIT(KI_IS_SUB) | BIT(KI_IS_CMP), 8},
	[KI_SELF_KCOV] = {BIT(KI_IS_CMP_IMM8), 8},
	[KI_SELF_KCOV_COMPARISONS] = {BIT(KI_IS_CMP_IMM8), 8},
};

static u16 vet_self(struct ki_vetting *v, const struct ki_instr *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_SELF, disp_at(v, in));

	if (!f || f->tail || f->target >= KI_SELVES)
		return KI_R_BAD_FIXUP;
	if (in->sib != 0x25 || in->index != KI_SP || in->size != ki_selves[f->target].size ||
	    !(BIT(in->form->class) & ki_selves[f->target].classes))
		return KI_R_BAD_CHUNK;
	return KI_R_OK;
}

/* %gs:disp32, perhaps with an index. */
static u16 vet_percpu(struct ki_vetting *v, const struct ki_instr *in)
{
	if (in->mod || in->rm != 4 || (in->sib & 7) != 5)
		return KI_R_BAD_CHUNK;
	if (v->fix < v->c->nfix && v->c->fix[v->fix].kind == KI_FIX_SELF)
		return vet_self(v, in);
	return vet_counter(v, in);
}

static u16 vet_global(struct ki_vetting *v, const struct ki_instr *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_GLOBAL, disp_at(v, in));

	if (!f || f->tail != v->at + in->len - (f->off + 4))
		return KI_R_BAD_FIXUP;
	return ki_globals_own(v->session, f->target, 1) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

/*
 * [%rsp + disp], of the chunk's own words. What is locked must not lie across two cache lines, for
 * which all CPUs would stop, or the kernel's split lock detection: %rsp is a multiple of 8.
 */
static u16 vet_stack(const struct ki_vetting *v, const struct ki_instr *in)
{
	u32 own = (v->now & KI_VET_DEPTH) * sizeof(u64), at = in->disp;

	if (in->sib != 0x24 || in->rm != KI_SP || in->index != KI_SP)
		return KI_R_BAD_CHUNK;
	if (in->disp < 0 || own < sizeof(u64) || at > own - sizeof(u64))
		return KI_R_BAD_CHUNK;
	return in->lock && at % in->bytes ? KI_R_BAD_CHUNK : KI_R_OK;
}

static u16 vet_field(struct ki_vetting *v, const struct ki_instr *in)
{
	static const u64 reads = BIT(KI_IS_LOAD) | BIT(KI_IS_CMP_IMM) | BIT(KI_IS_CMP_IMM8);
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_FIELD, disp_at(v, in));
	u32 field;
	u64 more;

	if (!f || f->tail)
		return KI_R_BAD_FIXUP;
	field = f->target;
	more = f->target >> 32;
	if (field >= KI_FIELDS || more > 8 || (more && field != KI_FIELD_COMM))
		return KI_R_BAD_FIXUP;
	if (!(BIT(in->form->class) & reads) ||
	    in->size != (field >= KI_FIELD_COMM ? 8 : 4)) /* from there on all have 8 bytes */
		return KI_R_BAD_CHUNK;
	return KI_R_OK;
}

/* [reg + disp32]. With %r12 there is a SIB byte, which says so and no more. */
static u16 vet_word(struct ki_vetting *v, const struct ki_instr *in)
{
	const struct ki_fixup *f = ki_vet_fixup(v, KI_FIX_WORD, disp_at(v, in));
	u64 byte = f ? f->target >> 32 : 0;

	if (!f || f->tail || byte > 7 || (byte && in->bytes != 1))
		return KI_R_BAD_FIXUP;
	if (in->has_sib && (in->sib != 0x24 || in->index != KI_SP))
		return KI_R_BAD_CHUNK;
	if (in->lock || !(v->regs & KI_VET_SURE(in->rm)))
		return KI_R_BAD_CHUNK;
	v->c->words = true;
	return ki_words_own(v->session, (u32)f->target, 1) ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

/* The next word's fixup may be one of a later instruction: this one's operand is on the stack. */
static bool is_word(const struct ki_vetting *v, const struct ki_instr *in)
{
	const struct ki_fixup *f = &v->c->fix[v->fix];

	return v->fix < v->c->nfix && f->kind == KI_FIX_WORD && f->off == disp_at(v, in);
}

u16 ki_vet_memory(struct ki_vetting *v, const struct ki_instr *in)
{
	if (in->gs)
		return vet_percpu(v, in);
	if (in->mod == 0 && in->rm % 8 == 5)
		return vet_global(v, in);
	if (in->mod == 2 && is_word(v, in))
		return vet_word(v, in);
	if (in->has_sib)
		return vet_stack(v, in);
	if (in->mod == 2 && in->rm == v->task)
		return vet_field(v, in);
	return KI_R_BAD_CHUNK;
}
