// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock of all that is installed or owned, and the number of sessions that it guards.
 */
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "ki.h"

DEFINE_MUTEX(ki_lock);
u32 ki_sessions;

u32 ki_session_count(void)
{
	lockdep_assert_held(&ki_lock);
	return ki_sessions;
}
