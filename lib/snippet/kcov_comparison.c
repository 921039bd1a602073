// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What comes before a comparison for KCOV. Where the task is not traced that is two instructions,
 * and nothing is kept: the comparison writes the flags.
 */
#include <errno.h>

#include "snippet/asm.h"
#include "kerninst/kcov.h"

/* lea disp32(base,index,scale), %rax; always with a SIB byte: any base can be had so. */
static void load_address(struct code_list *a, const struct ki_compared *c, uint32_t pushed)
{
	const bool has_base = c->base != KI_COMPARED_NONE, has_index = c->index != KI_COMPARED_NONE;
	const uint8_t base = has_base ? c->base : 5, index = has_index ? c->index : 4;
	const uint8_t scale = (uint8_t)__builtin_ctz(c->scale);
	const uint32_t disp =
		(uint32_t)c->number + (has_base && c->base == KI_RSP ? 8 * pushed : 0);
	uint8_t code[] = {(uint8_t)(0x48 | (index > 7) << 1 | (base > 7)),
			  0x8d,
			  has_base ? 0x84 : 0x04,
			  (uint8_t)(scale << 6 | (index & 7) << 3 | (base & 7)),
			  (uint8_t)disp,
			  (uint8_t)(disp >> 8),
			  (uint8_t)(disp >> 16),
			  (uint8_t)(disp >> 24)};

	ki_asm_bytes(a, code, sizeof(code), false);
}

/* By %rax, which still has what it had where the operand needs it. */
static void push(struct code_list *a, const struct ki_compared *c, unsigned int size,
		 uint32_t pushed)
{
	const uint64_t mask = size == 8 ? UINT64_MAX : (1ull << 8 * size) - 1;

	if (c->kind == KI_COMPARED_REGISTER) {
		ki_asm_push(a, c->reg);
		return;
	}
	if (c->kind == KI_COMPARED_NUMBER)
		ki_asm_const(a, KI_RAX, (uint64_t)c->number & mask);
	else if (c->base == KI_COMPARED_NONE && c->index == KI_COMPARED_NONE)
		ki_asm_const(a, KI_RAX, (uint64_t)c->number);
	else
		load_address(a, c, pushed);
	ki_asm_push(a, KI_RAX);
}

static bool needs_rax(const struct ki_compared *c)
{
	if (c->kind == KI_COMPARED_REGISTER)
		return c->reg == KI_RAX;
	return c->kind == KI_COMPARED_MEMORY && (c->base == KI_RAX || c->index == KI_RAX);
}

static uint32_t flags_of(const struct ki_compared *c)
{
	return (c->high ? KI_COMPARISON_HIGH : 0) |
	       (c->kind == KI_COMPARED_MEMORY ? KI_COMPARISON_MEMORY : 0);
}

static uint64_t what(uint64_t addr, const struct ki_insn_comparison *cmp)
{
	const uint32_t flags = flags_of(&cmp->first) | flags_of(&cmp->second) << 1 |
			       (cmp->first.kind == KI_COMPARED_NUMBER ? KI_COMPARISON_CONST : 0);

	return KI_COMPARISON(addr, __builtin_ctz(cmp->size), flags);
}

static void record(struct code_list *a, uint64_t addr, const struct ki_insn_comparison *cmp,
		   bool keep_rax)
{
	const struct rm kept = {.mode = RM_STACK, .disp = 8};

	if (keep_rax)
		ki_asm_push(a, KI_RAX);
	push(a, &cmp->second, cmp->size, keep_rax);
	if (cmp->second.kind != KI_COMPARED_REGISTER && needs_rax(&cmp->first))
		ki_asm_mov(a, 8, KI_RAX, &kept);
	push(a, &cmp->first, cmp->size, keep_rax + 1u);
	ki_asm_const(a, KI_RAX, what(addr, cmp));
	ki_asm_push(a, KI_RAX);
	ki_asm_call(a, KI_FIX_HELPER, KI_HELPER_KCOV_COMPARISON);
	for (unsigned int i = 0; i < KI_COMPARISON_WORDS + (unsigned int)keep_rax; i++)
		ki_asm_pop(a, KI_RAX);
}

static void make(struct code_list *a, uint64_t addr, const struct ki_insn_comparison *cmp,
		 bool keep_rax)
{
	const struct rm trace = {
		.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_KCOV_COMPARISONS};
	const uint32_t end = ki_asm_label(a);

	ki_asm_alu_imm(a, ALU_CMP, 8, &trace, 0, false);
	ki_asm_branch(a, CC_E, end);
	record(a, addr, cmp, keep_rax);
	ki_asm_here(a, end);
}

int ki_snippet_kcov_comparison(uint64_t addr, const struct ki_insn_comparison *cmp,
			       const struct ki_site_regs *site, struct ki_long_code *out,
			       struct ki_err *err)
{
	const ki_regset rax = KI_REGSET_REG(KI_RAX);
	struct code_list a = {0};
	int ret;

	*out = (struct ki_long_code){0};
	if ((uint64_t)(int64_t)(int32_t)addr != addr)
		return ki_err_set(err, -ERANGE, addr, "KCOV: no address of the kernel's text");
	make(&a, addr, cmp, (site->dead & rax) != rax || needs_rax(&cmp->first));
	ret = ki_asm_finish(&a, out);
	ki_asm_free(&a);
	return ret ? ki_err_set(err, ret, addr, "KCOV: out of memory") : 0;
}
