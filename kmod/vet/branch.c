// SPDX-License-Identifier: GPL-2.0-only
/*
 * Static branches in layouts.
 *
 * The kernel writes a static branch as its key is: a nop, or a jump. It knows the one in the text,
 * and no copies. So a copy looks at the key itself (lay.c):
 *
 *	cmpl $0, key
 *	jne target		je, where the branch is taken while the key is off
 *
 * Both say the same. A key is on as soon as its number is not 0. While the kernel turns it on, the
 * number is -1 before the first place is written; while it turns it off, 0. Then all places are
 * written, and each CPU is interrupted for that. So it is with the number as with the text. What
 * has been begun with interrupts off by the old one is over when the kernel goes on.
 *
 * The key lives as long as the branch's owner, which each window holds.
 *
 * The flags are free: to a compiler all assembler code changes them, and a static branch is such.
 * What a compiler made is known by its ftrace site; hand-written code is refused.
 */
#include <linux/jump_label.h>
#include <linux/module.h>

#include "ki.h"
#include "symbols.h"
#include "vet/function.h"

static const struct jump_entry *find_entry(unsigned long addr, const struct module *owner)
{
	const struct jump_entry *e, *end;

	if (owner) {
		e = owner->jump_entries;
		end = e + owner->num_jump_entries;
	} else {
		e = (const struct jump_entry *)ki_symbol("__start___jump_table");
		end = (const struct jump_entry *)ki_symbol("__stop___jump_table");
	}
	for (; e && e < end; e++)
		if (jump_entry_code(e) == addr && !jump_entry_is_init(e))
			return e;
	return NULL;
}

u16 ki_written_row(const struct ki_win *w, u16 reason)
{
	unsigned long end = w->addr + w->len;
	const struct ki_reserved_row *row;
	bool found = false;
	u32 from = 0;

	lockdep_assert_held(&ki_lock);
	while ((row = ki_reserved_next(w->addr, end, &from))) {
		if (row->reason != reason || row->addr != w->addr || row->len != w->len)
			return row->reason;
		found = true;
	}
	return found ? KI_R_OK : KI_R_NOT_BOUNDARY;
}

u16 ki_branch_verify(const struct ki_verifier *v, struct ki_win *w)
{
	const struct jump_entry *e;
	u16 reason = ki_written_row(w, KI_R_JUMP_LABEL);

	lockdep_assert_held(&ki_lock);
	if (reason)
		return reason;
	e = v->body < KI_JMP_LEN ? NULL : find_entry(w->addr, w->owner);
	if (!e)
		return KI_R_JUMP_LABEL;
	w->key = (unsigned long)&jump_entry_key(e)->enabled;
	w->off = jump_entry_is_branch(e);
	w->target = jump_entry_target(e);
	return KI_R_OK;
}
