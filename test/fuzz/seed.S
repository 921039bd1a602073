/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the first files of corpus/image were made from (test/fuzz/seeds.sh): code with each
 * table that a kernel's file has, calls to what is not there, and data.
 */
	.text
	.globl	_stext, _etext, one, two
	.type	one, @function
	.type	two, @function
_stext:
one:
	endbr64
	call	__fentry__
	push	%rbp
1:	mov	(%rdi), %eax
2:	nopl	0(%rax,%rax)
	test	%eax, %eax
	je	5f
3:	call	two
	lea	table(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
4:	ud2
5:	pop	%rbp
	jmp	__x86_return_thunk
two:
	mov	$symbol, %rdi
	movabs	$symbol, %rsi
	call	_printk
	xchg	%ax, %ax
	ret
	int3
_etext:

	.section .init.text, "ax"
	.globl	start
	.type	start, @function
start:
	call	two
	jmp	one + 4

	.section .noinstr.text, "ax"
	.type	quiet, @function
quiet:	ret

	.section .rodata, "a"
	.balign 8
table:	.long	4b - table, 5b - table
symbol:	.quad	one, two, table

	.section __ex_table, "a"
	.globl	__start___ex_table, __stop___ex_table
__start___ex_table:
	.long	1b - ., 5b - ., 0
__stop___ex_table:

	.section __bug_table, "aw"
	.long	4b - ., 0, 7

	.section __jump_table, "aw"
	.balign 8
	.long	2b - ., 5b - .
	.quad	symbol - .

	.section .static_call_sites, "aw"
	.long	3b - ., symbol - .

	.section _kprobe_blacklist, "aw"
	.balign 8
	.quad	two

	.bss
	.zero	64
	.section .note.GNU-stack, "", @progbits
