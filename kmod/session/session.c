// SPDX-License-Identifier: GPL-2.0-only
/*
 * What belongs to an open descriptor, and its end.
 *
 * When a session ends its chunks are taken out at once, and what they took is retired (retire.c).
 *
 * If another tool has written into one of our springboards meanwhile (a kprobe on top of it), the
 * window cannot be restored. If the heap has no room, chunks stay in patches that others need. No
 * task runs them any more in either case (unsplice.c, mute.c), so the session is gone with all that
 * it had. Taking them out is tried again whenever a session begins or ends or a patch is given
 * back. As long as a window is left that belongs to no session the module cannot be unloaded. A
 * host that has lost its last user may be left over in the same way.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "account/limit.h"
#include "retire/retire.h"
#include "session/sessions.h"

static u64 ki_serial;
static bool ki_stuck_pinned;

/* A window that is no session's holds the module. */
static void pin_stuck(void)
{
	bool stuck = ki_unsplice_any_stuck();

	if (stuck && !ki_stuck_pinned) {
		__module_get(THIS_MODULE);
		pr_warn("kerninst: another tool has written into an installed window; its removal is tried again later\n");
	} else if (!stuck && ki_stuck_pinned) {
		module_put(THIS_MODULE);
	}
	ki_stuck_pinned = stuck;
}

/* A session begins or ends, or patches have been given back: there may be room. */
void ki_session_take_out_again(void)
{
	lockdep_assert_held(&ki_lock);
	ki_unsplice_again();
	if (ki_stuck_pinned)
		pin_stuck();
}

int ki_session_new(struct ki_session **out)
{
	struct ki_session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err;

	lockdep_assert_held(&ki_lock);
	if (!s)
		return -ENOMEM;
	err = ki_account_new(&s->account);
	if (err) {
		kfree(s);
		return err;
	}
	ki_session_take_out_again();
	mutex_init(&s->asking);
	INIT_LIST_HEAD(&s->pieces);
	INIT_LIST_HEAD(&s->runs);
	s->next_id = 1;
	s->serial = ++ki_serial;
	ki_counters_begin();
	ki_sessions++;
	ki_owner_begin(s);
	*out = s;
	return 0;
}

void ki_session_end(struct ki_session *s)
{
	lockdep_assert_held(&ki_lock);
	ki_step("session ends");
	ki_unsplice_all(s);
	pin_stuck();
	ki_retire_runs(&s->runs);
	ki_sessions--;
	ki_counters_end();
	if (!ki_sessions)
		ki_reserved_rest();
	ki_owner_end(s);
	ki_account_give(s->account, KI_LIMIT_SESSIONS, 1);
	kfree(s);
	ki_step("session ended");
}

int ki_session_init(void)
{
	ki_retire_init(ki_session_take_out_again);
	return 0;
}
