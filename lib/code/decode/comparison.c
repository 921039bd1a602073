// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What an instruction compares: see kerninst/code.h. */
#include "code/decode/zydis.h"

#include <string.h>

static bool is_same(const struct ki_compared *a, const struct ki_compared *b)
{
	return a->kind == KI_COMPARED_REGISTER && b->kind == KI_COMPARED_REGISTER &&
	       a->reg == b->reg && a->high == b->high;
}

static int64_t extend(int64_t number, unsigned int size)
{
	const unsigned int spare = 64 - 8 * size;

	return (int64_t)((uint64_t)number << spare) >> spare;
}

/* The number comes first; `test` of a value with itself compares it with 0. */
static bool order_operands(ZydisMnemonic what, struct ki_insn_comparison *out)
{
	const struct ki_compared swap = out->first;

	if (is_same(&out->first, &out->second)) {
		out->first = (struct ki_compared){.kind = KI_COMPARED_NUMBER};
		return what == ZYDIS_MNEMONIC_TEST;
	}
	if (out->second.kind == KI_COMPARED_NUMBER) {
		out->first = out->second;
		out->first.number = extend(out->first.number, out->size);
		out->second = swap;
	}
	return true;
}

bool ki_insn_compares(const struct ki_function *fn, const struct ki_insn *in,
		      struct ki_insn_comparison *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	if (in->kind != KI_INSN_PLAIN || in->flags & KI_INSN_EXTABLE ||
	    !(in->flags & KI_INSN_WRITES_FLAGS) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(
		    ki_zydis_decoder(), fn->bytes + (in->addr - fn->start), in->len, &z, ops)))
		return false;
	if ((z.mnemonic != ZYDIS_MNEMONIC_CMP && z.mnemonic != ZYDIS_MNEMONIC_TEST) ||
	    z.address_width != 64)
		return false;
	*out = (struct ki_insn_comparison){.size = (uint8_t)(ops[0].size / 8)};
	return ki_operand_read(in, &ops[0], &out->first) &&
	       ki_operand_read(in, &ops[1], &out->second) && order_operands(z.mnemonic, out);
}
