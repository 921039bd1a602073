// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks that use threads' words, their clock, and what the kernel keeps of a task.
 */
#include "assemble.h"

asm(R"(
	.pushsection .rodata.long, "a"

	sample words, OK
	push %rax
	push %r12
	mov %gs:0, %r12
	fix SELF, WORDS
	test %r12, %r12
	je 1f
	incq 0x11111111(%r12)
	fix WORD, 0
	addl $0x100, 0x11111111(%r12)
	fix WORD, 1, 4
	incb 0x11111111(%r12)
	fix WORD, 1|7<<32
	movzbl 0x11111111(%r12), %eax
	fix WORD, 1|7<<32
	add %rax, %gs:0
	fix PERCPU, 1
	mov 0x11111111(%r12), %rax
	fix WORD, 0
	add %rax, %gs:0
	fix PERCPU, 0
	mov 0x11111111(%r12), %ax
	fix WORD, 1
	cmpw $0x1234, 0x11111111(%r12)
	fix WORD, 1, 2
	testb $1, 0x11111111(%r12)
	fix WORD, 1, 1
	sub %rax, %gs:0
	fix PERCPU, 0
	add %rax, %gs:0
	fix PERCPU, 0
1:	pop %r12
	pop %rax
	done

	sample "words on two ways", OK
	push %rax
	push %rcx
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 3f
	mov 0x11111111(%rcx), %rax
	fix WORD, 0
	test %eax, %eax
	jne 1f
	movq $10, 0x11111111(%rcx)
	fix WORD, 0, 4
	jmp 2f
1:	subq $1, 0x11111111(%rcx)
	fix WORD, 0, 1
2:	call .+5
	fix HELPER, NANOTIME
	mov 0x11111111(%rcx), %rax
	fix WORD, 0
	add %rax, %gs:0
	fix PERCPU, 0
3:	pop %rcx
	pop %rax
	done

	sample clock, OK
	push %rax
	push %rdx
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	sub %gs:0, %rax
	fix SELF, CLOCK
	mov %rax, 0(%rip)
	fix GLOBAL, 0
	mov %gs:0, %rdx
	fix SELF, CLOCK
	cmp %gs:0, %rdx
	fix SELF, CLOCK
	jne 1f
	incq %gs:0
	fix PERCPU, 0
1:	pop %rdx
	pop %rax
	done

	sample fields, OK
	push %rax
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %rax
	fix FIELD, MINFLT
	mov %rax, 0(%rip)
	fix GLOBAL, 0
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %rax
	fix FIELD, MAJFLT
	mov %rax, 0(%rip)
	fix GLOBAL, 1
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %rax
	fix FIELD, NVCSW
	mov %rax, 0(%rip)
	fix GLOBAL, 2
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %rax
	fix FIELD, NIVCSW
	mov %rax, 0(%rip)
	fix GLOBAL, 3
	pop %rax
	done

	sample groups, OK
	push %rax
	call .+5
	fix HELPER, UID
	mov %rax, 0(%rip)
	fix GLOBAL, 0
	call .+5
	fix HELPER, CGROUP
	mov %rax, 0(%rip)
	fix GLOBAL, 1
	pop %rax
	done
	.popsection
)");
