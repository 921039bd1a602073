// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The forms of instructions: prefixes, REX, opcode, ModRM, displacement, immediate, in this order,
 * put together in one place.
 */
#include <string.h>

#include "snippet/asm.h"

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

/* An instruction to be put together. */
struct form {
	uint16_t op;		/* opcode; 0x0fXX: two bytes */
	uint8_t size;		/* of the operation */
	bool lock, pure;	/* pure: flags are left alone */
	bool byte_reg, byte_rm; /* these are registers of 8 bits */
	uint8_t imm_len;
	int32_t imm;
};

struct asm_mark ki_asm_mark(const struct code_list *a)
{
	return (struct asm_mark){a->insns.n, a->labels.n, a->writes_flags};
}

void ki_asm_back(struct code_list *a, const struct asm_mark *m)
{
	if (a->insns.n >= m->ninsns)
		a->insns.n = m->ninsns;
	if (a->labels.n >= m->nlabels)
		a->labels.n = m->nlabels;
	a->writes_flags = m->writes_flags;
}

void ki_asm_free(struct code_list *a)
{
	ki_vec_free(&a->insns);
	ki_vec_free(&a->labels);
}

/* The next instruction; a dummy if there is no memory, or it would be too long anyway. */
static struct asm_insn *next(struct code_list *a)
{
	static _Thread_local struct asm_insn dummy;

	if (a->insns.n > KI_LONG_MAX || ki_vec_reserve(&a->insns, 1)) {
		a->failed |= a->insns.n <= KI_LONG_MAX;
		dummy = (struct asm_insn){0};
		return &dummy;
	}
	a->insns.v[a->insns.n] = (struct asm_insn){.branch = ASM_NONE, .line = a->line};
	return &a->insns.v[a->insns.n++];
}

static void put(struct asm_insn *i, unsigned int byte)
{
	i->bytes[i->len++] = (uint8_t)byte;
}

static void put_le(struct asm_insn *i, uint64_t value, unsigned int n)
{
	memcpy(i->bytes + i->len, &value, n);
	i->len += (uint8_t)n;
}

static unsigned int rex_of(const struct form *f, unsigned int reg, const struct rm *m)
{
	unsigned int rex = f->size == 8 ? 0x40 | REX_W : 0;

	if (reg > 7)
		rex |= 0x40 | REX_R;
	if (m->mode == RM_GS_AT && m->reg > 7)
		rex |= 0x40 | REX_X;
	if ((m->mode == RM_REG || m->mode == RM_FIELD || m->mode == RM_AT) && m->reg > 7)
		rex |= 0x40 | REX_B;
	/* sil, dil, bpl */
	if ((f->byte_reg && reg > 3) || (f->byte_rm && m->mode == RM_REG && m->reg > 3))
		rex |= 0x40;
	return rex;
}

static void put_fixup(struct asm_insn *i, const struct rm *m, unsigned int tail)
{
	i->fix_kind = m->fix;
	i->fix_off = i->len;
	i->fix_tail = m->mode == RM_GLOBAL ? (uint8_t)tail : 0;
	i->fix_target = m->target;
	put_le(i, 0, 4);
}

static void put_operand(struct asm_insn *i, unsigned int reg, const struct rm *m, unsigned int tail)
{
	unsigned int r = (reg & 7) << 3;

	switch (m->mode) {
	case RM_REG:
		put(i, 0xc0 | r | (m->reg & 7));
		return;
	case RM_STACK:
		put(i, (m->disp == (int8_t)m->disp ? 0x44 : 0x84) | r);
		put(i, 0x24);
		put_le(i, (uint32_t)m->disp, m->disp == (int8_t)m->disp ? 1 : 4);
		return;
	case RM_AT: /* never %rsp, %r12 */
		put(i, 0x40 | r | (m->reg & 7));
		put(i, 0);
		return;
	case RM_GS:
		put(i, 0x04 | r);
		put(i, 0x25);
		break;
	case RM_GS_AT:
		put(i, 0x04 | r);
		put(i, 0xc5u | (m->reg & 7u) << 3);
		break;
	case RM_GLOBAL:
		put(i, 0x05 | r);
		break;
	default: /* RM_FIELD; never %rsp, %r12 */
		put(i, 0x80 | r | (m->reg & 7));
	}
	put_fixup(i, m, tail);
}

static void emit(struct code_list *a, const struct form *f, unsigned int reg, const struct rm *m)
{
	struct asm_insn *i = next(a);
	unsigned int rex = rex_of(f, reg, m);

	if (f->lock)
		put(i, 0xf0);
	if (m->mode == RM_GS || m->mode == RM_GS_AT)
		put(i, 0x65);
	if (f->size == 2)
		put(i, 0x66);
	if (rex)
		put(i, rex);
	if (f->op > 0xff)
		put(i, f->op >> 8);
	put(i, f->op & 0xff);
	put_operand(i, reg, m, f->imm_len);
	put_le(i, (uint32_t)f->imm, f->imm_len);
	a->writes_flags |= !f->pure;
}

/* Opcodes come in pairs: for bytes, and one more for all others. */
static unsigned int wide(unsigned int op, unsigned int size)
{
	return op | (size > 1);
}

void ki_asm_alu_load(struct code_list *a, enum alu op, unsigned int size, unsigned int reg,
		     const struct rm *m)
{
	emit(a,
	     &(struct form){.op = (uint16_t)wide((unsigned int)op << 3 | 2, size),
			    .size = (uint8_t)size,
			    .byte_reg = size == 1,
			    .byte_rm = size == 1},
	     reg, m);
}

void ki_asm_alu_store(struct code_list *a, enum alu op, unsigned int size, const struct rm *m,
		      unsigned int reg, bool lock)
{
	emit(a,
	     &(struct form){.op = (uint16_t)wide((unsigned int)op << 3, size),
			    .size = (uint8_t)size,
			    .lock = lock,
			    .byte_reg = size == 1,
			    .byte_rm = size == 1},
	     reg, m);
}

void ki_asm_alu_imm(struct code_list *a, enum alu op, unsigned int size, const struct rm *m,
		    int32_t imm, bool lock)
{
	struct form f = {.size = (uint8_t)size, .lock = lock, .byte_rm = size == 1, .imm = imm};

	if (size == 1) {
		f.op = 0x80;
		f.imm_len = 1;
	} else if (imm == (int8_t)imm) {
		f.op = 0x83;
		f.imm_len = 1;
	} else {
		f.op = 0x81;
		f.imm_len = size == 2 ? 2 : 4;
	}
	emit(a, &f, op, m);
}

void ki_asm_inc(struct code_list *a, unsigned int size, const struct rm *m, bool dec, bool lock)
{
	emit(a,
	     &(struct form){.op = (uint16_t)wide(0xfe, size), .size = (uint8_t)size, .lock = lock},
	     dec, m);
}

void ki_asm_test(struct code_list *a, unsigned int size, unsigned int x, unsigned int y)
{
	struct rm m = rm_reg(x);

	emit(a, &(struct form){.op = 0x85, .size = (uint8_t)size}, y, &m);
}

void ki_asm_mov(struct code_list *a, unsigned int size, unsigned int reg, const struct rm *m)
{
	if (m->mode == RM_REG && m->reg == reg && size == 8)
		return;
	emit(a, &(struct form){.op = 0x8b, .size = (uint8_t)size, .pure = true}, reg, m);
}

void ki_asm_mov_store(struct code_list *a, unsigned int size, const struct rm *m, unsigned int reg)
{
	emit(a,
	     &(struct form){.op = (uint16_t)wide(0x88, size),
			    .size = (uint8_t)size,
			    .pure = true,
			    .byte_reg = size == 1},
	     reg, m);
}

void ki_asm_mov_imm(struct code_list *a, unsigned int size, const struct rm *m, int32_t imm)
{
	emit(a,
	     &(struct form){.op = (uint16_t)wide(0xc6, size),
			    .size = (uint8_t)size,
			    .pure = true,
			    .imm_len = (uint8_t)(size > 4 ? 4 : size),
			    .imm = imm},
	     0, m);
}

void ki_asm_const(struct code_list *a, unsigned int reg, uint64_t value)
{
	struct rm m = rm_reg(reg);
	struct asm_insn *i;

	if (!value) {
		ki_asm_alu_load(a, ALU_XOR, 4, reg, &m);
		return;
	}
	if (value > UINT32_MAX && (int64_t)value == (int32_t)value) {
		ki_asm_mov_imm(a, 8, &m, (int32_t)value);
		return;
	}
	i = next(a);
	if (reg > 7 || value > UINT32_MAX)
		put(i, 0x40u | (value > UINT32_MAX ? REX_W : 0) | (reg > 7 ? REX_B : 0));
	put(i, 0xb8 | (reg & 7));
	put_le(i, value, value > UINT32_MAX ? 8 : 4);
}

void ki_asm_extend(struct code_list *a, enum ki_type type, unsigned int reg, const struct rm *m)
{
	static const struct {
		uint16_t op;
		uint8_t size;
		bool byte_rm;
	} rows[KI_TYPES] = {
		[KI_I8] = {0x0fbe, 8, true}, [KI_I16] = {0x0fbf, 8, false},
		[KI_I32] = {0x63, 8, false}, [KI_I64] = {0x8b, 8, false},
		[KI_U8] = {0x0fb6, 4, true}, [KI_U16] = {0x0fb7, 4, false},
		[KI_U32] = {0x8b, 4, false}, [KI_U64] = {0x8b, 8, false},
	};

	if (rows[type].op == 0x8b) {
		ki_asm_mov(a, rows[type].size, reg, m);
		return;
	}
	emit(a,
	     &(struct form){.op = rows[type].op,
			    .size = rows[type].size,
			    .pure = true,
			    .byte_rm = rows[type].byte_rm},
	     reg, m);
}

void ki_asm_lea_stack(struct code_list *a, unsigned int reg, int32_t disp)
{
	struct rm m = {.mode = RM_STACK, .disp = disp};

	ki_asm_lea(a, reg, &m);
}

void ki_asm_lea(struct code_list *a, unsigned int reg, const struct rm *m)
{
	emit(a, &(struct form){.op = 0x8d, .size = 8, .pure = true}, reg, m);
}

void ki_asm_xchg(struct code_list *a, unsigned int x, unsigned int y)
{
	struct rm m = rm_reg(x);

	emit(a, &(struct form){.op = 0x87, .size = 8, .pure = true}, y, &m);
}

void ki_asm_unary(struct code_list *a, unsigned int digit, unsigned int reg)
{
	struct rm m = rm_reg(reg);

	emit(a, &(struct form){.op = 0xf7, .size = 8, .pure = digit == 2}, digit, &m);
}

void ki_asm_imul(struct code_list *a, unsigned int reg, unsigned int by)
{
	struct rm m = rm_reg(by);

	emit(a, &(struct form){.op = 0x0faf, .size = 8}, reg, &m);
}

void ki_asm_imul_imm(struct code_list *a, unsigned int reg, unsigned int by, int32_t imm)
{
	struct rm m = rm_reg(by);
	bool byte = imm == (int8_t)imm;

	emit(a,
	     &(struct form){
		     .op = byte ? 0x6b : 0x69, .size = 8, .imm_len = byte ? 1 : 4, .imm = imm},
	     reg, &m);
}

void ki_asm_shift_imm(struct code_list *a, enum shift op, unsigned int reg, unsigned int count)
{
	struct rm m = rm_reg(reg);

	emit(a, &(struct form){.op = 0xc1, .size = 8, .imm_len = 1, .imm = (int32_t)count}, op, &m);
}

void ki_asm_shift_cl(struct code_list *a, enum shift op, unsigned int reg)
{
	struct rm m = rm_reg(reg);

	emit(a, &(struct form){.op = 0xd3, .size = 8}, op, &m);
}

void ki_asm_setcc(struct code_list *a, unsigned int cc, unsigned int reg)
{
	struct rm m = rm_reg(reg);

	emit(a, &(struct form){.op = (uint16_t)(0x0f90 | cc), .pure = true, .byte_rm = true}, 0,
	     &m);
	emit(a, &(struct form){.op = 0x0fb6, .size = 4, .pure = true, .byte_rm = true}, reg, &m);
}

void ki_asm_bsr(struct code_list *a, unsigned int reg, unsigned int of)
{
	struct rm m = rm_reg(of);

	emit(a, &(struct form){.op = 0x0fbd, .size = 8}, reg, &m);
}

static void one_byte(struct code_list *a, unsigned int op, unsigned int reg)
{
	struct asm_insn *i = next(a);

	if (reg > 7)
		put(i, 0x40 | REX_B);
	put(i, op | (reg & 7));
}

void ki_asm_push(struct code_list *a, unsigned int reg)
{
	one_byte(a, 0x50, reg);
	a->uses_stack = true;
}

void ki_asm_pop(struct code_list *a, unsigned int reg)
{
	one_byte(a, 0x58, reg);
}

void ki_asm_bytes(struct code_list *a, const void *bytes, unsigned int n, bool flags)
{
	struct asm_insn *i = next(a);

	memcpy(i->bytes, bytes, n);
	i->len = (uint8_t)n;
	a->writes_flags |= flags;
}

void ki_asm_call(struct code_list *a, enum ki_fixup_kind kind, uint64_t target)
{
	struct rm m = {.mode = RM_GLOBAL, .fix = (uint8_t)kind, .target = target};
	struct asm_insn *i = next(a);

	put(i, 0xe8);
	put_fixup(i, &m, 0);
	a->writes_flags = a->uses_stack = true;
}

uint32_t ki_asm_label(struct code_list *a)
{
	if (ki_vec_push(&a->labels, UINT32_MAX))
		a->failed = true;
	return (uint32_t)a->labels.n - 1;
}

void ki_asm_here(struct code_list *a, uint32_t label)
{
	if (!a->failed)
		a->labels.v[label] = (uint32_t)a->insns.n;
}

void ki_asm_branch(struct code_list *a, unsigned int cc, uint32_t label)
{
	struct asm_insn *i = next(a);

	i->branch = (uint8_t)cc;
	i->label = label;
}
