// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retired patches and numbers: out of the text, and given back when no task can use them any more.
 *
 * What is taken out is in no task's way at once. But a task may still be inside a patch (it was
 * preempted there), about to write a counter. So patches, counters and modules are retired first:
 * a piece of work waits until no task can be there and gives the space back. A task that sleeps in
 * a fault which it took in a patch is not waited for: its patch stays, with its counters, and is
 * looked at again later; until then the module cannot be unloaded. It cannot from the moment a
 * patch is retired in which a task may sleep: after the module has begun to go nothing keeps it,
 * and its end would have to wait for a page that may never come.
 *
 * Numbers (counters, words and all else of that kind) are kept while a patch is left of their time:
 * one that was built before they were retired, and retired after they had been taken. So a task
 * that sleeps for days keeps what its patch may use, and nothing that came later.
 *
 * The module of a replacement, or of a function that a chunk calls, is held as long as the patch: a
 * task may be about to jump there. One with copies of the kernel's functions (KI_COPIES_PREFIX) is
 * held until no task is in them: tasks are looked for there as they are in patches. When it is
 * retired all patches that lead there have been, or are before ki_lock is let go. reclaim() has all
 * of them, so it alone judges whether the module may go.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "heap/rows.h"
#include "retire/retire.h"
#include "watch/held.h"
#include "watch/who.h"
#include "yield.h"

#define KI_RECLAIM_SOON	 10 /* milliseconds */
#define KI_RECLAIM_FIRST 200
#define KI_RECLAIM_LAST	 6400
#define KI_COPIES_MOST	 16 /* modules that are looked for at once */
#define KI_LIVES	 16 /* times, of patches that are left; more are taken together */

struct ki_retired_patch {
	struct list_head list;
	struct ki_patch patch;
	u64 gone;
	struct module *owner; /* of what the patch may lead to */
	bool occupied;
	unsigned long at;      /* of a module: where one was found */
	struct ki_sleeper who; /* one that was found there */
};

static LIST_HEAD(ki_retired);	       /* patches */
static LIST_HEAD(ki_examined);	       /* those that are being looked at */
static DEFINE_MUTEX(ki_examined_lock); /* for them, inside ki_lock */
static LIST_HEAD(ki_retired_runs);     /* counters, variables and all else that is numbered */
static DECLARE_WAIT_QUEUE_HEAD(ki_reclaimed);
static u64 ki_runs_asked,
	ki_runs_looked; /* runs that were retired; those that have been looked at */
static atomic64_t ki_ways_freed = ATOMIC64_INIT(0);
static unsigned int ki_pause = KI_RECLAIM_FIRST; /* before what is left is looked at again */
static bool ki_later;				 /* reclaim() is to come only after such a pause */
static void reclaim(struct work_struct *unused);
static DECLARE_DELAYED_WORK(ki_reclaim_work, reclaim);

static bool ki_patches_pinned;
static void (*ki_space_back)(void);

/* The addresses of a look where tasks are, in order. They may be many, but the places are few. */
#define KI_SIGHTED 512
static struct {
	u32 n;
	bool unknown; /* there may be a task anywhere */
	bool taken;   /* a task may return to any place from which a call was made */
	unsigned long ip[KI_SIGHTED];
	struct ki_sleeper who[KI_SIGHTED];
} ki_sighted;

/* The first that is not below addr. */
static u32 sighted_from(unsigned long addr)
{
	u32 lo = 0, hi = ki_sighted.n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (ki_sighted.ip[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void note_sighted(void *unused, unsigned long ip, const struct task_struct *t)
{
	u32 i = sighted_from(ip);

	ki_sighted.taken |= ip == KI_FAULTS_ANYWHERE;
	if (ip == KI_FAULTS_ANYWHERE || ip - (unsigned long)ki_returned < KI_RETURNS)
		return; /* no patch */
	if (i < ki_sighted.n && ki_sighted.ip[i] == ip)
		return;
	if (ip == KI_FAULTS_UNKNOWN || ki_sighted.n == KI_SIGHTED) {
		ki_sighted.unknown = true;
		return;
	}
	memmove(ki_sighted.ip + i + 1, ki_sighted.ip + i, (ki_sighted.n - i) * sizeof(ip));
	memmove(ki_sighted.who + i + 1, ki_sighted.who + i,
		(ki_sighted.n - i) * sizeof(ki_sighted.who[0]));
	ki_sighted.ip[i] = ip;
	ki_sleeper_note(&ki_sighted.who[i], t);
	ki_sighted.n++;
}

static bool is_occupied(const struct ki_patch *p, struct ki_sleeper *who)
{
	u32 i = sighted_from(p->addr);

	if (i < ki_sighted.n && ki_sighted.ip[i] - p->addr < p->len) {
		*who = ki_sighted.who[i];
		return true;
	}
	return (p->faults && ki_sighted.unknown) || (p->calls && ki_sighted.taken);
}

/* Is a task in the module's own code, or will one return there? */
static bool is_inside(struct ki_retired_patch *g)
{
	u32 i;

	for (i = 0; i < ki_sighted.n; i++) {
		if (!within_module(ki_sighted.ip[i], g->owner))
			continue;
		g->at = ki_sighted.ip[i];
		g->who = ki_sighted.who[i];
		return true;
	}
	return ki_sighted.unknown || ki_sighted.taken;
}

/*
 * The library's own modules have copies of the kernel's functions, in which tasks sleep as in the
 * originals. A user that loads another module to replace functions knows when it may go.
 */
static bool is_copies(const struct module *m)
{
	return m && strstarts(m->name, KI_COPIES_PREFIX);
}

/* How many different ones are retired: some of them. */
static u32 find_copies(const struct list_head *patches, struct module **out)
{
	const struct ki_retired_patch *g;
	u32 i, n = 0;

	list_for_each_entry (g, patches, list) {
		if (!is_copies(g->owner))
			continue;
		for (i = 0; i < n && out[i] != g->owner; i++)
			;
		if (i == n && n < KI_COPIES_MOST)
			out[n++] = g->owner;
	}
	return n;
}

/* Of those for which there was no room no look was taken. */
static bool was_looked_for(const struct module *m, struct module *const *copies, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (copies[i] == m)
			return true;
	return false;
}

/* Is there a patch in which a task sleeps? */
static bool find_occupied(struct list_head *patches)
{
	struct module *copies[KI_COPIES_MOST];
	u32 ncopies = find_copies(patches, copies);
	bool any = ncopies;
	struct ki_retired_patch *g;

	list_for_each_entry (g, patches, list) {
		any |= g->patch.faults;
		ki_yield();
	}
	ki_sighted.n = 0;
	ki_sighted.unknown = ki_sighted.taken = false;
	if (any)
		ki_faults_find(note_sighted, NULL, copies, ncopies);
	any = false;
	mutex_lock(&ki_examined_lock);
	list_for_each_entry (g, patches, list) {
		if (is_copies(g->owner))
			g->occupied = !was_looked_for(g->owner, copies, ncopies) || is_inside(g);
		else
			g->occupied = is_occupied(&g->patch, &g->who);
		/* Copies write no counter, and lead to no other module. */
		any |= g->occupied && !is_copies(g->owner);
		ki_yield();
	}
	mutex_unlock(&ki_examined_lock);
	return any;
}

/* No other code changes the list. What stays in it is occupied. */
static void free_patches(struct list_head *patches)
{
	struct ki_retired_patch *g, *next;
	bool occupied;

	ki_step("patches taken");
	ki_quiesce();
	ki_step("patches waited for");
	occupied = find_occupied(patches);
	list_for_each_entry_safe (g, next, patches, list) {
		if (g->occupied || (g->owner && occupied))
			continue;
		mutex_lock(&ki_examined_lock);
		list_del(&g->list);
		mutex_unlock(&ki_examined_lock);
		if (g->patch.addr) {
			if (g->patch.faults && g->patch.ways)
				atomic64_inc(&ki_ways_freed);
			ki_patch_free(&g->patch);
		}
		module_put(g->owner);
		kfree(g);
		ki_step("patch freed");
		ki_yield();
	}
	ki_step("patches freed");
	ki_text_flush_heap();
	ki_step("heap flushed");
}

/* Under ki_lock. The caller has a descriptor open, so the module is not going yet. */
static void pin_patches(void)
{
	if (!ki_patches_pinned)
		ki_patches_pinned = try_module_get(THIS_MODULE);
}

/* Under ki_lock: these are looked at again later. */
static void put_back(struct list_head *patches)
{
	lockdep_assert_held(&ki_lock);
	if (list_empty(patches))
		return;
	list_splice_init(patches, &ki_retired);
	if (queue_delayed_work(system_wq, &ki_reclaim_work, msecs_to_jiffies(ki_pause))) {
		ki_later = true;
		ki_pause = min(ki_pause * 2, (unsigned int)KI_RECLAIM_LAST);
	}
	pin_patches();
}

static void unpin_patches(void)
{
	if (!ki_patches_pinned || !list_empty(&ki_retired))
		return;
	module_put(THIS_MODULE);
	ki_patches_pinned = false;
}

/* Something new is retired. */
static void reclaim_soon(void)
{
	unsigned long soon = msecs_to_jiffies(KI_RECLAIM_SOON);

	if (ki_later)
		mod_delayed_work(system_wq, &ki_reclaim_work, soon);
	else
		queue_delayed_work(system_wq, &ki_reclaim_work, soon);
	ki_later = false;
	ki_pause = KI_RECLAIM_FIRST;
}

/* The times of the patches that are left, which are in the order in which they were retired. */
static u32 find_lives(const struct list_head *left, struct ki_life *lives)
{
	const struct ki_retired_patch *g;
	u32 n = 0;

	list_for_each_entry (g, left, list) {
		if (!g->patch.addr)
			continue;
		if (!n || (g->patch.born >= lives[n - 1].gone && n < KI_LIVES))
			lives[n++] = (struct ki_life){g->patch.born, g->gone};
		lives[n - 1].born = min(lives[n - 1].born, g->patch.born);
		lives[n - 1].gone = max(lives[n - 1].gone, g->gone);
	}
	return n;
}

static void reclaim(struct work_struct *unused)
{
	struct ki_life lives[KI_LIVES];
	struct ki_who who;
	LIST_HEAD(runs);
	u64 asked;

	mutex_lock(&ki_lock);
	asked = ki_runs_asked;
	list_splice_init(&ki_retired, &ki_examined);
	list_splice_init(&ki_retired_runs, &runs);
	mutex_unlock(&ki_lock);

	free_patches(&ki_examined);

	mutex_lock(&ki_lock);
	/* A task that is left in a patch may write what is numbered. */
	ki_runs_drop_but(&runs, lives, find_lives(&ki_examined, lives));
	list_splice(&runs, &ki_retired_runs);
	put_back(&ki_examined);
	unpin_patches();
	WRITE_ONCE(ki_runs_looked, asked);
	ki_step("runs dropped");
	ki_who_begin(&who, NULL);
	if (ki_space_back)
		ki_space_back();
	ki_who_end();
	mutex_unlock(&ki_lock);
	ki_who_tell(&who);
	wake_up_all(&ki_reclaimed);
}

static bool tell_patch(struct ki_held_walk *w, const struct list_head *patches)
{
	const struct ki_retired_patch *g;

	list_for_each_entry (g, patches, list) {
		if (!g->occupied || !ki_held_is_next(w))
			continue;
		w->row->kind = KI_HELD_PATCH;
		w->row->addr = g->owner ? g->at : g->patch.addr;
		w->row->bytes = g->owner ? 0 : ki_heap_bytes(g->patch.block);
		ki_held_sleeper(w->row, &g->who);
		return true;
	}
	return false;
}

bool ki_held_retired(struct ki_held_walk *w)
{
	bool is_it;

	lockdep_assert_held(&ki_lock);
	mutex_lock(&ki_examined_lock);
	is_it = tell_patch(w, &ki_retired) || tell_patch(w, &ki_examined);
	mutex_unlock(&ki_examined_lock);
	return is_it;
}

static void retire(struct ki_retired_patch what)
{
	struct ki_retired_patch *g;

	while (!(g = kmalloc(sizeof(*g), GFP_KERNEL)))
		cond_resched(); /* retiring cannot be refused */
	what.gone = ki_moment();
	if (what.patch.bugs)
		ki_bugs_retire(what.patch.addr, what.patch.addr + what.patch.len);
	*g = what;
	list_add_tail(&g->list, &ki_retired);
	if (what.patch.faults || is_copies(what.owner))
		pin_patches();
	ki_step("retired");
	reclaim_soon();
}

void ki_retire_patch(struct ki_patch p)
{
	lockdep_assert_held(&ki_lock);
	if (p.addr)
		retire((struct ki_retired_patch){.patch = p});
}

void ki_retire_module(struct module *m)
{
	lockdep_assert_held(&ki_lock);
	if (m)
		retire((struct ki_retired_patch){.owner = m});
}

u64 ki_retire_ways_freed(void)
{
	return atomic64_read(&ki_ways_freed);
}

/* The end of a module cannot fail: if a task sleeps in a fault, it is waited until it is out. */
void ki_retire_finish(void)
{
	unsigned int pause = KI_RECLAIM_FIRST;
	bool left;

	do {
		flush_delayed_work(&ki_reclaim_work);
		mutex_lock(&ki_lock);
		left = !list_empty(&ki_retired);
		mutex_unlock(&ki_lock);
		if (left)
			msleep(pause);
		pause = min(pause * 2, (unsigned int)KI_RECLAIM_LAST);
	} while (left);
}

void ki_retire_runs(struct list_head *runs)
{
	lockdep_assert_held(&ki_lock);
	if (list_empty(runs))
		return;
	ki_runs_gone(runs);
	list_splice_tail_init(runs, &ki_retired_runs);
	ki_runs_asked++;
	reclaim_soon();
}

int ki_retire_wait_runs(void)
{
	u64 asked = ki_runs_asked;
	int err;

	lockdep_assert_held(&ki_lock);
	if (ki_runs_looked == asked)
		return -ENOENT;
	mutex_unlock(&ki_lock);
	err = wait_event_killable(ki_reclaimed, READ_ONCE(ki_runs_looked) >= asked);
	mutex_lock(&ki_lock);
	return err;
}

void ki_retire_init(void (*space_back)(void))
{
	ki_space_back = space_back;
}
