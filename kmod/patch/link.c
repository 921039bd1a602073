// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a patch, piece by piece: code with its fixups, jumps, and where the stack is there.
 */
#include <linux/string.h>

#include "patch/link.h"

static s64 fixup_value(const struct ki_fixup *f, unsigned long field)
{
	switch (f->kind) {
	case KI_FIX_REL32:
	case KI_FIX_CALLEE:
		return f->target - (field + 4 + f->tail);
	case KI_FIX_PERCPU:
		return ki_counter_disp(f->target);
	case KI_FIX_GLOBAL:
		return ki_global_addr(f->target) + (f->target >> 32) - (field + 4 + f->tail);
	case KI_FIX_HELPER:
		return ki_helper_addr(f->target) - (field + 4);
	case KI_FIX_SELF:
		return ki_self_disp(f->target);
	case KI_FIX_FIELD:
		return ki_field_off(f->target);
	case KI_FIX_WORD:
		return (u32)f->target * sizeof(u64) + (f->target >> 32);
	default:
		return f->target;
	}
}

void ki_link_put(struct ki_link *l, const u8 *code, u32 len, const struct ki_fixup *fix, u32 nfix)
{
	u32 i;

	if (l->buf)
		memcpy(l->buf + l->len, code, len);
	for (i = 0; l->buf && i < nfix; i++) {
		s64 value = fixup_value(&fix[i], l->base + l->len + fix[i].off);
		s32 field = value;

		if (field != value)
			l->reason = KI_R_TOO_FAR;
		memcpy(l->buf + l->len + fix[i].off, &field, 4);
	}
	l->len += len;
}

void ki_link_fill(struct ki_link *l, u32 len)
{
	if (l->buf)
		memset(l->buf + l->len, KI_INT3, len);
	l->len += len;
}

void ki_link_origin(const struct ki_link *l, u32 len, unsigned long addr)
{
	if (l->buf)
		ki_origin_note(l->base + l->len, len, addr);
}

void ki_link_jump(struct ki_link *l, u64 target, unsigned long addr, u32 pushed)
{
	static const u8 jmp[KI_JMP_LEN] = {KI_JMP};
	struct ki_fixup to = {.kind = KI_FIX_REL32, .off = 1, .target = target};

	ki_rows_stack(&l->rows, l->len, addr, pushed);
	ki_link_origin(l, KI_JMP_LEN, addr);
	ki_link_put(l, jmp, KI_JMP_LEN, &to, 1);
}

u64 ki_link_landing(const struct ki_link *l, u64 target)
{
	int i = ki_group_find(l->group, target);

	return i < 0 ? ki_join_landing(l, target) : l->base + l->group->next_at[i];
}
