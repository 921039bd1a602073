/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What long chunks call: each helper keeps all registers but %rax, which C functions do not.
 * Their arguments are where C expects them. RECORD keeps them itself (record.c), so what it calls
 * in its turn must keep them, too.
 */
#include <linux/linkage.h>

	.macro ki_keeping name, function, first
SYM_FUNC_START(\name)
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	.ifnb	\first
	movl	\first, %edi
	.endif
	call	\function
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	RET
SYM_FUNC_END(\name)
	.endm

	.macro ki_helper name
	.ifc \name, ENTER_RECORD
	ki_keeping ki_helper_\name, ki_do_\name, %eax
	.else
	.ifnc \name, RECORD
	ki_keeping ki_helper_\name, ki_do_\name
	.endif
	.endif
	.endm

	ki_keeping ki_ring_wake, ki_do_wake

#define KI_HELPER(tag, args, text) ki_helper tag;
#include "uapi/kerninst_helpers.def"
