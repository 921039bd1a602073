// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbered things that sessions own, in runs: counters, global variables, words of threads; rings,
 * tables, events, one in a run.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

#include "array.h"
#include "ki.h"
#include "account/limit.h"
#include "user.h"
#include "yield.h"

struct ki_run {
	struct list_head in_session;
	struct rb_node node; /* of all runs of its kind, in order */
	struct ki_slots *of;
	struct ki_account *account;
	u64 serial; /* of the session */
	struct ki_life life;
	u32 first, count;
};

void ki_slots_init(struct ki_slots *s, u32 total)
{
	s->total = total;
	ki_limit_total(s->limit, total);
}

static struct ki_run *run_of(const struct ki_slots *s, u64 n)
{
	struct rb_node *at = s->runs.rb_node;

	while (at) {
		struct ki_run *run = rb_entry(at, struct ki_run, node);

		if (n >= run->first && n < (u64)run->first + run->count)
			return run;
		at = n < run->first ? at->rb_left : at->rb_right;
	}
	return NULL;
}

static bool comes_first(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct ki_run, node)->first < rb_entry(b, struct ki_run, node)->first;
}

/* Where so many are free; -ENOSPC, -ENOMEM. */
static int find_free(struct ki_slots *s, u32 count, u32 *first)
{
	unsigned long at;

	if (count > s->total)
		return -ENOSPC;
	if (!s->map)
		s->map = ki_array(BITS_TO_LONGS(s->total), sizeof(*s->map), KI_GFP | __GFP_ZERO);
	if (!s->map)
		return -ENOMEM;
	at = bitmap_find_next_zero_area(s->map, s->total, 0, count, 0);
	*first = at;
	return at < s->total ? 0 : -ENOSPC;
}

static void drop_map(struct ki_slots *s)
{
	if (s->used)
		return;
	ki_array_free(s->map);
	s->map = NULL;
}

static int take(struct ki_slots *s, struct ki_session *session, u32 count, u32 *first, u32 *reason)
{
	struct ki_run *run;
	int err = find_free(s, count, first);

	*reason = err == -ENOMEM ? KI_R_NO_MEMORY : KI_R_COUNTERS_FULL;
	if (!err)
		err = ki_account_take(session->account, s->limit, count, reason);
	if (err)
		return err;
	run = kmalloc(sizeof(*run), KI_GFP);
	if (!run) {
		ki_account_give(session->account, s->limit, count);
		*reason = KI_R_NO_MEMORY;
		return -ENOMEM;
	}
	*run = (struct ki_run){.of = s,
			       .account = session->account,
			       .serial = session->serial,
			       .life.born = ki_moment(),
			       .first = *first,
			       .count = count};
	bitmap_set(s->map, *first, count);
	s->used += count;
	rb_add(&run->node, &s->runs, comes_first);
	list_add_tail(&run->in_session, &session->runs);
	*reason = KI_R_OK;
	return 0;
}

int ki_slots_take(struct ki_slots *s, struct ki_session *session, u32 count, u32 *first,
		  u32 *reason)
{
	int err;

	lockdep_assert_held(&ki_lock);
	err = take(s, session, count, first, reason);
	if (err)
		drop_map(s);
	return err;
}

bool ki_slots_own(const struct ki_slots *s, const struct ki_session *session, u64 n, u64 count)
{
	u64 end = n + count;

	lockdep_assert_held(&ki_lock);
	if (n >= s->total || count > s->total - n)
		return false;
	while (n < end) {
		const struct ki_run *run = run_of(s, n);

		if (!run || run->serial != session->serial)
			return false;
		n = (u64)run->first + run->count;
	}
	return true;
}

static void drop(struct ki_run *run)
{
	struct ki_slots *s = run->of;

	if (s->forget)
		s->forget(run->first, run->count);
	bitmap_clear(s->map, run->first, run->count);
	rb_erase(&run->node, &s->runs);
	s->used -= run->count;
	drop_map(s);
	ki_account_give(run->account, s->limit, run->count);
	list_del(&run->in_session);
	kfree(run);
}

void ki_runs_drop(struct list_head *runs)
{
	struct ki_run *run, *next;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry_safe (run, next, runs, in_session)
		drop(run);
}

void ki_runs_drop_but(struct list_head *runs, const struct ki_life *users, u32 n)
{
	struct ki_run *run, *next;
	u32 i;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry_safe (run, next, runs, in_session) {
		for (i = 0; i < n; i++)
			if (run->life.born < users[i].gone && users[i].born < run->life.gone)
				break;
		if (i == n)
			drop(run);
		ki_yield();
	}
}

void ki_runs_gone(struct list_head *runs)
{
	u64 now = ki_moment();
	struct ki_run *run;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry (run, runs, in_session)
		run->life.gone = now;
}
