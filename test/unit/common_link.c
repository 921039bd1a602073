// SPDX-License-Identifier: GPL-2.0-only
#include "common_link.h"

#include <string.h>

static int place(uint8_t *at, const uint8_t *code, size_t len, const struct ki_fixup *fix,
		 size_t nfix)
{
	memcpy(at, code, len);
	for (size_t i = 0; i < nfix; i++) {
		uint64_t field = (uint64_t)(uintptr_t)at + fix[i].off;
		int64_t value = (int64_t)fix[i].target;
		int32_t narrow;

		if (fix[i].kind == KI_FIX_REL32)
			value = (int64_t)(fix[i].target - (field + 4 + fix[i].tail));
		else if (fix[i].kind == KI_FIX_PERCPU)
			value = (int64_t)fix[i].target * 8;
		narrow = (int32_t)value;
		if (narrow != value)
			return -1;
		memcpy(at + fix[i].off, &narrow, 4);
	}
	return 0;
}

void link_jump(uint8_t *at, uint64_t to)
{
	int32_t disp = (int32_t)(to - ((uint64_t)(uintptr_t)at + 5));

	at[0] = 0xe9;
	memcpy(at + 1, &disp, 4);
}

size_t link_patch(uint8_t *at, const struct ki_window *w, const struct ki_copy *copies,
		  const struct ki_chunk *const *chunks, size_t nchunks)
{
	uint8_t *p = at;

	for (uint8_t slot = 0; slot < w->ncopy; slot++) {
		const struct ki_copy *c = &copies[slot];

		for (size_t i = 0; i < nchunks; i++) {
			const struct ki_chunk *ch = chunks[i];

			if (ch->insn != slot)
				continue;
			if (place(p, ch->code, ch->len, ch->fix, ch->nfix))
				return 0;
			p += ch->len;
		}
		if (place(p, c->code, c->len, c->fix, c->nfix))
			return 0;
		p += c->len;
	}
	link_jump(p, w->addr + w->len);
	return (size_t)(p + 5 - at);
}
