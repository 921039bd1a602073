// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the kernel dies it says what stood in its text: a line for each session, and the windows
 * that were changed last.
 *
 * Other CPUs have been stopped, wherever they were. If none of them had ki_lock, the lists are
 * whole and are walked. If one had it, only the list of sessions is: it is changed so that who goes
 * forward finds each element, or does not find it. Nothing is locked, and walks have an end.
 */
#include <linux/notifier.h>
#include <linux/panic_notifier.h>

#include "ki.h"
#include "account/limit.h"
#include "watch/who.h"

#define KI_PANIC_SESSIONS 64
#define KI_PANIC_PIECES	  100000

static u32 count_replaced(const struct ki_session *s)
{
	const struct ki_piece *p;
	u32 n = 0, replaced = 0;

	list_for_each_entry (p, &s->pieces, in_session) {
		replaced += ki_piece_replaces(p);
		if (++n == KI_PANIC_PIECES)
			break;
	}
	return replaced;
}

static void say_session(const struct ki_session *s, bool whole)
{
	u64 chunks = ki_account_used(s->account, KI_LIMIT_CHUNKS);

	if (whole)
		pr_emerg(
			"kerninst: session %llu: process %u (%.*s), user %u, %llu chunks, %u replacements\n",
			s->serial, s->owner.pid, (int)sizeof(s->owner.comm), s->owner.comm,
			s->owner.uid, chunks, count_replaced(s));
	else
		pr_emerg(
			"kerninst: session %llu: process %u (%.*s), user %u, %llu chunks; text was being changed\n",
			s->serial, s->owner.pid, (int)sizeof(s->owner.comm), s->owner.comm,
			s->owner.uid, chunks);
}

static int on_panic(struct notifier_block *nb, unsigned long event, void *text)
{
	u32 i, n = ki_who_count(), last = min_t(u32, n, KI_WHO_LAST);
	bool whole = !mutex_is_locked(&ki_lock);

	ki_owner_each(say_session, whole, KI_PANIC_SESSIONS);
	for (i = 0; i < last; i++) {
		const struct ki_who_last *l = &ki_who_last[(n - last + i) % KI_WHO_LAST];

		pr_emerg("kerninst: session %llu %s %pS\n", l->session, ki_who_word(l->what),
			 (void *)l->addr);
	}
	return NOTIFY_DONE;
}

static struct notifier_block ki_panic_block = {.notifier_call = on_panic};

int ki_panic_init(void)
{
	return atomic_notifier_chain_register(&panic_notifier_list, &ki_panic_block);
}

void ki_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &ki_panic_block);
}
