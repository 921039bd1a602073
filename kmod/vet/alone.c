// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of a function matters to a window in its first bytes: a branch into the window, an
 * instruction of another tool, one that changes %gs. To find them the function is decoded; but most
 * functions have nothing in all their bytes that could be one of these, wherever instructions
 * begin. To look at each byte takes a tenth of the time, and where it stands tells.
 *
 * A branch ends with its displacement, whatever prefixes it has. So the bytes of its opcode and
 * displacement tell where it would lead.
 */
#include "vet/alone.h"

#include <linux/string.h>

#include "ki.h"

#define KI_ALONE_MOST 64 /* bytes of a function in which its first windows end */

enum {
	NOTHING,
	BRANCH_8,  /* jcc, loop, jmp with 8 bits */
	BRANCH_32, /* call, jmp with 32 bits */
	JUMP_32,   /* a jmp that an optimized kprobe may have written, too */
	TWO_BYTES, /* 0f: jcc with 32 bits, pop %gs */
	BREAKPOINT,
	TO_SEGMENT, /* mov to a segment register */
	TO_ECX,	    /* perhaps MSR_GS_BASE */
};

static const u8 asks[256] = {
	[0x70 ... 0x7f] = BRANCH_8, [0xe0 ... 0xe3] = BRANCH_8, [0xeb] = BRANCH_8,
	[0xe8] = BRANCH_32,	    [0xe9] = JUMP_32,		[0x0f] = TWO_BYTES,
	[0xcc] = BREAKPOINT,	    [0x8e] = TO_SEGMENT,	[0xb9] = TO_ECX,
};

static bool leads_in(const struct ki_alone *x, unsigned long next, long displacement)
{
	unsigned long to = next + displacement;

	return to > x->from && to < x->to;
}

static bool leads_in_8(const struct ki_alone *x, unsigned long at)
{
	return at < x->size && leads_in(x, at + 1, (s8)x->bytes[at]);
}

static bool leads_in_32(const struct ki_alone *x, unsigned long at)
{
	s32 displacement;

	if (at + sizeof(displacement) > x->size)
		return false;
	memcpy(&displacement, x->bytes + at, sizeof(displacement));
	return leads_in(x, at + sizeof(displacement), displacement);
}

static bool is_two_bytes(const struct ki_alone *x, unsigned long at)
{
	u8 op = at < x->size ? x->bytes[at] : 0;

	return op == 0xa9 || ((op & 0xf0) == 0x80 && leads_in_32(x, at + 1));
}

static bool is_gs_base(const struct ki_alone *x, unsigned long at)
{
	static const u8 base[] = {0x01, 0x01, 0x00, 0xc0};

	return at + sizeof(base) <= x->size && !memcmp(x->bytes + at, base, sizeof(base));
}

static bool is_probed(const struct ki_alone *x, unsigned long at)
{
	return ki_text_probed_at(x->start + at);
}

/* Is the byte an opcode of what matters, perhaps? */
static bool matters(const struct ki_alone *x, unsigned long at)
{
	switch (asks[x->bytes[at]]) {
	case BRANCH_8:
		return leads_in_8(x, at + 1);
	case BRANCH_32:
		return leads_in_32(x, at + 1);
	case JUMP_32:
		return leads_in_32(x, at + 1) || is_probed(x, at);
	case TWO_BYTES:
		return is_two_bytes(x, at + 1);
	case BREAKPOINT:
		return is_probed(x, at);
	case TO_SEGMENT:
		return at + 1 < x->size && ((x->bytes[at + 1] >> 3) & 7) == 5;
	case TO_ECX:
		return is_gs_base(x, at + 1);
	default:
		return false;
	}
}

bool ki_window_is_alone(const struct ki_alone *x)
{
	unsigned long at;

	if (x->to > KI_ALONE_MOST || x->to > x->size)
		return false;
	for (at = 0; at < x->size; at++)
		if (asks[x->bytes[at]] && matters(x, at))
			return false;
	return true;
}
