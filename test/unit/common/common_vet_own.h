/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of common_vet.h share: common_vet.c has instructions and control,
 * common_vet_memory.c what memory they use.
 */
#ifndef COMMON_VET_OWN_H
#define COMMON_VET_OWN_H

#include <Zydis/Zydis.h>

#include "common_vet.h"

#define UNKNOWN 0xff

struct step {
	uint32_t off;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};

struct vet {
	const struct ki_long_code *c;
	uint32_t counters, globals, words, nfix;
	struct step now, before, first,
		second; /* and the two before that, the second one earlier */
	unsigned int n;
	unsigned int depth;
	bool dead;	/* nothing falls in here */
	uint16_t here;	/* bits: registers that hold where the thread's words are */
	uint16_t maybe; /* that, or 0 */
	uint8_t loaded; /* 1 + register that this instruction loads so */
	uint8_t tested; /* 1 + register of these that the one before has tested */
	uint16_t brings[KI_LONG_MAX + 1]; /* `here` as jumps bring it; last but two */
	uint16_t brings_maybe[KI_LONG_MAX + 1];
	bool entered[3];	       /* a jump comes to `now`, to `before`, to `first` */
	uint8_t want[KI_LONG_MAX + 1]; /* depth that a jump brings; UNKNOWN: none comes; last */
};

bool vet_is_any(ZydisMnemonic m, const ZydisMnemonic *list, size_t n);

#define IS_ANY(m, ...)                                                                             \
	vet_is_any(m, (const ZydisMnemonic[]){__VA_ARGS__},                                        \
		   sizeof((const ZydisMnemonic[]){__VA_ARGS__}) / sizeof(ZydisMnemonic))

#define M(x)  ZYDIS_MNEMONIC_##x
#define MOVES M(MOV), M(MOVZX), M(MOVSX), M(MOVSXD)

bool vet_is_setcc_cmovcc_jcc(const ZydisDecodedInstruction *z, unsigned int what);

/* common_vet_memory.c */
const ZydisDecodedOperand *vet_memory_of(const struct step *s);
/* A register's number in instructions. */
unsigned int vet_number_of(ZydisRegister r);
/* The fixup at this instruction's field; NULL. */
const struct ki_fixup *vet_fixup(struct vet *v, unsigned int field);
/* NULL, or what is wrong with its memory. */
const char *vet_memory(struct vet *v, const ZydisDecodedOperand *m);

#endif
