// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much a session and a user may take.
 *
 * There is so much of each thing, for all sessions. A limit says how much of it one session may
 * have, and how much all sessions of one user: the one that opened them (the real id). Both are
 * parameters of the module, which may be written at any time: what has been taken already stays.
 * Where no limit has been set, a session may have three quarters, and a user seven eighths: so
 * there is something left for others. CAP_SYS_RESOURCE lifts them all.
 *
 * What is charged is given back when it is really free again: so a user that closes a session to
 * open the next has no more for that. Of windows and heap a session is charged what its own
 * requests add: a second session at the same place adds little.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "ki.h"
#include "account/limit.h"
#include "account/pages.h"
#include "heap/rows.h"

#define KI_UNSET       UINT_MAX
#define KI_SESSIONS    1024 /* as if there were no more */
#define KI_PATCH_LEAST 32   /* bytes of the heap that a window takes, and a chunk more */
#define KI_CHUNK_LEAST 16

struct ki_limit_pair {
	unsigned int session, user;
};

static struct ki_limit_pair ki_limits[KI_LIMITS] = {
	[0 ... KI_LIMITS - 1] = {KI_UNSET, KI_UNSET},
};

#define KI_LIMIT(tag, name, what)                                                                  \
	module_param_named(user_##name, ki_limits[KI_LIMIT_##tag].user, uint, 0644);               \
	MODULE_PARM_DESC(user_##name, what " that all sessions of a user may have");
#define KI_LIMIT_BOTH(tag, name, what)                                                             \
	KI_LIMIT(tag, name, what)                                                                  \
	module_param_named(session_##name, ki_limits[KI_LIMIT_##tag].session, uint, 0644);         \
	MODULE_PARM_DESC(session_##name, what " that a session may have");
#include "account/limit_rows.h"

static const u16 ki_limit_reasons[KI_LIMITS] = {
#define KI_LIMIT(tag, name, what) KI_R_LIMIT_##tag,
#include "account/limit_rows.h"
};

/* A user that has opened sessions. */
struct ki_user {
	struct list_head list;
	kuid_t uid;
	u64 used[KI_LIMITS];
	u64 charged; /* all of them */
};

struct ki_account {
	struct ki_user *user;
	u64 used[KI_LIMITS];
	u64 charged;
};

static LIST_HEAD(ki_users);

void ki_limit_total(enum ki_limit l, u64 total)
{
	struct ki_limit_pair *p = &ki_limits[l];

	total = min_t(u64, total, KI_UNSET - 1);
	if (p->session == KI_UNSET)
		p->session = total - total / 4;
	if (p->user == KI_UNSET)
		p->user = total - total / 8;
}

int ki_limits_init(void)
{
	ki_limit_total(KI_LIMIT_SESSIONS, KI_SESSIONS);
	ki_limit_total(KI_LIMIT_HEAP, KI_HEAP_SIZE);
	ki_limit_total(KI_LIMIT_WINDOWS, KI_HEAP_SIZE / KI_PATCH_LEAST);
	ki_limit_total(KI_LIMIT_CHUNKS, KI_HEAP_SIZE / KI_CHUNK_LEAST);
	ki_limit_total(KI_LIMIT_PAGES, ki_pages_total());
	return 0;
}

static struct ki_user *user_of(kuid_t uid)
{
	struct ki_user *u;

	list_for_each_entry (u, &ki_users, list)
		if (uid_eq(u->uid, uid))
			return u;
	u = kzalloc(sizeof(*u), GFP_KERNEL_ACCOUNT);
	if (!u)
		return NULL;
	u->uid = uid;
	list_add(&u->list, &ki_users);
	return u;
}

/* Once nothing is charged to them. */
static void drop_user(struct ki_user *u)
{
	if (u->charged)
		return;
	list_del(&u->list);
	kfree(u);
}

static bool is_over(const struct ki_account *a, enum ki_limit l, u64 n)
{
	return a->used[l] + n > READ_ONCE(ki_limits[l].session) ||
	       a->user->used[l] + n > READ_ONCE(ki_limits[l].user);
}

int ki_account_check(struct ki_account *a, enum ki_limit l, u64 n, u32 *reason)
{
	lockdep_assert_held(&ki_lock);
	if (!n || !is_over(a, l, n) || capable(CAP_SYS_RESOURCE))
		return 0;
	*reason = ki_limit_reasons[l];
	return -EDQUOT;
}

void ki_account_add(struct ki_account *a, enum ki_limit l, u64 n)
{
	lockdep_assert_held(&ki_lock);
	a->used[l] += n;
	a->charged += n;
	a->user->used[l] += n;
	a->user->charged += n;
}

int ki_account_take(struct ki_account *a, enum ki_limit l, u64 n, u32 *reason)
{
	int err = ki_account_check(a, l, n, reason);

	lockdep_assert_held(&ki_lock);
	if (!err)
		ki_account_add(a, l, n);
	return err;
}

u64 ki_account_used(const struct ki_account *a, enum ki_limit l)
{
	lockdep_assert_held(&ki_lock);
	return a->used[l];
}

void ki_account_give(struct ki_account *a, enum ki_limit l, u64 n)
{
	lockdep_assert_held(&ki_lock);
	a->used[l] -= n;
	a->charged -= n;
	a->user->used[l] -= n;
	a->user->charged -= n;
	drop_user(a->user);
	if (!a->charged)
		kfree(a);
}

int ki_account_new(struct ki_account **out)
{
	struct ki_account *a;
	u32 unsaid;
	int err;

	lockdep_assert_held(&ki_lock);
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	if (!a)
		return -ENOMEM;
	a->user = user_of(current_uid());
	err = a->user ? ki_account_take(a, KI_LIMIT_SESSIONS, 1, &unsaid) : -ENOMEM;
	if (!err) {
		*out = a;
		return 0;
	}
	if (a->user)
		drop_user(a->user);
	kfree(a);
	return err;
}
