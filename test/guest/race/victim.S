/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The victim, and the one who calls it and notices everything.
 *
 * The victim's first window is three pushes of two bytes: boundaries at +2 and +4, where a task
 * may have been interrupted, and where a jmp rel32 over the window would have its displacement.
 * It is so placed that a page ends behind the first push. That is for QEMU: without KVM it takes
 * an interrupt only between two of its translation blocks, so never between two ordinary
 * instructions; but a block ends where a page ends. So +2 is a place where an interrupt can and
 * will land. (It is also a springboard that lies on two pages.)
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>

#define PAGE	    4096
#define FIRST_PUSH  2

	.text
	.balign	PAGE, 0xcc
	.fill	PAGE - FIRST_PUSH, 1, 0xcc

/*
 * u64 ki_race_victim(u64 a, u64 b) = (a ^ b) + a + b * 2 + (a + b)
 *
 * Each term goes through a pushed register. No ftrace site and no endbr: the pushes are first.
 */
SYM_START(ki_race_victim, SYM_L_GLOBAL, SYM_A_NONE)
	pushq	%r15			/* 41 57 */
	pushq	%r14			/* 41 56, on the next page */
	pushq	%r13			/* 41 55 */
	pushq	%rbp			/* 55 */
	pushq	%rbx			/* 53 */
	movq	%rdi, %r15
	movq	%rsi, %r14
	leaq	(%rdi, %rsi), %r13
	movq	%rdi, %rbp
	xorq	%rsi, %rbp
	leaq	(%r15, %r14, 2), %rbx
	leaq	(%rbp, %rbx), %rax
	addq	%r13, %rax
	popq	%rbx
	popq	%rbp
	popq	%r13
	popq	%r14
	popq	%r15
	RET
SYM_FUNC_END(ki_race_victim)

/*
 * u64 ki_race_round(u64 a, u64 b, u64 expect): call the victim once; how many things are wrong
 * afterwards: its result, and the six registers that a callee must preserve.
 */
SYM_START(ki_race_round, SYM_L_GLOBAL, SYM_A_NONE)
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	pushq	%rdx			/* expect */
	leaq	1(%rdi), %r15
	leaq	2(%rdi), %r14
	leaq	3(%rdi), %r13
	leaq	4(%rdi), %r12
	leaq	5(%rdi), %rbp
	leaq	6(%rdi), %rbx
	pushq	%rdi
	call	ki_race_victim
	popq	%rdi
	popq	%rdx
	movq	%rax, %rsi
	xorl	%eax, %eax

	.macro	must_be reg, base, add
	leaq	\add(\base), %rcx
	cmpq	%rcx, \reg
	je	.Lgood\@
	incq	%rax
.Lgood\@:
	.endm

	must_be	%rsi, %rdx, 0
	must_be	%r15, %rdi, 1
	must_be	%r14, %rdi, 2
	must_be	%r13, %rdi, 3
	must_be	%r12, %rdi, 4
	must_be	%rbp, %rdi, 5
	must_be	%rbx, %rdi, 6
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	RET
SYM_FUNC_END(ki_race_round)
