// SPDX-License-Identifier: GPL-2.0-only
/*
 * What belongs to an open descriptor, and its end.
 *
 * When a session ends its chunks are taken out at once, but a task may still be inside a patch
 * (it was preempted there), about to write a counter. So patches and counters are buried first:
 * a piece of work waits until no task can be there and gives the space back. A task that sleeps
 * in a fault it took in a patch is not waited for: its patch stays buried, with all counters, and
 * is looked at again later; until then the module cannot be unloaded. It cannot from the moment a
 * patch is buried in which somebody may sleep: once a module goes nothing keeps it any more, and
 * its end would have to wait for a page that may never come.
 *
 * If another tool has written into one of our springboards meanwhile (a kprobe on top of it),
 * the window cannot be restored, and if the heap has no room, chunks stay in patches that others
 * need. Nobody runs them any more in either case (unsplice.c, mute.c), so the session is gone with
 * all that it had. Taking them out is tried again whenever a session begins or ends or a patch is
 * given back. As long as a window is left that belongs to nobody the module cannot be unloaded. A
 * host that has lost its last user may be left over in the same way.
 *
 * The module of a replacement, or of a function that a chunk calls, is held as long as the patch: a
 * task may be about to jump there. When it is buried all patches that lead there have been, or are
 * before ki_lock is let go. dig() has all of them, so it alone judges whether the module may go.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "held.h"
#include "limit.h"
#include "rows.h"
#include "who.h"

#define KI_DIG_SOON  10 /* milliseconds */
#define KI_DIG_FIRST 200
#define KI_DIG_LAST  6400

struct ki_grave {
	struct list_head list;
	struct ki_patch patch;
	struct module *owner; /* of what the patch may lead to */
	bool inhabited;
	struct ki_sleeper who; /* one that was found there */
};

static u32 ki_sessions;
static u64 ki_serial;
static LIST_HEAD(ki_graves);	  /* patches */
static LIST_HEAD(ki_opened);	  /* those that are being looked at */
static DEFINE_MUTEX(ki_opening);  /* for them, inside ki_lock */
static LIST_HEAD(ki_buried_runs); /* counters, variables and all else that is numbered */
static DECLARE_WAIT_QUEUE_HEAD(ki_dug);
static u64 ki_runs_asked, ki_runs_looked; /* burials of counters; those that have been looked at */
static atomic64_t ki_ways_freed = ATOMIC64_INIT(0);
static unsigned int ki_pause = KI_DIG_FIRST; /* before what is left is looked at again */
static bool ki_later;			     /* dig() is to come only after such a pause */
static void dig(struct work_struct *unused);
static DECLARE_DELAYED_WORK(ki_dig_work, dig);

static bool ki_stuck_pinned;
static bool ki_graves_pinned;

/* The addresses of a look where tasks are, in order. They may be many, but the places are few. */
#define KI_SIGHTED 512
static struct {
	u32 n;
	bool unknown; /* there may be somebody anywhere */
	bool taken;   /* somebody may return to any place from which a call was made */
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

static bool is_inhabited(const struct ki_patch *p, struct ki_sleeper *who)
{
	u32 i = sighted_from(p->addr);

	if (i < ki_sighted.n && ki_sighted.ip[i] - p->addr < p->len) {
		*who = ki_sighted.who[i];
		return true;
	}
	return (p->faults && ki_sighted.unknown) || (p->calls && ki_sighted.taken);
}

/* Is there a patch in which a task sleeps? */
static bool find_inhabited(struct list_head *graves)
{
	bool any = false;
	struct ki_grave *g;

	list_for_each_entry (g, graves, list) {
		any |= g->patch.faults;
		cond_resched();
	}
	ki_sighted.n = 0;
	ki_sighted.unknown = ki_sighted.taken = false;
	if (any)
		ki_faults_find(note_sighted, NULL);
	any = false;
	mutex_lock(&ki_opening);
	list_for_each_entry (g, graves, list) {
		g->inhabited = is_inhabited(&g->patch, &g->who);
		any |= g->inhabited;
		cond_resched();
	}
	mutex_unlock(&ki_opening);
	return any;
}

/* Nobody else changes the list. What stays in it is inhabited. */
static void free_graves(struct list_head *graves)
{
	struct ki_grave *g, *next;
	bool inhabited;

	ki_step("graves taken");
	ki_quiesce();
	ki_step("graves waited for");
	inhabited = find_inhabited(graves);
	list_for_each_entry_safe (g, next, graves, list) {
		if (g->inhabited || (g->owner && inhabited))
			continue;
		mutex_lock(&ki_opening);
		list_del(&g->list);
		mutex_unlock(&ki_opening);
		if (g->patch.addr) {
			if (g->patch.faults && g->patch.ways)
				atomic64_inc(&ki_ways_freed);
			ki_patch_free(&g->patch);
		}
		module_put(g->owner);
		kfree(g);
		ki_step("grave freed");
		cond_resched();
	}
	ki_step("graves freed");
	ki_text_flush_heap();
	ki_step("heap flushed");
}

/* Under ki_lock. Who buries has a descriptor open, so the module is not going yet. */
static void pin_graves(void)
{
	if (!ki_graves_pinned)
		ki_graves_pinned = try_module_get(THIS_MODULE);
}

/* Under ki_lock: these are looked at again later. */
static void put_back(struct list_head *graves)
{
	lockdep_assert_held(&ki_lock);
	if (list_empty(graves))
		return;
	list_splice_init(graves, &ki_graves);
	if (queue_delayed_work(system_wq, &ki_dig_work, msecs_to_jiffies(ki_pause))) {
		ki_later = true;
		ki_pause = min(ki_pause * 2, (unsigned int)KI_DIG_LAST);
	}
	pin_graves();
}

static void unpin_graves(void)
{
	if (!ki_graves_pinned || !list_empty(&ki_graves))
		return;
	module_put(THIS_MODULE);
	ki_graves_pinned = false;
}

/* Something new is buried. */
static void dig_soon(void)
{
	unsigned long soon = msecs_to_jiffies(KI_DIG_SOON);

	if (ki_later)
		mod_delayed_work(system_wq, &ki_dig_work, soon);
	else
		queue_delayed_work(system_wq, &ki_dig_work, soon);
	ki_later = false;
	ki_pause = KI_DIG_FIRST;
}

/* A window that is nobody's holds the module. */
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

static void take_out_again(void)
{
	ki_unsplice_again();
	if (ki_stuck_pinned)
		pin_stuck();
}

static void dig(struct work_struct *unused)
{
	struct ki_who who;
	LIST_HEAD(runs);
	u64 asked;

	mutex_lock(&ki_lock);
	asked = ki_runs_asked;
	list_splice_init(&ki_graves, &ki_opened);
	list_splice_init(&ki_buried_runs, &runs);
	mutex_unlock(&ki_lock);

	free_graves(&ki_opened);

	mutex_lock(&ki_lock);
	if (list_empty(&ki_opened)) {
		ki_runs_drop(&runs);
		unpin_graves();
	} else {
		list_splice(&runs, &ki_buried_runs);
		put_back(&ki_opened);
	}
	WRITE_ONCE(ki_runs_looked, asked);
	ki_step("runs dropped");
	ki_who_begin(&who, NULL);
	take_out_again(); /* space has come back */
	ki_who_end();
	mutex_unlock(&ki_lock);
	ki_who_tell(&who);
	wake_up_all(&ki_dug);
}

static bool tell_grave(struct ki_held_walk *w, const struct list_head *graves)
{
	const struct ki_grave *g;

	list_for_each_entry (g, graves, list) {
		if (!g->inhabited || !ki_held_is_next(w))
			continue;
		w->row->kind = KI_HELD_PATCH;
		w->row->addr = g->patch.addr;
		w->row->bytes = ki_heap_bytes(g->patch.block);
		ki_held_sleeper(w->row, &g->who);
		return true;
	}
	return false;
}

bool ki_held_grave(struct ki_held_walk *w)
{
	bool is_it;

	lockdep_assert_held(&ki_lock);
	mutex_lock(&ki_opening);
	is_it = tell_grave(w, &ki_graves) || tell_grave(w, &ki_opened);
	mutex_unlock(&ki_opening);
	return is_it;
}

static void bury(struct ki_grave what)
{
	struct ki_grave *g;

	while (!(g = kmalloc(sizeof(*g), GFP_KERNEL)))
		cond_resched(); /* burying cannot be refused */
	if (what.patch.bugs)
		ki_bugs_bury(what.patch.addr, what.patch.addr + what.patch.len);
	*g = what;
	list_add_tail(&g->list, &ki_graves);
	if (what.patch.faults)
		pin_graves();
	ki_step("buried");
	dig_soon();
}

void ki_bury_patch(struct ki_patch p)
{
	lockdep_assert_held(&ki_lock);
	if (p.addr)
		bury((struct ki_grave){.patch = p});
}

void ki_bury_module(struct module *m)
{
	lockdep_assert_held(&ki_lock);
	if (m)
		bury((struct ki_grave){.owner = m});
}

u64 ki_bury_ways_freed(void)
{
	return atomic64_read(&ki_ways_freed);
}

/* The end of a module cannot fail: if somebody sleeps in a fault, it is waited until he is out. */
void ki_bury_finish(void)
{
	unsigned int pause = KI_DIG_FIRST;
	bool left;

	do {
		flush_delayed_work(&ki_dig_work);
		mutex_lock(&ki_lock);
		left = !list_empty(&ki_graves);
		mutex_unlock(&ki_lock);
		if (left)
			msleep(pause);
		pause = min(pause * 2, (unsigned int)KI_DIG_LAST);
	} while (left);
}

static void bury_runs(struct list_head *runs)
{
	lockdep_assert_held(&ki_lock);
	if (list_empty(runs))
		return;
	list_splice_tail_init(runs, &ki_buried_runs);
	ki_runs_asked++;
	dig_soon();
}

int ki_bury_wait_runs(void)
{
	u64 asked = ki_runs_asked;
	int err;

	lockdep_assert_held(&ki_lock);
	if (ki_runs_looked == asked)
		return -ENOENT;
	mutex_unlock(&ki_lock);
	err = wait_event_killable(ki_dug, READ_ONCE(ki_runs_looked) >= asked);
	mutex_lock(&ki_lock);
	return err;
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
	take_out_again();
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
	bury_runs(&s->runs);
	ki_sessions--;
	ki_counters_end();
	if (!ki_sessions)
		ki_reserved_rest();
	ki_owner_end(s);
	ki_account_give(s->account, KI_LIMIT_SESSIONS, 1);
	kfree(s);
	ki_step("session ended");
}

u32 ki_session_count(void)
{
	lockdep_assert_held(&ki_lock);
	return ki_sessions;
}
