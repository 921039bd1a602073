/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What long chunks call: each helper keeps all registers but %rax, which C functions do not.
 * Their arguments are where C expects them. RECORD and TABLE keep them themselves (record.c,
 * table.c), so what they call in their turn must keep them, too.
 */
#include <linux/linkage.h>

	.macro ki_keeping name, function, words=0
SYM_FUNC_START(\name)
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	.if \words /* the third argument: where the words are that the caller has pushed */
	leaq	72(%rsp), %rdx
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
	.set ki_words, 0
	.ifc \name, STRING
	.set ki_words, 1
	.endif
	.ifc \name, USTRING
	.set ki_words, 1
	.endif
	.ifnc \name, RECORD
	.ifnc \name, TABLE
	ki_keeping ki_helper_\name, ki_do_\name, ki_words
	.endif
	.endif
	.endm

	ki_keeping ki_ring_wake, ki_do_wake

#define KI_HELPER(tag, args, text) ki_helper tag;
#include "uapi/kerninst_helpers.def"
