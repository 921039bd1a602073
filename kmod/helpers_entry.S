/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What long chunks call: each helper keeps all registers but %rax, which C functions do not.
 * Their arguments are where C expects them; RECORD gets the address of the chunk's words, too.
 */
#include <linux/linkage.h>

	.macro ki_helper name
SYM_FUNC_START(ki_helper_\name)
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	.ifc \name, RECORD
	leaq	72(%rsp), %rdx
	.endif
	call	ki_do_\name
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	RET
SYM_FUNC_END(ki_helper_\name)
	.endm

#define KI_HELPER(tag, args, text) ki_helper tag;
#include "uapi/kerninst_helpers.def"
