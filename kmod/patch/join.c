// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are laid out together: in one patch, in any order of their windows. A call or a
 * jump from one to another of them stays in the patch, and calls and jumps of others may lead there
 * (direct.c).
 *
 * What stands before a function's first window stays in the text: endbr64, and the ftrace site. By
 * that site tracers, BPF programs, kprobes and livepatches come in, and a layout must not keep
 * them out. So a call goes past it only while nothing but this driver uses ftrace. A new user is
 * put at the head of the kernel's list of users before any site is written. The head is ours until
 * then (probes.c). Before the first window of such a function there is
 *
 *	cmpq $ours, ftrace_ops_list
 *	jne function
 *
 * Flags are free there: at a function's entry ftrace itself does not keep them. If something else
 * uses ftrace while the patch is linked, calls go to the function in the text, as the originals do.
 */
#include <linux/string.h>

#include "patch/link.h"

#define KI_ENTER_LEN 17
#define KI_NOP_LEN   5

enum { KI_ENTER_NOT, KI_ENTER_FREE, KI_ENTER_ASKING };

/* Is the ftrace site before the window off? */
static bool site_is_off(const struct ki_win *w)
{
	static const u8 nop[KI_NOP_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	u8 site[KI_NOP_LEN];

	return !ki_text_read(w->addr - KI_NOP_LEN, site, KI_NOP_LEN, KI_VIEW_LIVE) &&
	       !memcmp(site, nop, KI_NOP_LEN);
}

void ki_join_look(struct ki_link *l)
{
	bool alone = ki_probes_alone(&l->users, &l->ours);
	u32 i;

	for (i = 0; i < l->group->n; i++) {
		const struct ki_win *w = l->group->v[i];

		if (w->calls)
			continue;
		if (w->entry && w->body && w->body < KI_NOP_LEN)
			l->enter[i] = KI_ENTER_FREE;
		else if (w->entry && w->body && alone && site_is_off(w))
			l->enter[i] = KI_ENTER_ASKING;
	}
}

bool ki_join_asks(const struct ki_link *l, u32 i)
{
	return l->group->joined && l->enter[i] == KI_ENTER_ASKING;
}

void ki_join_enter(struct ki_link *l, u32 i)
{
	const struct ki_win *w = l->group->v[i];
	const u8 code[KI_ENTER_LEN] = {0x48, 0x81, 0x3d, [11] = 0x0f, 0x85};
	const struct ki_fixup fix[] = {
		{.kind = KI_FIX_REL32, .off = 3, .tail = 4, .target = l->users},
		{.kind = KI_FIX_ABS32, .off = 7, .target = l->ours},
		{.kind = KI_FIX_REL32, .off = 13, .target = w->addr - w->body},
	};

	l->rows.owner = w->owner;
	ki_rows_stack(&l->rows, l->len, w->addr, 0);
	ki_link_origin(l, KI_ENTER_LEN, w->addr);
	ki_link_put(l, code, KI_ENTER_LEN, fix, ARRAY_SIZE(fix));
}

u64 ki_join_landing(const struct ki_link *l, u64 start)
{
	static const u8 bodies[] = {4, 5, 9}; /* endbr64, the site, both */
	u32 k;

	for (k = 0; l->group->joined && k < ARRAY_SIZE(bodies); k++) {
		int i = ki_group_find(l->group, start + bodies[k]);

		if (i < 0 || !l->enter[i] || l->group->v[i]->body != bodies[k])
			continue;
		return l->base + l->group->next_at[i] - (ki_join_asks(l, i) ? KI_ENTER_LEN : 0);
	}
	return start;
}
