/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The decoder, Zydis 4.0 and 4.1, for the files of this folder and snippet/listing.c only: its
 * numbers differ between its versions and never leave these files.
 */
#ifndef KI_CODE_ZYDIS_H
#define KI_CODE_ZYDIS_H

#include <Zycore/Format.h>
#include <Zydis/Zydis.h>

#include "code/decode/decode.h"

/* What a mnemonic means, where Zydis does not tell or tells otherwise. */
#define KI_ZYDIS_PRIVILEGED 0x01 /* changes the machine's state, or its own address matters */
#define KI_ZYDIS_EXPOSES    0x02 /* shows all registers to code that is not known */
#define KI_ZYDIS_MAY_WRITE  0x04 /* may leave its destination as it was */
#define KI_ZYDIS_IDLE	    0x08 /* its operands mean nothing */
#define KI_ZYDIS_ALL_FLAGS  0x10 /* writes all flags */

const ZydisDecoder *ki_zydis_decoder(void);	   /* of everything */
const ZydisDecoder *ki_zydis_length_decoder(void); /* of the length only */
uint8_t ki_zydis_class(ZydisMnemonic m);	   /* KI_ZYDIS_* */

/* The use and def of the registers of an instruction with its operands; flags are not looked at. */
void ki_zydis_regsets(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops,
		      struct ki_decoded *out);

/* What an operand of the instruction is: a number, a general register, memory. False: another, or
   of %fs or %gs. */
bool ki_operand_read(const struct ki_insn *in, const ZydisDecodedOperand *o,
		     struct ki_compared *out);

#endif
