// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbered things that sessions own, in runs: counters, global variables, words of threads; rings,
 * tables, events, one in a run.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "ki.h"
#include "limit.h"

struct ki_run {
	struct list_head in_session;
	struct ki_slots *of;
	struct ki_account *account;
	u32 first, count;
};

int ki_slots_init(struct ki_slots *s, u32 total)
{
	s->total = total;
	ki_limit_total(s->limit, total);
	s->map = bitmap_zalloc(total, GFP_KERNEL);
	s->owner = kvcalloc(total, sizeof(u64), GFP_KERNEL);
	if (s->map && s->owner)
		return 0;
	ki_slots_exit(s);
	return -ENOMEM;
}

void ki_slots_exit(struct ki_slots *s)
{
	bitmap_free(s->map);
	kvfree(s->owner);
}

int ki_slots_take(struct ki_slots *s, struct ki_session *session, u32 count, u32 *first,
		  u32 *reason)
{
	struct ki_run *run;
	unsigned long at;
	int err;
	u32 i;

	lockdep_assert_held(&ki_lock);
	*reason = KI_R_COUNTERS_FULL;
	if (count > s->total)
		return -ENOSPC;
	at = bitmap_find_next_zero_area(s->map, s->total, 0, count, 0);
	if (at >= s->total)
		return -ENOSPC;
	err = ki_account_take(session->account, s->limit, count, reason);
	if (err)
		return err;
	*reason = KI_R_NO_MEMORY;
	run = kmalloc(sizeof(*run), GFP_KERNEL_ACCOUNT);
	if (!run) {
		ki_account_give(session->account, s->limit, count);
		return -ENOMEM;
	}
	bitmap_set(s->map, at, count);
	for (i = 0; i < count; i++)
		s->owner[at + i] = session->serial;
	s->used += count;
	*run = (struct ki_run){.of = s, .account = session->account, .first = at, .count = count};
	list_add_tail(&run->in_session, &session->runs);
	*first = at;
	*reason = KI_R_OK;
	return 0;
}

bool ki_slots_own(const struct ki_slots *s, const struct ki_session *session, u64 n, u64 count)
{
	u64 i;

	if (n >= s->total || count > s->total - n)
		return false;
	for (i = 0; i < count; i++)
		if (s->owner[n + i] != session->serial)
			return false;
	return true;
}

void ki_runs_drop(struct list_head *runs)
{
	struct ki_run *run, *next;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry_safe (run, next, runs, in_session) {
		struct ki_slots *s = run->of;

		if (s->forget)
			s->forget(run->first, run->count);
		bitmap_clear(s->map, run->first, run->count);
		memset(&s->owner[run->first], 0, run->count * sizeof(u64));
		s->used -= run->count;
		ki_account_give(run->account, s->limit, run->count);
		list_del(&run->in_session);
		kfree(run);
	}
}
