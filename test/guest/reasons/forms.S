/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A function for each form that is refused, whose name says which. What is refused is the first
 * instruction, where nothing else is said.
 */
#include <asm/alternative.h>
#include <asm/asm.h>

	.macro	form name
	.balign	32, 0xcc
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro	end name
	leal	1(%rdi), %eax
	ret
	.size	\name, . - \name
	.endm

	.text

/* Three windows of two instructions, and filler behind: offsets are what asks.c says. */
	.macro	plain name
	form	\name
	movq	%rdi, %rax		/* +0 */
	addq	$5, %rax		/* +3 */
	imulq	$3, %rax, %rax		/* +7 */
	addq	%rsi, %rax		/* +11 */
	xorq	$7, %rax		/* +14 */
	subq	%rsi, %rax		/* +18 */
	ret				/* +21 */
	.size	\name, . - \name
	.endm
	plain	ki_r_plain
	plain	ki_r_other

	form	ki_r_sti
	sti
	end	ki_r_sti

	form	ki_r_loop
	.byte	0xf2, 0xe2, 0		/* repne loop */
	end	ki_r_loop

	form	ki_r_hlt
	hlt
	end	ki_r_hlt

	form	ki_r_undecodable
	.byte	0x66, 0xe9, 0, 0, 0, 0	/* Intel and AMD do not agree how long it is */
	end	ki_r_undecodable

	form	ki_r_stack_call
	call	*(%rsp)
	end	ki_r_stack_call

	form	ki_r_far
	.byte	0x67, 0x48, 0x8b, 0x05, 0, 0, 0, 0	/* movq 0(%eip), %rax */
	end	ki_r_far

	form	ki_r_ud1
	.byte	0x0f, 0xb9, 0xc0
	end	ki_r_ud1

	form	ki_r_endbr
	.byte	0xf3, 0x0f, 0x1e, 0xfa
	end	ki_r_endbr

	form	ki_r_int3
	int3
	end	ki_r_int3

	form	ki_r_gs
	movl	%eax, %gs
	end	ki_r_gs

	form	ki_r_lock
	LOCK_PREFIX
	incl	(%rdi)
	end	ki_r_lock

	/* the springboard would cover what may fault, at +3 */
	form	ki_r_fault
	movq	%rdi, %rax
1:	movq	(%rax), %rax
2:	_ASM_EXTABLE(1b, 2b)
	end	ki_r_fault

	/* at +1 */
	form	ki_r_std
	std
	movsb
	cld
	end	ki_r_std

	/* something jumps to +8, in the middle of the window at +5 */
	form	ki_r_entered
	testq	%rdi, %rdi
	je	1f
	movq	%rdi, %rax
1:	addq	$1, %rax
	end	ki_r_entered

	form	ki_r_repeated
	subl	$1, %edi
	jne	ki_r_repeated
	end	ki_r_repeated

	/* what is behind the call is jumped to */
	form	ki_r_again
	testq	%rdi, %rdi
	je	1f
	call	ki_r_plain
1:	end	ki_r_again

	/* no bound, no table: nobody knows where to */
	form	ki_r_goto
	leaq	1f(%rip), %rax
	leaq	(%rax, %rdi, 4), %rax
	jmp	*%rax
1:	addl	$1, %edi
	addl	$1, %edi
	end	ki_r_goto

	/* a jump through a table, whose length is seen */
	form	ki_r_table
	cmpl	$2, %edi
	ja	3f
	movl	%edi, %eax
	jmp	*4f(, %rax, 8)
1:	addl	$1, %edi
2:	addl	$1, %edi
3:	nop
	end	ki_r_table
	.pushsection .rodata
	.align	8
4:	.quad	1b, 2b, 3b
	.popsection

	form	ki_r_nothing
	.fill	8, 1, 0xcc
	.size	ki_r_nothing, . - ki_r_nothing

	form	ki_r_forever
	leal	1(%rdi), %eax
1:	pause
	jmp	1b
	.size	ki_r_forever, . - ki_r_forever

	/* KI_FUNCTION_MAX of the driver */
	form	ki_r_large
	.fill	0x40000, 1, 0x90
	end	ki_r_large

	form	ki_r_last
	end	ki_r_last
