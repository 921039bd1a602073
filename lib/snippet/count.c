// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The counter. One `incq %gs:slot` is exact without any lock: the instruction finds this CPU's
 * word and changes it, and nothing can come between. It writes flags, so where they are live
 * they are kept in %ah (SF ZF AF PF CF by lahf) and %al (OF by seto). Adding 127 to the 0 or 1
 * in %al overflows exactly when OF was set; sahf then restores the other five.
 */
#include <string.h>

#include "kerninst/snippet.h"

static const uint8_t inc_gs[] = {0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0};
static const uint8_t save_flags[] = {0x50, 0x9f, 0x0f, 0x90, 0xc0};
static const uint8_t restore_flags[] = {0x04, 0x7f, 0x9e, 0x58};

/* After the displacement stands the byte that is stored. */
static const uint8_t mark[] = {0xc6, 0x05, 0, 0, 0, 0, 1};
static const uint8_t inc_global[] = {0xf0, 0x48, 0xff, 0x05, 0, 0, 0, 0};

static void append(struct ki_code *c, const uint8_t *bytes, uint8_t n)
{
	memcpy(c->code + c->len, bytes, n);
	c->len += n;
}

/* Code with one field, 4 bytes before `tail` others at its end. */
static void put(struct ki_code *out, const uint8_t *code, uint8_t n, struct ki_fixup fix,
		bool keep_flags)
{
	memset(out, 0, sizeof(*out));
	if (keep_flags)
		append(out, save_flags, sizeof(save_flags));
	append(out, code, n);
	out->fix[0] = fix;
	out->fix[0].off = (uint32_t)(out->len - 4 - fix.tail);
	out->nfix = 1;
	if (keep_flags)
		append(out, restore_flags, sizeof(restore_flags));
}

void ki_snippet_count(struct ki_code *out, uint32_t counter, bool keep_flags)
{
	const struct ki_fixup fix = {.kind = KI_FIX_PERCPU, .target = counter};

	put(out, inc_gs, sizeof(inc_gs), fix, keep_flags);
}

void ki_snippet_count_global(struct ki_code *out, uint32_t global, bool keep_flags)
{
	const struct ki_fixup fix = {.kind = KI_FIX_GLOBAL, .target = global};

	put(out, inc_global, sizeof(inc_global), fix, keep_flags);
}

void ki_snippet_mark(struct ki_code *out, uint32_t global, unsigned int byte)
{
	const struct ki_fixup fix = {
		.kind = KI_FIX_GLOBAL, .tail = 1, .target = global | (uint64_t)byte << 32};

	put(out, mark, sizeof(mark), fix, false);
}
