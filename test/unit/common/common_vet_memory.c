// SPDX-License-Identifier: GPL-2.0-only
#include "common_vet_own.h"

const ZydisDecodedOperand *vet_memory_of(const struct step *s)
{
	for (unsigned int i = 0; i < s->z.operand_count_visible; i++)
		if (s->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &s->ops[i];
	return NULL;
}

const struct ki_fixup *vet_fixup(struct vet *v, unsigned int field)
{
	const struct ki_fixup *f = v->c->fix + v->nfix;

	if (v->nfix >= v->c->nfix || f->off != v->now.off + field || f->zero)
		return NULL;
	v->nfix++;
	return f;
}

static bool is_move_of_task(const struct step *s)
{
	return s->z.mnemonic == M(MOV) && s->ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       s->ops[1].mem.segment == ZYDIS_REGISTER_GS && s->z.operand_width == 64 &&
	       s->ops[1].mem.index == ZYDIS_REGISTER_NONE;
}

unsigned int vet_number_of(ZydisRegister r)
{
	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return (unsigned int)ZydisRegisterGetId(r);
}

static const char *vet_self(struct vet *v, const struct ki_fixup *f)
{
	const struct step *s = &v->now;

	if (IS_ANY(s->z.mnemonic, M(CMP), M(SUB)) && f->target == KI_SELF_CLOCK &&
	    s->z.operand_width == 64 && s->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return NULL;
	if (f->target == KI_SELF_KCOV || f->target == KI_SELF_KCOV_COMPARISONS)
		return s->z.mnemonic == M(CMP) && s->z.operand_width == 64 && !f->tail &&
				       s->ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
				       s->ops[1].size == 8
			       ? NULL
			       : "no comparison of the trace with a number";
	if (s->z.mnemonic != M(MOV) || s->ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER || f->tail)
		return "no load of the current task or CPU";
	if (f->target == KI_SELF_TASK || f->target == KI_SELF_CLOCK)
		return s->z.operand_width == 64 ? NULL : "half a task or clock";
	if (f->target == KI_SELF_WORDS) {
		v->loaded = (uint8_t)(1 + vet_number_of(s->ops[0].reg.value));
		return s->z.operand_width == 64 ? NULL : "half a pointer";
	}
	return f->target == KI_SELF_CPU && s->z.operand_width == 32 ? NULL : "no such self";
}

static const char *vet_gs(struct vet *v, const ZydisDecodedOperand *m)
{
	const struct ki_fixup *f = vet_fixup(v, v->now.z.raw.disp.offset);

	if (!f || v->now.z.raw.disp.size != 32 || m->mem.disp.value)
		return "no fixup at a %gs operand";
	if (m->mem.base != ZYDIS_REGISTER_NONE)
		return "%gs with a base";
	if (f->kind == KI_FIX_SELF)
		return m->mem.index == ZYDIS_REGISTER_NONE ? vet_self(v, f) : "an index at self";
	if (f->kind != KI_FIX_PERCPU || f->tail || f->target >= v->counters)
		return "not a counter";
	if (!IS_ANY(v->now.z.mnemonic, MOVES, M(ADD), M(SUB), M(AND), M(OR), M(XOR), M(CMP), M(INC),
		    M(DEC)))
		return "an instruction that may not have %gs";
	if (m->mem.index == ZYDIS_REGISTER_NONE)
		return NULL;
	if (v->n < 2 || v->entered[0] || v->entered[1] || m->mem.scale != 8)
		return "an index without bounds";
	if (!vet_is_setcc_cmovcc_jcc(&v->before.z, 'j') || (v->before.z.opcode & 0xf) != 7)
		return "no ja before an index";
	if (v->first.z.mnemonic != M(CMP) || v->first.ops[0].reg.value != m->mem.index ||
	    v->first.ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    (v->first.z.opcode != 0x81 && v->first.z.opcode != 0x83) || v->first.ops[0].size != 64)
		return "no cmp before an index";
	if (v->first.ops[1].imm.value.s < 0 ||
	    f->target + v->first.ops[1].imm.value.u >= v->counters)
		return "an index too far";
	return NULL;
}

static const char *vet_global(struct vet *v)
{
	const struct ki_fixup *f = vet_fixup(v, v->now.z.raw.disp.offset);
	bool lock = v->now.z.attributes & ZYDIS_ATTRIB_HAS_LOCK;

	if (!f || f->kind != KI_FIX_GLOBAL || f->target >= v->globals)
		return "not a global variable";
	if (f->off + 4 + f->tail != v->now.off + v->now.z.length)
		return "a wrong tail";
	if (lock)
		return IS_ANY(v->now.z.mnemonic, M(ADD), M(SUB), M(AND), M(OR), M(XOR), M(INC),
			      M(DEC), M(XADD))
			       ? NULL
			       : "a lock that may not be";
	return IS_ANY(v->now.z.mnemonic, MOVES, M(ADD), M(SUB), M(AND), M(OR), M(XOR), M(CMP),
		      M(INC), M(DEC))
		       ? NULL
		       : "an instruction that may not have a global";
}

static const char *vet_stack(const struct vet *v, const ZydisDecodedOperand *m)
{
	if (v->now.z.mnemonic == M(LEA))
		return NULL;
	if (m->mem.index != ZYDIS_REGISTER_NONE)
		return "an index on the stack";
	if (!IS_ANY(v->now.z.mnemonic, MOVES, M(ADD), M(OR), M(AND), M(SUB), M(XOR), M(CMP),
		    M(TEST), M(INC), M(DEC)))
		return "an instruction that may not have the stack";
	if (m->mem.disp.value < 0 || m->mem.disp.value + m->size / 8 > 8 * (int64_t)v->depth)
		return "not its own word of the stack";
	return NULL;
}

static bool loads(const struct step *s)
{
	return s->z.mnemonic == M(MOV) && s->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool compares_with_number(const struct step *s)
{
	return s->z.mnemonic == M(CMP) && s->ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static const char *vet_field(struct vet *v, const ZydisDecodedOperand *m)
{
	const struct ki_fixup *f = vet_fixup(v, v->now.z.raw.disp.offset), *task = f ? f - 1 : NULL;
	unsigned int size;

	if (!f || f->kind != KI_FIX_FIELD || v->nfix < 2 || task->kind != KI_FIX_SELF ||
	    task->target != KI_SELF_TASK || f->tail || v->now.z.raw.disp.size != 32)
		return "memory that may not be read";
	if (v->entered[0] || !is_move_of_task(&v->before) ||
	    v->before.ops[0].reg.value != m->mem.base || m->mem.index != ZYDIS_REGISTER_NONE)
		return "a field without the task";
	size = f->target == KI_FIELD_PID || f->target == KI_FIELD_TGID ? 32 : 64;
	if ((uint32_t)f->target >= KI_FIELDS || v->now.z.operand_width != size ||
	    (!loads(&v->now) && !compares_with_number(&v->now)))
		return "neither a load of a field nor a comparison";
	if (f->target >> 32 && f->target != (KI_FIELD_COMM | 8ull << 32))
		return "no such field";
	return NULL;
}

static bool is_word(const struct vet *v)
{
	const struct ki_fixup *f = v->c->fix + v->nfix;

	return v->nfix < v->c->nfix && f->off == v->now.off + v->now.z.raw.disp.offset &&
	       f->kind == KI_FIX_WORD;
}

static const char *vet_word(struct vet *v, const ZydisDecodedOperand *m)
{
	const struct ki_fixup *f = vet_fixup(v, v->now.z.raw.disp.offset);

	if (!f || f->tail || f->target >= v->words || v->now.z.raw.disp.size != 32)
		return "not a word of the thread";
	if (m->mem.index != ZYDIS_REGISTER_NONE || !(v->here >> vet_number_of(m->mem.base) & 1))
		return "a word without the pointer";
	return IS_ANY(v->now.z.mnemonic, MOVES, M(ADD), M(SUB), M(AND), M(OR), M(XOR), M(CMP),
		      M(INC), M(DEC))
		       ? NULL
		       : "an instruction that may not have a word";
}

const char *vet_memory(struct vet *v, const ZydisDecodedOperand *m)
{
	if (v->now.z.attributes & ZYDIS_ATTRIB_HAS_LOCK && m->mem.base != ZYDIS_REGISTER_RIP)
		return "a lock";
	if (m->mem.segment == ZYDIS_REGISTER_GS)
		return vet_gs(v, m);
	if (v->now.z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT)
		return "a segment";
	if (m->mem.base == ZYDIS_REGISTER_RSP)
		return vet_stack(v, m);
	if (m->mem.base == ZYDIS_REGISTER_RIP)
		return v->now.z.mnemonic == M(LEA) ? "lea of rip" : vet_global(v);
	if (v->now.z.mnemonic == M(LEA))
		return NULL;
	return is_word(v) ? vet_word(v, m) : vet_field(v, m);
}
