/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The victim, and the one who calls it and notices everything.
 *
 * The victim has a place for every kind of springboard, with instruction boundaries wherever one
 * can be. The offsets are what test/guest/race/race.sh names, so they are asserted. No ftrace site and
 * no endbr: it begins with what matters.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/bug.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

	.macro	at offset
	.if	(. - ki_race_victim) - \offset
	.error	"the victim's layout has changed"
	.endif
	.endm

	.text
	.balign	64, 0xcc

/* rax = rdi ^ rsi, and rdi + 2 rsi; nothing else is changed. */
SYM_START(ki_race_xor, SYM_L_LOCAL, SYM_A_NONE)
	movq	%rdi, %rax
	xorq	%rsi, %rax
	RET
SYM_FUNC_END(ki_race_xor)

SYM_START(ki_race_sum, SYM_L_LOCAL, SYM_A_NONE)
	ENDBR
	leaq	(%rdi, %rsi, 2), %rax
	RET
SYM_FUNC_END(ki_race_sum)

	.balign	64, 0xcc

/*
 * u64 ki_race_victim(u64 a, u64 b) = (a ^ b) + (a + b * 2) + (a + b)
 */
SYM_START(ki_race_victim, SYM_L_GLOBAL, SYM_A_NONE)
	at	0			/* five instructions of one byte */
	pushq	%rbp
	pushq	%rbx
	pushq	%rax
	pushq	%rdi
	pushq	%rsi
	at	5			/* two of one byte */
	popq	%rsi
	popq	%rdi
	at	7			/* a host: its tail begins at 12 */
	pushq	%r15
	pushq	%r14
	pushq	%r13
	at	13
	pushq	%r12
	movq	%rdi, %r15
	at	18			/* one of three bytes */
	movq	%rsi, %r14
	leaq	(%rdi, %rsi), %r13
	at	25
	.byte	0xeb, 8			/* jmp 1f: no room for the assembler's choice */
	at	27			/* filler */
	.fill	8, 1, 0xcc
	at	35			/* a conditional branch at 38 */
1:	cmpq	%rsi, %rdi
	.byte	0x75, 2			/* jne 2f */
	xorl	%ecx, %ecx
	at	42			/* a direct call at 44 */
2:	pushq	%rdi
	pushq	%rsi
	call	ki_race_xor
	at	49
	popq	%rsi
	popq	%rdi
	movq	%rax, %rbp
	at	54			/* one of seven bytes */
	leaq	ki_race_sum(%rip), %rax
	at	61			/* an indirect call at 64 */
	pushq	%rdi
	pushq	%rsi
	pushq	%rcx
	ANNOTATE_RETPOLINE_SAFE
	call	*%rax
	at	66
	popq	%rcx
	popq	%rsi
	popq	%rdi
	addq	%rbp, %rax
	addq	%r13, %rax
	at	75			/* a fault at 80, which goes on behind it */
	xorl	%ecx, %ecx
	decq	%rcx
3:	movb	(%rcx), %cl
4:	_ASM_EXTABLE(3b, 4b)
	at	82
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	addq	$8, %rsp
	at	94			/* a return at 96 */
	popq	%rbx
	popq	%rbp
	RET
	.fill	8, 1, 0xcc
SYM_FUNC_END(ki_race_victim)

/*
 * void ki_race_warn(void): a warning that has been given, once and for all: the kernel goes on
 * behind it, each time.
 */
SYM_START(ki_race_warn, SYM_L_GLOBAL, SYM_A_NONE)
5:	ud2
	.pushsection __bug_table, "aw"
6:	.long	5b - .			/* bug_addr_disp */
#ifdef CONFIG_DEBUG_BUGVERBOSE
	.long	7f - .			/* file_disp */
	.word	0			/* line */
#endif
	.word	BUGFLAG_WARNING | BUGFLAG_ONCE | BUGFLAG_DONE
	.balign	4
	.popsection
	.pushsection .rodata
7:	.asciz	"victim.S"
	.popsection
	.pushsection .discard.reachable
	.long	8f - .
	.popsection
8:	nopl	(%rax)
	RET
	.fill	8, 1, 0xcc
SYM_FUNC_END(ki_race_warn)

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
