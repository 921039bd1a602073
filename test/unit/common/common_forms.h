/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distinct forms of instructions (those that differ in more than displacement and immediates),
 * from real code and made up, changed so that they can be executed: what is relative to rip, and
 * absolute addresses, lead to given memory; other displacements are 0.
 */
#ifndef COMMON_FORMS_H
#define COMMON_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "common_exec.h"

#define FORM_MAX 15

struct form {
	uint8_t bytes[16];
	uint8_t len;
};

struct forms {
	struct form *v;
	size_t n;
	uint64_t *seen; /* hashes of heads */
	size_t nseen;
};

/* Disassemble p all the way, or make instructions up; take what is new. */
void forms_from_code(void *forms, const uint8_t *p, size_t len);
void forms_from_tables(struct forms *f);
void forms_free(struct forms *f);

/* Of one form at the address where it will be executed, with its memory at `data`. */
struct form_info {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};
bool form_place(struct form *f, uint64_t addr, uint32_t data, struct form_info *out);

/* The register of a number, as instructions count them; the number of a register, 16 bits or
   wider, -1: it is another one. */
uint64_t *form_reg(struct exec_cpu *c, unsigned int number);
int form_gpr(ZydisRegister r);

/* Give address registers values that lead to the data; others keep theirs. */
void form_point(const struct form_info *f, struct exec_cpu *c, uint64_t data, uint64_t stack);

/* Why it is not to be executed here, or NULL; by what it does, whatever its operands. */
const char *form_unfit(const struct form_info *i);
const char *form_unfit_alone(const struct form_info *i);

#endif
