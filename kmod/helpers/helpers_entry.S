/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What long chunks call: each helper keeps all registers but %rax (MINMAX that, too), which C
 * functions do not.
 * Their arguments are where C expects them. RECORD and TABLE keep them themselves (record.c,
 * table.c), so what they call in their turn must keep them, too.
 */
#include <linux/linkage.h>

/* Entries, as rows of kerninst_helpers.def name them. */
#define KI_PLAIN  0
#define KI_WORDS  1 /* the third argument: where the words are that the caller has pushed */
#define KI_HIT	  2 /* the first argument is in %eax */
#define KI_ITSELF 3 /* keeps them itself */
#define KI_BLOCK  4 /* the first argument is in %eax, and what is called keeps all */
#define KI_VOID	  5 /* no result: %rax is kept, too */

	.macro ki_keeping name, function, kind=KI_PLAIN
SYM_START(\name, SYM_L_GLOBAL, SYM_A_ALIGN)
	ENDBR
	.if \kind == KI_VOID
	pushq	%rax
	.endif
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	.if \kind == KI_WORDS
	leaq	72(%rsp), %rdx
	.endif
	.if \kind == KI_HIT
	movl	%eax, %edi
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
	.if \kind == KI_VOID
	popq	%rax
	.endif
	RET
SYM_FUNC_END(\name)
	.endm

	.macro ki_block name, function
SYM_START(\name, SYM_L_GLOBAL, SYM_A_ALIGN)
	ENDBR
	pushq	%rdi
	movslq	%eax, %rdi
	call	\function
	popq	%rdi
	RET
SYM_FUNC_END(\name)
	.endm

	.macro ki_helper name, kind
	.if \kind == KI_BLOCK
	ki_block ki_helper_\name, ki_do_\name
	.elseif \kind != KI_ITSELF
	ki_keeping ki_helper_\name, ki_do_\name, \kind
	.endif
	.endm

	ki_keeping ki_ring_wake, ki_do_wake

#define KI_HELPER(tag, args, entry, vet, cost, text) ki_helper tag, KI_##entry;
#include "uapi/kerninst_helpers.def"
