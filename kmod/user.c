// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrays of a request, from and to user memory.
 *
 * Touching user memory may take for ever: a page may be another process's to bring (userfaultfd,
 * FUSE). So it is never done with ki_lock held, which all sessions need; only with the session's
 * own mutex, which no other task waits for. It is done in pieces, so that who is killed stops soon.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "array.h"
#include "user.h"
#include "yield.h"

#define KI_USER_PIECE (64 << 10)

static int take_piece(void *kernel, u64 user, size_t bytes)
{
	return copy_from_user(kernel, u64_to_user_ptr(user), bytes) ? -EFAULT : 0;
}

static int give_piece(void *kernel, u64 user, size_t bytes)
{
	return copy_to_user(u64_to_user_ptr(user), kernel, bytes) ? -EFAULT : 0;
}

static int in_pieces(void *kernel, u64 user, size_t bytes,
		     int (*copy)(void *kernel, u64 user, size_t bytes))
{
	size_t at, part;
	int err = 0;

	for (at = 0; at < bytes && !err; at += part) {
		part = min_t(size_t, bytes - at, KI_USER_PIECE);
		lockdep_assert_not_held(&ki_lock);
		ki_yield();
		err = fatal_signal_pending(current) ? -EINTR : copy(kernel + at, user + at, part);
	}
	return err;
}

int ki_user_take(void *to, u64 from, size_t bytes)
{
	return in_pieces(to, from, bytes, take_piece);
}

int ki_user_give(u64 to, void *from, size_t bytes)
{
	return in_pieces(from, to, bytes, give_piece);
}

void *ki_user_array(u64 from, u32 n, size_t each, int *err)
{
	void *p;

	if (*err || !n)
		return NULL;
	p = ki_array(n, each, KI_GFP);
	*err = p ? ki_user_take(p, from, n * each) : -ENOMEM;
	if (!*err)
		return p;
	ki_array_free(p);
	return NULL;
}
