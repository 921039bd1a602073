// SPDX-License-Identifier: GPL-2.0-only
/*
 * sequence: has a restartable sequence, which the section __rseq_cs describes as the kernel wants
 * it, between instructions that are none. It works a round for each line of its input.
 */
#include <stdint.h>
#include <stdio.h>

static unsigned long before, inside, behind;

static __attribute__((noinline)) void work(void)
{
	__asm__ volatile("	incq %[before]\n"
			 "991:	incq %[inside]\n"
			 "	incq %[inside]\n"
			 "992:	incq %[behind]\n"
			 "	jmp 993f\n"
			 "	.long 0x53053053\n"
			 "994:	jmp 991b\n"
			 "993:	nop\n"
			 "	.pushsection __rseq_cs, \"aw\"\n"
			 "	.balign 32\n"
			 "	.long 0, 0\n"
			 "	.quad 991b, 992b - 991b, 994b\n"
			 "	.popsection\n"
			 : [before] "+m"(before), [inside] "+m"(inside), [behind] "+m"(behind));
}

int main(void)
{
	char line[16];

	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 100; i++)
			work();
		printf("%lu %lu %lu\n", before, inside, behind);
		fflush(stdout);
	}
	return 0;
}
