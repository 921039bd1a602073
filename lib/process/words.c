/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Words of the thread. Code in a process knows its thread by its FS base, where its own memory is:
 * rdfsbase touches none of it, so it may be asked before there is any, and of programs that have
 * never heard of a C library.
 *
 * A thread's row is where its base is hashed to, or a little behind. One that has none takes a free
 * one by an exchange: if a signal comes in between, its handler may have done so, with the same
 * result. Rows are never given back: who has looked for his must find it there.
 *
 * The gate is a mask of that base, so while it is closed a thread is one that has no memory.
 */
#include <stdint.h>
#include <string.h>

#include "process/linked.h"
#include "target/process.h"

#define STRING(x) #x
#define VALUE(x)  STRING(x)

/* What is written over: the rows, the bytes of one and their log2, the counter. */
#define ROWS 0x1122334455667788
#define ROW  0x12345678
#define LOST 0x1122334455667799
#define GATE 0x12345679

extern const uint8_t ki_words_begin[] __attribute__((visibility("hidden")));
extern const uint8_t ki_words_gate[] __attribute__((visibility("hidden")));
extern const uint8_t ki_words_rows[] __attribute__((visibility("hidden")));
extern const uint8_t ki_words_shift[] __attribute__((visibility("hidden")));
extern const uint8_t ki_words_row[] __attribute__((visibility("hidden")));
extern const uint8_t ki_words_lost[] __attribute__((visibility("hidden")));
extern const uint8_t ki_words_end[] __attribute__((visibility("hidden")));

_Static_assert(KI_PROCESS_HASH == 12 && KI_PROCESS_TRIES == 64, "as below");

/* clang-format off */
__asm__(".pushsection .rodata\n"
	".globl ki_words_begin, ki_words_rows, ki_words_shift, ki_words_row, ki_words_lost\n"
	".globl ki_words_gate, ki_words_end\n"
	".hidden ki_words_begin, ki_words_rows, ki_words_shift, ki_words_row, ki_words_lost\n"
	".hidden ki_words_gate, ki_words_end\n"
	"ki_words_begin:\n"
	"	rdfsbase %rax\n"
	"	and " VALUE(GATE) "(%rip), %rax\n"
	"ki_words_gate:\n"
	"	je 5f\n"
	"	push %rcx\n"
	"	push %rdx\n"
	"	mov %rax, %rcx\n"
	"	shr $6, %rcx\n"
	"	imul $0x9e3779b1, %ecx, %ecx\n"
	"	shr $20, %ecx\n"		/* 32 - KI_PROCESS_HASH */
	"	shl $6, %ecx\n"
	"ki_words_shift:\n"
	"	movabs $" VALUE(ROWS) ", %rdx\n"
	"ki_words_rows:\n"
	"	add %rdx, %rcx\n"
	"	cmp %rax, (%rcx)\n"
	"	jne 1f\n"
	"0:	lea 8(%rcx), %rax\n"
	"	pop %rdx\n"
	"	pop %rcx\n"
	"5:	ret\n"
	"1:	push %rsi\n"
	"	mov $64, %esi\n"		/* KI_PROCESS_TRIES */
	"2:	cmpq $0, (%rcx)\n"
	"	jne 3f\n"
	"	mov %rax, %rdx\n"
	"	xor %eax, %eax\n"
	"	lock cmpxchg %rdx, (%rcx)\n"
	"	mov %rdx, %rax\n"
	"3:	cmp %rax, (%rcx)\n"
	"	je 4f\n"
	"	add $" VALUE(ROW) ", %rcx\n"
	"ki_words_row:\n"
	"	dec %esi\n"
	"	jne 2b\n"
	"	movabs $" VALUE(LOST) ", %rcx\n"
	"ki_words_lost:\n"
	"	lock incq (%rcx)\n"
	"	pop %rsi\n"
	"	pop %rdx\n"
	"	pop %rcx\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"4:	pop %rsi\n"
	"	jmp 0b\n"
	"ki_words_end:\n"
	".popsection\n");
/* clang-format on */

/* The immediate that ends before a label. */
static void set(uint8_t *to, const uint8_t *label, const void *value, size_t size)
{
	memcpy(to + (label - ki_words_begin) - size, value, size);
}

size_t ki_words_routine(uint8_t *to, const struct ki_words_at *at)
{
	const size_t len = (size_t)(ki_words_end - ki_words_begin);
	const uint8_t shift = (uint8_t)ki_process_row_shift(at->words);
	const uint32_t row = 1u << shift;
	const int32_t gate =
		(int32_t)(at->gate - at->code - (uint64_t)(ki_words_gate - ki_words_begin));

	if (!to)
		return len;
	memcpy(to, ki_words_begin, len);
	set(to, ki_words_gate, &gate, sizeof(gate));
	set(to, ki_words_shift, &shift, 1);
	set(to, ki_words_rows, &at->rows, sizeof(at->rows));
	set(to, ki_words_row, &row, sizeof(row));
	set(to, ki_words_lost, &at->lost, sizeof(at->lost));
	return len;
}
