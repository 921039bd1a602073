// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has opened the device, and what each has put in.
 *
 * What is told of a session is its own to say to any user who may open the device: as processes
 * are seen by all. One row, or one window, a request: nothing is copied while ki_lock is held, and
 * a caller that asks for a thousand rows holds up others no longer than for one.
 */
#include <linux/cred.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "ki.h"
#include "account/limit.h"
#include "process/process.h"
#include "session/sessions.h"
#include "yield.h"

static LIST_HEAD(ki_owners);

void ki_owner_begin(struct ki_session *s)
{
	lockdep_assert_held(&ki_lock);
	s->owner.since = ktime_get_boottime_ns();
	s->owner.pid = task_tgid_nr(current);
	s->owner.uid = from_kuid(&init_user_ns, current_uid());
	get_task_comm(s->owner.comm, current);
	list_add_tail(&s->owner.list, &ki_owners);
}

void ki_owner_end(struct ki_session *s)
{
	lockdep_assert_held(&ki_lock);
	list_del(&s->owner.list);
}

struct ki_session *ki_owner_from(u64 serial)
{
	struct ki_session *s;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry (s, &ki_owners, owner.list)
		if (s->serial >= serial)
			return s;
	return NULL;
}

void ki_owner_each(ki_owner_fn call, bool whole, u32 max)
{
	const struct ki_session *s;

	list_for_each_entry (s, &ki_owners, owner.list) {
		if (!max--)
			break;
		call(s, whole);
	}
}

static void tell_owner(const struct ki_session *s, struct ki_session_row *row)
{
	row->session = s->serial;
	row->age = ktime_get_boottime_ns() - s->owner.since;
	row->pid = s->owner.pid;
	row->uid = s->owner.uid;
	row->flags |= s->owner.evicted ? KI_SESSION_EVICTED : 0;
	memcpy(row->comm, s->owner.comm, sizeof(row->comm));
}

static void tell_taken(const struct ki_session *s, struct ki_session_row *row)
{
	row->counted = ki_counters_sum(s);
	row->counters = ki_account_used(s->account, KI_LIMIT_COUNTERS);
	row->globals = ki_account_used(s->account, KI_LIMIT_GLOBALS);
	row->words = ki_account_used(s->account, KI_LIMIT_WORDS);
	row->tables = ki_account_used(s->account, KI_LIMIT_TABLES);
	row->events = ki_account_used(s->account, KI_LIMIT_EVENTS);
	row->pages = ki_account_used(s->account, KI_LIMIT_PAGES);
}

int ki_sessions_tell(struct ki_session *asker, struct ki_session_row *row)
{
	struct ki_patches patches = {.size = sizeof(patches)};
	const struct ki_piece *p;
	struct ki_session *s;
	int err;

	lockdep_assert_held(&ki_lock);
	if (row->flags || row->session == U64_MAX)
		return -EINVAL;
	s = ki_owner_from(row->session + 1);
	if (!s)
		return -ENOENT;
	*row = (struct ki_session_row){.size = sizeof(*row)};
	row->flags = s == asker ? KI_SESSION_SELF : 0;
	tell_owner(s, row);
	tell_taken(s, row);
	ki_process_tell(s->process, row);
	list_for_each_entry (p, &s->pieces, in_session) {
		row->chunks++;
		row->replaced += ki_piece_replaces(p);
		ki_yield();
	}
	err = ki_session_patches(s, &patches);
	row->windows = patches.windows;
	row->heap = patches.bytes;
	return err;
}

/* Pieces do not know their session, but whom they are charged to. */
static bool tell_pieces(const struct ki_session *s, const struct ki_win *win,
			struct ki_session_window *out)
{
	const struct ki_piece *p;

	out->target = 0;
	out->chunks = 0;
	list_for_each_entry (p, &win->chunks, in_window) {
		if (p->account != s->account)
			continue;
		out->chunks++;
		if (ki_piece_replaces(p))
			out->target = p->target;
	}
	return out->flags & KI_WINDOW_REPLACED ? out->target : out->chunks;
}

int ki_sessions_tell_window(struct ki_session_window *w)
{
	struct ki_session *s = ki_owner_from(w->session);
	struct ki_win *win;

	lockdep_assert_held(&ki_lock);
	if (w->flags & ~KI_WINDOW_REPLACED)
		return -EINVAL;
	if (!s || s->serial != w->session)
		return -ENOENT;
	for (win = ki_win_touching(w->addr, ULONG_MAX); win; win = ki_win_next(win)) {
		if (win->addr >= w->addr && tell_pieces(s, win, w))
			break;
		ki_yield();
	}
	if (!win)
		return -ENOENT;
	w->addr = win->addr;
	w->len = win->len;
	strscpy_pad(w->module, win->owner ? win->owner->name : "", sizeof(w->module));
	return 0;
}
