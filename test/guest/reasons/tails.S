/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

	.text
	.balign	64, 0xcc
SYM_FUNC_START(ki_tails_end)
	leal	1(%rdi), %eax
	RET
SYM_FUNC_END(ki_tails_end)

	.balign	64, 0xcc
SYM_FUNC_START(ki_tails_all)
	.rept	16500
	jne	ki_tails_end
	.endr
	RET
SYM_FUNC_END(ki_tails_all)
