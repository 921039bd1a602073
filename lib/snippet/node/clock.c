// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clocks, which have registers of their own: rdtsc; and the CPU.
 */
#include "snippet/node.h"

#define CPU_SEGMENT 0x7b /* the kernel's __CPUNODE_SEG, as the vdso's getcpu uses it */

/* The clock into dest, %rdx or %rax, of which dest's own is free and the others are claimed. */
static unsigned int read_tsc(struct gen *g, unsigned int dest)
{
	unsigned int low = dest == KI_RDX ? KI_RDX : KI_RAX;
	struct rm other = rm_reg(dest == KI_RDX ? KI_RAX : KI_RDX);
	static const uint8_t rdtsc[] = {0x0f, 0x31};

	ki_asm_bytes(&g->a, rdtsc, sizeof(rdtsc), false);
	ki_asm_shift_imm(&g->a, SHIFT_SHL, KI_RDX, 32);
	ki_asm_alu_load(&g->a, ALU_OR, 8, low, &other);
	return low;
}

void ki_gen_tsc(struct gen *g, unsigned int dest)
{
	struct claims c = {0};

	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_claim(g, KI_RDX, dest, &c);
	ki_gen_move(g, dest, read_tsc(g, dest));
	ki_gen_unclaim(g, &c);
}

/*
 * The limit of a segment that the kernel has on each CPU for just that: the CPU below, its node in
 * bits 12 on. (rdtscp and rdpid say the same where the kernel has told the processor, which it does
 * not do where cpuid denies them; a virtual machine's says the host's CPU then.)
 *
 *   mov $0x7b, dest; lsl dest, dest; and $0xfff, dest
 */
void ki_gen_user_cpu(struct gen *g, unsigned int dest)
{
	const struct rm result = rm_reg(dest);
	const uint8_t low = dest & 7, high = dest >> 3 ? 0x45 : 0x40;
	const uint8_t lsl[] = {high, 0x0f, 0x03, (uint8_t)(0xc0 | low << 3 | low)};

	ki_asm_const(&g->a, dest, CPU_SEGMENT);
	ki_asm_bytes(&g->a, lsl, sizeof(lsl), false);
	ki_asm_alu_imm(&g->a, ALU_AND, 4, &result, 0xfff, false);
}

static const struct rm offset = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_CLOCK};

static unsigned int read_clock(struct gen *g, unsigned int dest, unsigned int off)
{
	struct rm m = rm_reg(off);
	unsigned int low;

	ki_asm_mov(&g->a, 8, off, &offset);
	low = read_tsc(g, dest);
	ki_asm_alu_load(&g->a, ALU_SUB, 8, low, &m);
	return low;
}

/*
 * What is subtracted belongs to this CPU and this thread's turn on it. If another thread had a turn
 * between the two readings, or this one is elsewhere now, it has changed, so it is read a second
 * time; and then both are read once more, so soon after a switch that another one would be a
 * marvel.
 */
void ki_gen_clock(struct gen *g, unsigned int dest)
{
	uint32_t same = ki_asm_label(&g->a);
	struct claims c = {0};
	unsigned int off, low;

	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_claim(g, KI_RDX, dest, &c);
	off = ki_gen_alloc(g, REG_BIT(KI_RAX) | REG_BIT(KI_RDX));
	low = read_clock(g, dest, off);
	ki_asm_alu_load(&g->a, ALU_CMP, 8, off, &offset);
	ki_asm_branch(&g->a, CC_E, same);
	read_clock(g, dest, off);
	ki_asm_here(&g->a, same);
	ki_gen_release(g, off);
	ki_gen_move(g, dest, low);
	ki_gen_unclaim(g, &c);
}
