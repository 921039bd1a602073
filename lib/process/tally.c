/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counters of each thread. A locked addition costs what ten others do, so a thread adds to a block
 * of counters that is its own, without a lock; to read a counter is to add up the blocks.
 *
 * A thread is known by the word at its FS base, which by the ABI is that address: code of the C
 * library's threads may read it at any time. (rdfsbase would do without, and costs as much as the
 * lock.) Bits of it say which row may be the thread's, and the row whether it is, and where its
 * block is. Who has none adds to the first block, which all share, with a lock, and takes row and
 * block if there are any left. They are never given back: the next thread at that address has them.
 *
 * The rows are the process's own memory and wiped in a child, so what it forks adds to blocks of
 * its own: the blocks are shared with it. A child of vfork has its parent's, which sleeps. A row is
 * taken in two steps, since a signal's handler may come in between, and even fork: 0 becomes TAKEN,
 * then, if it still is, the thread's.
 */
#include <stdint.h>
#include <string.h>

#include "process/linked.h"
#include "process/tally.h"

#define STRING(x) #x
#define VALUE(x)  STRING(x)

/* What is written over. */
#define ROWS	0x1122334455667788
#define USED	0x1122334455667799
#define STRIDE	0x12345678
#define BLOCKS	0x12345679
#define FIRST	0x1234567a
#define COUNTER 0x1234567b

extern const uint8_t ki_tally_add[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_rows[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_slow[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_counter[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_end[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_take[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_take_rows[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_used[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_blocks[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_most[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_stride[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_first[] __attribute__((visibility("hidden")));
extern const uint8_t ki_tally_take_end[] __attribute__((visibility("hidden")));

_Static_assert(KI_TALLY_ROWS == 1024 && sizeof(struct ki_tally_row) == 16, "as below");

/*
 * ki_tally_add: %rcx, %rdx and the flags are lost. ki_tally_take: %rcx is the counter's address; it
 * and the flags are lost.
 */
/* clang-format off */
__asm__(".pushsection .rodata\n"
	".globl ki_tally_add, ki_tally_rows, ki_tally_slow, ki_tally_counter, ki_tally_end\n"
	".hidden ki_tally_add, ki_tally_rows, ki_tally_slow, ki_tally_counter, ki_tally_end\n"
	".globl ki_tally_take, ki_tally_take_rows, ki_tally_used, ki_tally_blocks, ki_tally_most\n"
	".hidden ki_tally_take, ki_tally_take_rows, ki_tally_used, ki_tally_blocks, ki_tally_most\n"
	".globl ki_tally_stride, ki_tally_first, ki_tally_take_end\n"
	".hidden ki_tally_stride, ki_tally_first, ki_tally_take_end\n"
	"ki_tally_add:\n"
	"	mov %fs:0, %ecx\n"
	"	shr $8, %ecx\n"			/* of pages, 16 bytes each */
	"	and $0x3ff0, %ecx\n"		/* KI_TALLY_ROWS */
	"	movabs $" VALUE(ROWS) ", %rdx\n"
	"ki_tally_rows:\n"
	"	add %rdx, %rcx\n"
	"	mov (%rcx), %rdx\n"
	"	cmp %fs:0, %rdx\n"
	"	.byte 0x0f, 0x85\n"		/* jne */
	"	.long 0\n"
	"ki_tally_slow:\n"
	"	mov 8(%rcx), %rcx\n"
	"	lea " VALUE(COUNTER) "(%rip), %rdx\n"
	"ki_tally_counter:\n"
	"	incq (%rdx,%rcx)\n"
	"ki_tally_end:\n"
	"ki_tally_take:\n"
	"	lock incq (%rcx)\n"
	"	push %rdx\n"
	"	push %rax\n"
	"	push %rsi\n"
	"	mov %fs:0, %ecx\n"
	"	shr $8, %ecx\n"
	"	and $0x3ff0, %ecx\n"
	"	movabs $" VALUE(ROWS) ", %rdx\n"
	"ki_tally_take_rows:\n"
	"	add %rdx, %rcx\n"
	"	cmpq $0, (%rcx)\n"
	"	jne 1f\n"
	"	movabs $" VALUE(USED) ", %rdx\n"
	"ki_tally_used:\n"
	"	cmpl $" VALUE(BLOCKS) ", (%rdx)\n"
	"ki_tally_blocks:\n"
	"	jae 1f\n"
	"	mov $-1, %rsi\n"
	"	xor %eax, %eax\n"
	"	lock cmpxchg %rsi, (%rcx)\n"
	"	jne 1f\n"
	"	mov $1, %eax\n"
	"	lock xadd %rax, (%rdx)\n"
	"	cmp $" VALUE(BLOCKS) ", %rax\n"
	"ki_tally_most:\n"
	"	jae 1f\n"
	"	imul $" VALUE(STRIDE) ", %rax, %rax\n"
	"ki_tally_stride:\n"
	"	add $" VALUE(FIRST) ", %rax\n"
	"ki_tally_first:\n"
	"	mov %rax, 8(%rcx)\n"
	"	mov %fs:0, %rsi\n"
	"	mov $-1, %rax\n"
	"	lock cmpxchg %rsi, (%rcx)\n"
	"1:	pop %rsi\n"
	"	pop %rax\n"
	"	pop %rdx\n"
	"	ret\n"
	"ki_tally_take_end:\n"
	".popsection\n");
/* clang-format on */

/* The immediate that ends before a label. */
static void set(uint8_t *to, const uint8_t *begin, const uint8_t *label, const void *value,
		size_t size)
{
	memcpy(to + (label - begin) - size, value, size);
}

size_t ki_tally_routine(uint8_t *to, const struct ki_linked *x)
{
	const size_t len = (size_t)(ki_tally_take_end - ki_tally_take);
	const uint64_t used =
		x->arenas.n ? x->arenas.v[0].base + 8 * ki_linked_word(x, KI_WORD_TALLY) : 0;
	const uint32_t first = (uint32_t)x->shared_len;

	if (!to)
		return len;
	memcpy(to, ki_tally_take, len);
	set(to, ki_tally_take, ki_tally_take_rows, &x->tally, sizeof(x->tally));
	set(to, ki_tally_take, ki_tally_used, &used, sizeof(used));
	set(to, ki_tally_take, ki_tally_blocks, &x->blocks, sizeof(x->blocks));
	set(to, ki_tally_take, ki_tally_most, &x->blocks, sizeof(x->blocks));
	set(to, ki_tally_take, ki_tally_stride, &x->stride, sizeof(x->stride));
	set(to, ki_tally_take, ki_tally_first, &first, sizeof(first));
	return len;
}

static const uint8_t below[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t back[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
static const uint8_t push_rax[] = {0x50}, pop_rax[] = {0x58};
static const uint8_t pushes[] = {0x51, 0x52}, pops[] = {0x5a, 0x59};
static const uint8_t save_flags[] = {0x9f, 0x0f, 0x90, 0xc0}, restore_flags[] = {0x04, 0x7f, 0x9e};

static size_t append(uint8_t *to, size_t at, const uint8_t *bytes, size_t n)
{
	memcpy(to + at, bytes, n);
	return at + n;
}

void ki_tally_code(struct ki_tally_code *out, const struct ki_linked *x, bool keep_flags)
{
	const size_t len = (size_t)(ki_tally_end - ki_tally_add);
	size_t n = append(out->code, 0, below, sizeof(below)), begin;

	if (keep_flags)
		n = append(out->code, n, push_rax, sizeof(push_rax));
	n = append(out->code, n, pushes, sizeof(pushes));
	if (keep_flags)
		n = append(out->code, n, save_flags, sizeof(save_flags));
	begin = n;
	n = append(out->code, n, ki_tally_add, len);
	set(out->code + begin, ki_tally_add, ki_tally_rows, &x->tally, sizeof(x->tally));
	out->slow = begin + (size_t)(ki_tally_slow - ki_tally_add) - 4;
	out->counter = begin + (size_t)(ki_tally_counter - ki_tally_add) - 4;
	out->back = n;
	if (keep_flags)
		n = append(out->code, n, restore_flags, sizeof(restore_flags));
	n = append(out->code, n, pops, sizeof(pops));
	if (keep_flags)
		n = append(out->code, n, pop_rax, sizeof(pop_rax));
	out->len = append(out->code, n, back, sizeof(back));
}

void ki_tally_size(struct ki_linked *x, bool tally)
{
	const uint64_t bytes = (8ull * x->counters + 63) & ~63ull;
	uint64_t most = bytes ? KI_TALLY_MEMORY / bytes : 0;

	x->shared_len = (8ull * (x->counters + KI_LINKED_WORDS) + KI_PAGE - 1) & ~(KI_PAGE - 1);
	x->blocks = 0;
	if (tally && most > 1)
		x->blocks = most < KI_TALLY_BLOCKS ? (uint32_t)most : KI_TALLY_BLOCKS;
	x->stride = x->blocks ? (uint32_t)bytes : 0;
	x->counters_len =
		x->shared_len + (((uint64_t)x->blocks * x->stride + KI_PAGE - 1) & ~(KI_PAGE - 1));
}

uint64_t ki_tally_read(const struct ki_linked *x, const uint64_t *values, uint32_t counter)
{
	uint64_t n = __atomic_load_n(&values[counter], __ATOMIC_RELAXED), used;

	if (!x->blocks)
		return n;
	used = __atomic_load_n(&values[ki_linked_word(x, KI_WORD_TALLY)], __ATOMIC_RELAXED);
	for (uint64_t i = 0; i < used && i < x->blocks; i++)
		n += __atomic_load_n(&values[(x->shared_len + i * x->stride) / 8 + counter],
				     __ATOMIC_RELAXED);
	return n;
}
