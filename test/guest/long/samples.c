// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long chunks written by hand: what may run, and what may not with the reason.
 */
#include "assemble.h"

asm(R"(
	.pushsection .rodata.long, "a"
	sample counts, OK
	push %rbx
	mov $1, %ebx
	test %ebx, %ebx
	jz 1f
	add %rbx, %gs:0
	fix PERCPU, 0
1:	pop %rbx
	done

	sample trace, OK
	push %rax
	lahf
	seto %al
	cmpq $0, %gs:0
	fix SELF, TRACE, 1
	je 1f
	push %rax
	mov $0x81000000, %eax
	call .+5
	fix HELPER, KCOV
	pop %rax
1:	add $127, %al
	sahf
	pop %rax
	done

	sample "no signal", OK
	push %rax
	lahf
	seto %al
	push %rax
	push %rsi
	push %rdi
	mov $SIGNALS+1, %esi
	mov $0, %edi
	call .+5
	fix HELPER, SIGNAL
	pop %rdi
	pop %rsi
	pop %rax
	add $127, %al
	sahf
	pop %rax
	done

	sample comparison, OK
	push %rax
	lahf
	seto %al
	cmpq $0, %gs:0
	fix SELF, COMPARISONS, 1
	je 1f
	push %rax
	push %rsi
	push %rdi
	push %rax
	call .+5
	fix HELPER, KCOV_COMPARISON
	pop %rax
	pop %rax
	pop %rax
	pop %rax
1:	add $127, %al
	sahf
	pop %rax
	done

	sample "comparison with words of others", BAD
	push %rdi
	push %rax
	call .+5
	fix HELPER, KCOV_COMPARISON
	pop %rax
	pop %rax
	done

	sample self, OK
	push %rax
	push %rbx
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %ebx
	fix FIELD, PID
	add %rbx, %gs:0
	fix PERCPU, 0
	mov %gs:0, %rbx
	fix SELF, TASK
	mov 0x11111111(%rbx), %eax
	fix FIELD, TGID
	add %rax, %gs:0
	fix PERCPU, 1
	mov %gs:0, %rbx
	fix SELF, TASK
	mov 0x11111111(%rbx), %rax
	fix FIELD, COMM
	shl $32, %rax
	shr $32, %rax
	add %rax, %gs:0
	fix PERCPU, 2
	mov %gs:0, %rbx
	fix SELF, TASK
	mov 0x11111111(%rbx), %rax
	fix FIELD, COMM|1<<35
	mov %gs:0, %eax
	fix SELF, CPU
	add %rax, %gs:0
	fix PERCPU, 4
	pop %rbx
	pop %rax
	done

	sample clocks, OK
	push %rax
	push %rdi
	call .+5
	fix HELPER, NANOTIME
	add %rax, %gs:0
	fix PERCPU, 0
	mov $0x10, %edi
	call .+5
	fix HELPER, LOAD64
	add %rax, %gs:0
	fix PERCPU, 1
	mov %gs:0, %rdi
	fix SELF, TASK
	call .+5
	fix HELPER, LOAD64
	or $1, %rax
	add %rax, %gs:0
	fix PERCPU, 2
	pop %rdi
	pop %rax
	done

	sample called, OK
	push %rax
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	call .+5
	fix HELPER, ENTER
	test %eax, %eax
	jz 1f
	call .+5
	fix CALLEE, 0
	add %rax, %gs:0
	fix PERCPU, 0
	incq %gs:0
	fix PERCPU, 1
	call .+5
	fix HELPER, LEAVE
1:	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rax
	done

	sample indexed, OK
	push %rax
	mov $2, %eax
	cmp $2, %rax
	ja 1f
	incq %gs:0(,%rax,8)
	fix PERCPU, 1
1:	mov $3, %eax
	cmp $2, %rax
	ja 1f
	incq %gs:0(,%rax,8)
	fix PERCPU, 1
1:	pop %rax
	done

	sample shared, OK
	push %rax
	mov $1, %eax
	lock xadd %rax, 0(%rip)
	fix GLOBAL, 1
	add %rax, %gs:0
	fix PERCPU, 0
	lock addq $3, 0(%rip)
	fix GLOBAL, 0, 1, 1
	pop %rax
	done

	sample "push without pop", BAD
	push %rax
	done
	sample "pop without push", BAD
	pop %rax
	done
	sample "pop into the frame pointer", BAD
	push %rbp
	pop %rbp
	done
	sample "the stack pointer", BAD
	add $8, %rsp
	done
	sample "the stack pointer, by lea", BAD
	lea 8(%rsp), %rsp
	done
	sample "backward", BAD
1:	nop
	jmp 1b
	done
	sample "into an instruction", BAD
	jmp 1f+1
1:	mov $1, %eax
	done
	sample "out of the chunk", BAD
	jmp .+64
	done
	sample "two depths", BAD
	test %eax, %eax
	jz 1f
	push %rax
1:	nop
	done
	sample "unreachable", BAD
	jmp 1f
	nop
1:	nop
	done
	sample "an absolute address", BAD
	mov 0x1000, %eax
	done
	sample "through a register", BAD
	mov (%rax), %rax
	done
	sample "a store through a register", BAD
	mov %rax, 8(%rdi)
	done
	sample "the caller's stack", BAD
	push %rax
	mov 8(%rsp), %rax
	pop %rax
	done
	sample "below the stack", BAD
	push %rax
	mov %rax, -8(%rsp)
	pop %rax
	done
	sample "per-CPU data without a fixup", BAD_FIXUP
	incq %gs:0
	done
	sample "somebody's counter", NOT_YOURS
	incq %gs:0
	fix PERCPU, 16
	done
	sample "a fixup of another place", BAD_FIXUP
	mov $0, %eax
	fix ABS32, 0
	done
	sample "an index that is not bounded", BAD
	incq %gs:0(,%rax,8)
	fix PERCPU, 0
	done
	sample "an index bounded too far", NOT_YOURS
	cmp $16, %rax
	ja 1f
	incq %gs:0(,%rax,8)
	fix PERCPU, 0
1:	nop
	done
	sample "another index", BAD
	cmp $2, %rax
	ja 1f
	incq %gs:0(,%rcx,8)
	fix PERCPU, 0
1:	nop
	done
	sample "an index of 32 bits", BAD
	cmp $2, %eax
	ja 1f
	incq %gs:0(,%rax,8)
	fix PERCPU, 0
1:	nop
	done
	sample "another condition", BAD
	cmp $2, %rax
	jg 1f
	incq %gs:0(,%rax,8)
	fix PERCPU, 0
1:	nop
	done
	sample "an index changed behind the comparison", BAD
	cmp $2, %rax
	ja 1f
	mov $100, %eax
	incq %gs:0(,%rax,8)
	fix PERCPU, 0
1:	nop
	done
	sample "a way past the comparison", BAD
	test %eax, %eax
	jz 2f
	cmp $2, %rax
	ja 1f
2:	incq %gs:0(,%rax,8)
	fix PERCPU, 0
1:	nop
	done
	sample "a field of something else", BAD
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rcx), %eax
	fix FIELD, PID
	done
	sample "a store to a field", BAD
	mov %gs:0, %rax
	fix SELF, TASK
	mov %ecx, 0x11111111(%rax)
	fix FIELD, PID
	done
	sample "a store to the current task", BAD
	mov %rax, %gs:0
	fix SELF, TASK
	done
	sample "a field far away", BAD_FIXUP
	mov %gs:0, %rax
	fix SELF, TASK
	mov 0x11111111(%rax), %rax
	fix FIELD, COMM|1<<40
	done
	sample "a signal without its number", BAD
	call .+5
	fix HELPER, SIGNAL
	done
	sample "a signal beyond the last", BAD
	mov $SIGNALS+1, %edi
	call .+5
	fix HELPER, SIGNAL
	done
	sample "a negative one", BAD
	mov $-1, %edi
	call .+5
	fix HELPER, SIGNAL
	done
	sample "one in another register", BAD
	mov $9, %esi
	call .+5
	fix HELPER, SIGNAL
	done
	sample "one that was put there before", BAD
	mov $9, %edi
	nop
	call .+5
	fix HELPER, SIGNAL
	done
	sample "one that ways lead around", BAD
	test %edi, %edi
	jz 1f
	mov $9, %edi
1:	call .+5
	fix HELPER, SIGNAL
	done
	sample "no such helper", BAD_FIXUP
	call .+5
	fix HELPER, HELPERS
	done
	sample "a call without ENTER", BAD
	call .+5
	fix CALLEE, 0
	done
	sample "a call of no function", NO_FUNCTION
	call .+5
	fix HELPER, ENTER
	test %eax, %eax
	jz 1f
	call .+5
	fix CALLEE, 3
	call .+5
	fix HELPER, LEAVE
1:	nop
	done
	sample "ENTER_RECORD without its number", BAD
	call .+5
	fix HELPER, ENTER_RECORD
	test %eax, %eax
	jz 1f
	call .+5
	fix HELPER, LEAVE
1:	nop
	done
	sample "ENTER_RECORD of somebody's ring", NOT_YOURS
	mov $0x7f000001, %eax
	call .+5
	fix HELPER, ENTER_RECORD
	test %eax, %eax
	jz 1f
	call .+5
	fix HELPER, LEAVE
1:	nop
	done
	sample "ENTER not asked", BAD
	call .+5
	fix HELPER, ENTER
	nop
	test %eax, %eax
	jz 1f
	call .+5
	fix HELPER, LEAVE
1:	nop
	done
	sample "no LEAVE", BAD
	call .+5
	fix HELPER, ENTER
	test %eax, %eax
	jz 1f
	nop
1:	nop
	done
	sample "LEAVE alone", BAD
	call .+5
	fix HELPER, LEAVE
	done
	sample "somebody's global variable", NOT_YOURS
	mov 0(%rip), %rax
	fix GLOBAL, 4
	done
	sample "a global's fixup in front of its constant", BAD_FIXUP
	addq $3, 0(%rip)
	fix GLOBAL, 0, 1
	done
	sample "a lock on a register", BAD
	.byte 0xf0
	add %rax, %rax
	done
	sample "division", BAD
	div %rcx
	done
	sample "ret", BAD
	ret
	done
	sample "cli", BAD
	cli
	done
	sample "popf", BAD
	push %rax
	popf
	done
	sample "int3", BAD
	int3
	done
	sample "string store", BAD
	stosb
	done
	sample "rep prefix", BAD
	rep nop
	done
	sample "fs segment", BAD
	mov %fs:0, %rax
	done
	sample "address size", BAD
	addr32 mov %rax, 0(%eax)
	done
	sample "a vector register", BAD
	movaps %xmm0, %xmm1
	done
	sample "cut off", BAD
	.byte 0x48, 0xb8, 1, 2
	done
	sample "rdmsr", BAD
	rdmsr
	done

	.popsection
)");
