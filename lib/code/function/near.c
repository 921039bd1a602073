/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Entries into the middle of a function by branches with 8 bits. They reach only neighbours and
 * are looked for when the function is analysed.
 */
#include "code/decode/facts.h"

#include <emmintrin.h>
#include <string.h>

#include "code/function/function.h"
#include "code/function/trail.h"

/* A neighbour's start so far away is worth remembering how its instructions go. */
#define FAR 1024

/*
 * A neighbour's instructions are known from its start on, which may be far. Functions that follow
 * each other have the same one before them: where the walk came to `lo` is remembered.
 */
static void enter(struct ki_analysis *a, struct ki_trail *w, uint64_t addr, uint64_t lo,
		  uint64_t hi)
{
	uint64_t near;
	struct ki_decoded d;

	ki_trail_enter(w, addr, hi);
	if (!w->bytes)
		return;
	near = lo > w->from ? lo : w->from;
	if (a->near.symbol == w->from && a->near.pos <= near - w->from)
		w->pos = a->near.pos;
	ki_trail_to(w, near, &d);
	if (near - w->from >= FAR)
		a->near = (struct ki_near){w->from, w->pos};
}

/* Which of 16 bytes are opcodes of branches with 8 bits: 7x, e0 to e3, eb? */
static unsigned int short_opcodes(const uint8_t *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i jcc =
		_mm_cmpeq_epi8(_mm_and_si128(v, _mm_set1_epi8((char)0xf0)), _mm_set1_epi8(0x70));
	__m128i loop = _mm_cmpeq_epi8(_mm_and_si128(v, _mm_set1_epi8((char)0xfc)),
				      _mm_set1_epi8((char)0xe0));
	__m128i jmp = _mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xeb));

	return (unsigned int)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(jcc, loop), jmp));
}

/* What is around the function, [lo, hi), and where the walk through it is. */
struct around {
	struct ki_analysis *a;
	struct ki_trail trail;
	uint64_t lo, hi;
};

/* The bytes at addr are the opcode and the displacement of a branch, perhaps. */
static void look_at(struct around *x, uint64_t addr, int8_t displacement)
{
	const struct ki_function *fn = x->a->fn;
	uint64_t target = addr + 2 + (uint64_t)(int64_t)displacement;

	if (target <= fn->start || target >= fn->end)
		return;
	if (!ki_trail_holds(&x->trail, addr))
		enter(x->a, &x->trail, addr, x->lo, x->hi);
	if (ki_trail_is_branch(&x->trail, addr + 1, addr + 2))
		ki_analysis_entry(x->a, target);
}

/* One side of the function: len bytes, which stand at addr. */
static void look_through(struct around *x, const uint8_t *bytes, size_t len, uint64_t addr)
{
	uint8_t padded[KI_NEAR + 16] = {0};

	memcpy(padded, bytes, len);
	for (size_t pos = 0; pos + 2 <= len; pos += 16) {
		unsigned int hits = short_opcodes(padded + pos);

		for (; hits; hits &= hits - 1) {
			size_t hit = pos + (size_t)__builtin_ctz(hits);

			if (hit + 2 <= len)
				look_at(x, addr + hit, (int8_t)padded[hit + 1]);
		}
	}
}

void ki_entries_note(struct ki_analysis *a)
{
	const struct ki_function *fn = a->fn;
	uint32_t i;

	if (!a->text || fn->end - fn->start <= KI_NEAR)
		return;
	i = ki_function_covering(fn, fn->end - KI_NEAR);
	a->near = (struct ki_near){fn->start, fn->insns[i].addr - fn->start};
}

void ki_entries_near(struct ki_analysis *a, const uint8_t *text, uint64_t lo, uint64_t hi)
{
	const uint64_t start = a->fn->start, end = a->fn->end;
	struct around x = {.a = a,
			   .trail = {.target = a->target, .text = a->text, .memo = a->memo},
			   .lo = lo,
			   .hi = hi};
	const uint64_t behind = hi - end < KI_NEAR ? hi - end : KI_NEAR;

	look_through(&x, text, start - lo, lo);
	look_through(&x, text + (end - lo), behind, end);
	ki_trail_leave(&x.trail);
}
