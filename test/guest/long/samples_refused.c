// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks that reach for threads' words as they must not, with the reason.
 */
#include "assemble.h"

asm(R"(
	.pushsection .rodata.long, "a"
	sample "a word, not tested for null", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	incq 0x11111111(%rcx)
	fix WORD, 0
	done
	sample "a word, tested by another condition", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	jne 9f
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, half of it tested", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %ecx, %ecx
	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, tested with another register", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rax
	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, tested too early", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	nop
	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, where the test failed", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 1f
	jmp 9f
1:	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, by a way past the test", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %eax, %eax
	jne 1f
	test %rcx, %rcx
	je 9f
1:	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, by a way to the middle of the test", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %eax, %eax
	jne 1f
	test %rcx, %rcx
1:	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, where two ways join", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	test %eax, %eax
	je 1f
	mov $0, %ecx
1:	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, by another register", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 0x11111111(%rdx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register written", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	mov $8, %ecx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register written in part", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	mov $8, %ch
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register added to", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	add $8, %rcx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register loaded again", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	mov %gs:0, %rcx
	fix SELF, WORDS
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register popped over", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	push %rax
	pop %rcx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register set", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	sete %cl
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register shifted", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	shl $1, %rcx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register exchanged and added", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	xadd %rcx, %rax
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register extended over", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	movzbl %al, %ecx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register moved to on condition", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	cmove %rax, %rcx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, its register overwritten by lea", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	lea 8(%rax), %rcx
	incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word by the accumulator: the result of a helper", BAD
	mov %gs:0, %rax
	fix SELF, WORDS
	test %rax, %rax
	je 9f
	call .+5
	fix HELPER, NANOTIME
	incq 0x11111111(%rax)
	fix WORD, 0
9:	nop
	done
	sample "a word by the accumulator: the result of rdtsc", BAD
	mov %gs:0, %rax
	fix SELF, WORDS
	test %rax, %rax
	je 9f
	rdtsc
	incq 0x11111111(%rax)
	fix WORD, 0
9:	nop
	done
	sample "a word by the accumulator: the result of mul", BAD
	mov %gs:0, %rax
	fix SELF, WORDS
	test %rax, %rax
	je 9f
	mul %rdx
	incq 0x11111111(%rax)
	fix WORD, 0
9:	nop
	done
	sample "a word by the accumulator: extended", BAD
	mov %gs:0, %rax
	fix SELF, WORDS
	test %rax, %rax
	je 9f
	cltq
	incq 0x11111111(%rax)
	fix WORD, 0
9:	nop
	done
	sample "a word by the accumulator: the flags", BAD
	mov %gs:0, %rax
	fix SELF, WORDS
	test %rax, %rax
	je 9f
	lahf
	incq 0x11111111(%rax)
	fix WORD, 0
9:	nop
	done
	sample "a word by the accumulator: added to shortly", BAD
	mov %gs:0, %rax
	fix SELF, WORDS
	test %rax, %rax
	je 9f
	add $0x1000, %rax
	incq 0x11111111(%rax)
	fix WORD, 0
9:	nop
	done
	sample "a word, the upper half of mul", BAD
	mov %gs:0, %rdx
	fix SELF, WORDS
	test %rdx, %rdx
	je 9f
	mul %rax
	incq 0x11111111(%rdx)
	fix WORD, 0
9:	nop
	done
	sample "a word, behind a function of the kernel", BAD
	mov %gs:0, %rbx
	fix SELF, WORDS
	test %rbx, %rbx
	je 9f
	call .+5
	fix HELPER, ENTER
	test %eax, %eax
	jz 9f
	call .+5
	fix CALLEE, 0
	incq 0x11111111(%rbx)
	fix WORD, 0
	call .+5
	fix HELPER, LEAVE
9:	nop
	done
	sample "somebody's word", NOT_YOURS
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 2
9:	nop
	done
	sample "no such word", NOT_YOURS
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 5000
9:	nop
	done
	sample "a word without a fixup", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 0x11111111(%rcx)
9:	nop
	done
	sample "a word with an index", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 0x11111111(%rcx, %rdx, 8)
	fix WORD, 0
9:	nop
	done
	sample "a word with a short displacement", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 8(%rcx)
	nop
	nop
	nop
	fix WORD, 0
9:	nop
	done
	sample "a word, from its middle on", BAD_FIXUP
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incq 0x11111111(%rcx)
	fix WORD, 0|1<<32
9:	nop
	done
	sample "a byte behind a word", BAD_FIXUP
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	incb 0x11111111(%rcx)
	fix WORD, 0|8<<32
9:	nop
	done
	sample "a word with a tail", BAD_FIXUP
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	addq $1, 0x11111111(%rcx)
	fix WORD, 0, 1, 1
9:	nop
	done
	sample "a word, locked", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	lock incq 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, exchanged", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	xchg %rax, 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "a word, shifted", BAD
	mov %gs:0, %rcx
	fix SELF, WORDS
	test %rcx, %rcx
	je 9f
	shlq $1, 0x11111111(%rcx)
	fix WORD, 0
9:	nop
	done
	sample "where words are, changed", BAD
	mov %rax, %gs:0
	fix SELF, WORDS
	done
	sample "where words are, half of it", BAD
	mov %gs:0, %eax
	fix SELF, WORDS
	done
	sample "where words are, compared", BAD
	cmp %gs:0, %rax
	fix SELF, WORDS
	done
	sample "where words are, with an index", BAD
	mov %gs:0(,%r12,1), %rax
	fix SELF, WORDS
	done
	sample "the clock, changed", BAD
	sub %rax, %gs:0
	fix SELF, CLOCK
	done
	sample "the clock, half of it", BAD
	sub %gs:0, %eax
	fix SELF, CLOCK
	done
	sample "the clock, added", BAD
	add %gs:0, %rax
	fix SELF, CLOCK
	done
	sample "a trace, changed", BAD
	addq $0, %gs:0
	fix SELF, TRACE, 1
	done
	sample "a trace, overwritten", BAD
	movq $0, %gs:0
	fix SELF, TRACE, 4
	done
	sample "a trace, loaded", BAD
	mov %gs:0, %rax
	fix SELF, TRACE
	done
	sample "half a trace", BAD
	cmpl $0, %gs:0
	fix SELF, TRACE, 1
	done
	sample "a trace, with a fixup relative to the end", BAD_FIXUP
	cmpq $0, %gs:0
	fix SELF, TRACE, 1, 1
	done
	sample "a task, compared", BAD
	cmpq $0, %gs:0
	fix SELF, TASK, 1
	done
	sample "half a field", BAD
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %eax
	fix FIELD, NVCSW
	done

	.popsection
)");
