/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ki_hit_0, ki_hit_1, ...: what a breakpoint of a process calls, if it is to (process_spaces.c), with
 * its address and the thread's registers. They do nothing. Sessions splice their chunks there as
 * anywhere in the kernel: of the driver's text this alone is not reserved, and no table of the
 * kernel's has a row for it.
 *
 *	movl $0, %eax; ret		one instruction as long as a springboard: no thread is in its middle
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

#include "text/hits.h"

	.altmacro
	.macro	hit number
	.balign	KI_HIT_BYTES, 0xcc
SYM_START(ki_hit_\number, SYM_L_LOCAL, SYM_A_NONE)
	ENDBR
	movl	$0, %eax
	RET
SYM_FUNC_END(ki_hit_\number)
	.balign	KI_HIT_BYTES, 0xcc
	.endm

	.macro	row number
	.quad	ki_hit_\number
	.endm

	.text
	.set	number, 0
	.rept	KI_HITS
	hit	%number
	.set	number, number + 1
	.endr

/* Also so that they keep their endbr64: the kernel takes it from what no pointer leads to. */
	.section .rodata, "a"
	.balign	8
SYM_ENTRY(ki_hits, SYM_L_GLOBAL, SYM_A_NONE)
	.set	number, 0
	.rept	KI_HITS
	row	%number
	.set	number, number + 1
	.endr
