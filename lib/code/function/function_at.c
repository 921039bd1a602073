// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is at an address of a function.
 */
#include "code/function/function.h"
#include "util/search.h"

const struct ki_insn *ki_function_insn_at(const struct ki_function *fn, uint64_t addr)
{
	const struct ki_insn *in;

	if (!ki_function_holds(fn, addr) || !fn->ninsns)
		return NULL;
	in = &fn->insns[ki_function_covering(fn, addr)];
	return in->addr == addr ? in : NULL;
}

const struct ki_block *ki_function_block_at(const struct ki_function *fn, uint64_t addr)
{
	uint32_t lo = (uint32_t)KI_FIRST(i, fn->nblocks, fn->blocks[i].end > addr);

	if (lo == fn->nblocks || fn->blocks[lo].start > addr)
		return NULL;
	return &fn->blocks[lo];
}
