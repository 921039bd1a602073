// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chunks of this test: `count` in getppid, `op` in sched_get_priority_max, which nobody else
 * calls; what it does is said by the system call's argument.
 */
#include "long/assemble.h"

asm(R"(
	.pushsection .rodata.long, "a"

	sample count, OK
	push %rcx
	incq %gs:0
	fix PERCPU, 0
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 1f
	incq 0x11111111(%rcx)
	fix WORD, 0
1:	pop %rcx
	done

	sample op, OK
	push %rax
	push %rcx
	push %rdx
	push %rdi
	add $112, %rdi
	call .+5
	fix HELPER, LOAD64
	mov %gs:0, %rcx
	fix SELF, WORDS
	mov %rcx, 0(%rip)
	fix GLOBAL, 0
	test %rcx, %rcx
	je 9f
	cmp $1, %eax
	je 1f
	cmp $2, %eax
	je 2f
	cmp $3, %eax
	jne 9f
	movq $0, 0x11111111(%rcx)
	fix WORD, 1, 4
	movq $0, 0x11111111(%rcx)
	fix WORD, 2, 4
	jmp 9f
1:	mov 0x11111111(%rcx), %rax
	fix WORD, 0
	mov %rax, 0(%rip)
	fix GLOBAL, 1
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	sub %gs:0, %rax
	fix SELF, CLOCK
	mov %rax, 0(%rip)
	fix GLOBAL, 2
	jmp 9f
2:	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	mov %rax, 0x11111111(%rcx)
	fix WORD, 1
	sub %gs:0, %rax
	fix SELF, CLOCK
	mov %rax, 0x11111111(%rcx)
	fix WORD, 2
9:	pop %rdi
	pop %rdx
	pop %rcx
	pop %rax
	done

	.popsection
)");
