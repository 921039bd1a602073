// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memory that does not change: between __start_rodata and __end_rodata, where the kernel keeps its
 * constants and what is written only while it starts (__ro_after_init). It write-protects all of
 * that when it has started.
 */
#include <string.h>

#include "evolve/special/inside.h"
#include "target/names.h"
#include "target/priv.h"

void ki_special_memory_find(struct ki_target *t, struct ki_special_memory *out)
{
	static const char *const names[] = {"__start_rodata", "__end_rodata"};
	struct ki_err err = {0};
	uint64_t at[2];

	*out = (struct ki_special_memory){.t = t};
	if (ki_target_kind(t) != KI_TARGET_LIVE || ki_kernel_names(names, at, 2, &err))
		return;
	out->start = at[0];
	out->end = at[1];
}

bool ki_special_memory_read(void *memory, uint64_t addr, void *out, size_t size)
{
	const struct ki_special_memory *m = memory;
	struct ki_err err = {0};

	return addr >= m->start && addr < m->end && size <= m->end - addr &&
	       !ki_target_read_data(m->t, addr, out, size, &err);
}

/* Where the site is a call, it is one of __fentry__: others begin with a call of their own. */
static bool calls_fentry(struct ki_target *t, uint64_t addr, const uint8_t *code)
{
	const struct ki_symbol *to;
	int32_t far;

	memcpy(&far, code + 1, sizeof(far));
	to = ki_target_symbol_at(t, addr + 5 + (uint64_t)(int64_t)far);
	return to && !strcmp(to->name, "__fentry__");
}

bool ki_special_compiled(void *target, uint64_t addr)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct ki_target *t = target;
	struct ki_err err = {0};
	uint8_t code[16];
	size_t at;

	if (ki_target_read(t, addr, code, sizeof(code), KI_VIEW_ORIG, &err))
		return false;
	at = ki_target_endbr_len(code, sizeof(code));
	return !memcmp(code + at, nop, sizeof(nop)) ||
	       (code[at] == 0xe8 && calls_fentry(t, addr + at, code + at));
}
