/* SPDX-License-Identifier: GPL-2.0-only */
/* A loop in a loop, all kinds of ends, and code that only a cold part would lead to. */
	.text
	.globl	small, callee, never
	.type	small, @function
small:
	push	%rbx
	xor	%ebx, %ebx
	test	%rdi, %rdi
	je	6f
1:	mov	%rdi, %rcx
2:	dec	%rcx
	jne	2b
	call	callee
	dec	%rdi
	jne	1b
	cmp	$3, %rbx
	ja	4f
	je	5f
	pop	%rbx
	ret
4:	pop	%rbx
	jmp	callee
5:	call	never
	int3
7:	pop	%rbx
	ret
6:	ud2
	.size	small, . - small
	.p2align 4, 0xcc
	.type	callee, @function
callee:
	ret
	.size	callee, . - callee
	.p2align 4, 0xcc
	.type	never, @function
never:
	call	callee
	ud2
	.size	never, . - never
	.p2align 4, 0xcc
	.type	small.cold, @function
small.cold:
	nop
	jmp	7b
	.size	small.cold, . - small.cold
