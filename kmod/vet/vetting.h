/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A long chunk while it is checked: control by vet_long.c, memory operands by vet_memory.c.
 */
#ifndef KI_VETTING_H
#define KI_VETTING_H

#include <linux/bits.h>

#include "vet/form.h"
#include "vet/long.h"

/* How deep the stack is. */
#define KI_VET_UNKNOWN 0xff /* of a place nothing is known of */
#define KI_VET_ENTERED 0x40 /* between ENTER and LEAVE */
#define KI_VET_DEPTH   0x3f

/*
 * What registers hold: the lower half has a bit for each that holds where the thread's words are,
 * or 0; the upper one, of these, for each that is known not to be 0. Where ways join, what both
 * know is their intersection.
 */
#define KI_VET_HOLDS(reg) BIT(reg)
#define KI_VET_SURE(reg)  BIT(16 + (reg))

/* Before a byte: */
struct ki_place {
	u8 state;
	u32 regs;
};

struct ki_vetting {
	const struct ki_session *session;
	struct ki_long_code *c;
	struct ki_place *place; /* at each byte, and after the last */
	unsigned long *led;	/* branches lead there */
	unsigned long *starts;
	u32 at, fix;
	u8 now;	  /* the state before the instruction; UNKNOWN: control does not come here */
	u8 then;  /* the state after it */
	u32 regs; /* before it */
	u16 lost; /* registers that it writes */
	/* What the instructions just before have made sure of: */
	int task;    /* this register holds the current task; -1: none does */
	int tested;  /* this one has been compared with 0; -1: none has */
	int imm_reg; /* this one holds the constant `imm`; -1: none does */
	u32 imm;
	u8 bounded; /* 1: `index` has been compared with `bound`, 2: it is not above it */
	u8 index;
	u64 bound;
	u8 entering; /* 1: ENTER has been called, 2: %eax has been tested */
};

/* The next fixup, if its field is at off and it is of that kind. */
static inline const struct ki_fixup *ki_vet_fixup(struct ki_vetting *v, u8 kind, u32 off)
{
	const struct ki_fixup *f = &v->c->fix[v->fix];

	if (v->fix == v->c->nfix || f->kind != kind || f->off != off)
		return NULL;
	v->fix++;
	return f;
}

/* May this instruction, which has one, have that memory operand? */
u16 ki_vet_memory(struct ki_vetting *v, const struct ki_instr *in);

#endif
