// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock of all that is installed or owned, and what it guards by itself: the number of sessions,
 * and the order in which things came and went.
 */
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "ki.h"

DEFINE_MUTEX(ki_lock);
u32 ki_sessions;

u64 ki_moment(void)
{
	static u64 last;

	lockdep_assert_held(&ki_lock);
	return ++last;
}

u32 ki_session_count(void)
{
	lockdep_assert_held(&ki_lock);
	return ki_sessions;
}
