// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return trampolines: where a function returns to that a tail jump went to, so that code can run
 * then.
 *
 * A tail jump leaves no trace: the other function returns to the caller. For KI_RETURNED the patch
 * (patch.c) pushes one more return address before it jumps, a byte of `ki_returned`. These bytes
 * are breakpoints for good; each belongs to one jump, and the trap table (trap.c) tells where it
 * leads: to the chunks in the jump's patch, which end in a return to the caller.
 *
 * Why the address is none of the patch: a task may sleep in the other function for ever, and a
 * patch must be free to go, or to be replaced by another one. Why it is none of the function's own
 * text, which would look nicer in a trace: on the kernels we know there is no place. What the
 * compiler leaves between functions are nops. To write a breakpoint there would leave the text
 * changed as long as a task sleeps. The breakpoints after a return lie where the springboard of
 * the return's window is written. A function that does nothing but jump has no return. So a trace
 * from the other function shows ki_returned [kerninst], then the caller: one row of the unwinder
 * (orc.c) says of all these bytes what holds at the beginning of a function: only the return
 * address is on the stack. That is so because nothing else is there at the jump (tail.c).
 *
 * Taking out. When the chunks of a jump have gone, no task sets out any more, but some may still be
 * away. Then the breakpoint leads nowhere, which means: it does the return itself (trap.c), and the
 * patch goes like any other. The return trampoline is left over: its byte is not used again, and
 * the module cannot be unloaded, until no task is left that comes back there.
 *
 * How we know that: by looking at all tasks' stacks (faults.c), not by counting who leaves and who
 * comes back. A count costs two more instructions for each pass. It is wrong for ever when a task
 * ends while it is away. (exit is a function that does not return, and may be deep in another.) The
 * look comes after the wait. Then no task is in the old patch, about to push, but one that sleeps
 * in a fault there. While any does so in a patch that is not in use any more, nothing is given
 * back. (If patches with return trampolines were given back during the look it is not known any
 * more which one a task was in.) Idle tasks are looked at too. It visits every task, so it is
 * repeated less and less often. One kind of task has no number any more and is not seen: who ends,
 * and has been released (release_task). Older kernels' wait covers it to its end, since 6.9 it does
 * not while it sleeps. It returns like any other, by way of another jump's chunks if its byte has
 * been used again (one count too many). There is no breakpoint only if the module is unloaded while
 * it sleeps below a counted jump there (doc/known-issues.md).
 *
 * If we die here: the module stays loaded and the breakpoints lead on. An interrupt or an NMI at
 * the breakpoint, or in its handler, is nothing that a springboard of one byte does not know, too.
 * The stack grows by one word for each time the function is away; that a ring of tail jumps does
 * not pile them up is proved in tail.c.
 */
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/objtool.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <asm/linkage.h>

#include "compat.h"
#include "heap/rows.h"
#include "retire/retire.h"
#include "user.h"
#include "watch/held.h"
#include "yield.h"

#define KI_LOOK_SOON  10 /* milliseconds */
#define KI_LOOK_FIRST 200
#define KI_LOOK_LAST  6400
#define KI_IN_PATCHES 64

static DECLARE_BITMAP(ki_used, KI_RETURNS);
static DECLARE_BITMAP(ki_seen, KI_RETURNS);	   /* of the one look in progress */
static unsigned long ki_in_patches[KI_IN_PATCHES]; /* who is in patches, in this look */
static u32 ki_nin_patches;
static LIST_HEAD(ki_leftovers);
static LIST_HEAD(ki_looked_at); /* leftovers, during a look; others than it only read them */
static u32 ki_returns, ki_nleftovers;
static unsigned int ki_pause = KI_LOOK_FIRST; /* before what is left is looked at again */
static bool ki_later;			      /* look() is to come only after such a pause */
static struct ki_copy ki_form;
static void look(struct work_struct *unused);
static DECLARE_DELAYED_WORK(ki_look_work, look);

/* A return as this kernel makes them now: its bytes are copied. */
extern const u8 ki_plain_return[];
asm(".pushsection .text\n"
    ".type ki_plain_return, @function\n"
    "ki_plain_return:\n" ANNOTATE_NOENDBR "\n" ASM_RET
    ".size ki_plain_return, . - ki_plain_return\n"
    ".popsection\n");

const struct ki_copy *ki_return_form(void)
{
	return &ki_form;
}

u16 ki_return_take(struct ki_win *w, u8 insn, struct ki_return **out)
{
	unsigned long i = find_next_zero_bit(ki_used, KI_RETURNS, 1);
	struct ki_return *r;

	lockdep_assert_held(&ki_lock);
	list_for_each_entry (r, &w->returns, list) {
		if (r->insn != insn)
			continue;
		r->users++;
		*out = r;
		return KI_R_OK;
	}
	/* Not the first byte and not the last: the unwinder looks one before, or one after. */
	if (i >= KI_RETURNS - 1)
		return KI_R_RETURNS_FULL;
	r = kzalloc(sizeof(*r), KI_GFP);
	if (!r)
		return KI_R_NO_MEMORY;
	__set_bit(i, ki_used);
	ki_returns++;
	r->addr = (unsigned long)ki_returned + i;
	r->insn = insn;
	r->users = 1;
	list_add_tail(&r->list, &w->returns);
	*out = r;
	return KI_R_OK;
}

static void free_return(struct ki_return *r)
{
	__clear_bit(r->addr - (unsigned long)ki_returned, ki_used);
	ki_returns--;
	list_del(&r->list);
	kfree(r);
}

/* Something new is left over. What is to come soon is not put off: the next may always be near. */
static void look_soon(void)
{
	unsigned long soon = msecs_to_jiffies(KI_LOOK_SOON);

	if (ki_later)
		mod_delayed_work(KI_QUEUE_HERE, &ki_look_work, soon);
	else
		queue_delayed_work(KI_QUEUE_HERE, &ki_look_work, soon);
	ki_later = false;
	ki_pause = KI_LOOK_FIRST;
}

/* A caller that takes chunks out holds the device open, and so the module. */
static void leave_over(struct ki_return *r)
{
	if (!ki_nleftovers++)
		__module_get(THIS_MODULE);
	list_move_tail(&r->list, &ki_leftovers);
	look_soon();
}

void ki_return_put(struct ki_return *r)
{
	lockdep_assert_held(&ki_lock);
	if (!r || --r->users)
		return;
	if (r->live)
		leave_over(r);
	else
		free_return(r);
}

u32 ki_return_swaps(const struct ki_change *c, struct ki_swap *s)
{
	u32 i, n = 0;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < c->group->n; i++) {
		struct ki_return *r;

		ki_yield();
		list_for_each_entry (r, &c->group->v[i]->returns, list) {
			unsigned long via = 0;

			if (c->patch.addr && r->next_at)
				via = c->patch.addr + r->next_at;
			if (s)
				s[n] = (struct ki_swap){.addr = r->addr, .via = via, .trap = via};
			n++;
		}
	}
	return n;
}

void ki_return_record(struct ki_group *g)
{
	struct ki_return *r;
	u32 i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < g->n; i++) {
		list_for_each_entry (r, &g->v[i]->returns, list)
			r->live = true;
		ki_yield();
	}
}

void ki_return_info(struct ki_info *info)
{
	lockdep_assert_held(&ki_lock);
	info->returns = ki_returns;
	info->leftovers = ki_nleftovers;
}

/* Many may sleep at few places. */
static void note_in_patch(unsigned long ip)
{
	u32 i;

	for (i = 0; i < ki_nin_patches; i++)
		if (ki_in_patches[i] == ip)
			return;
	if (ki_nin_patches < KI_IN_PATCHES)
		ki_in_patches[ki_nin_patches++] = ip;
	else
		bitmap_fill(ki_seen, KI_RETURNS);
}

/* The list does not change during a look. */
static void note_sleeper(unsigned long ip, const struct task_struct *t)
{
	struct ki_return *r;

	list_for_each_entry (r, &ki_looked_at, list)
		if (r->addr == ip)
			ki_sleeper_note(&r->who, t);
}

static void mark_seen(void *unused, unsigned long ip, const struct task_struct *t)
{
	unsigned long i = ip - (unsigned long)ki_returned;

	note_sleeper(ip, t);

	if (ip == KI_FAULTS_ANYWHERE || ip == KI_FAULTS_UNKNOWN)
		bitmap_fill(ki_seen, KI_RETURNS);
	else if (i < KI_RETURNS)
		__set_bit(i, ki_seen);
	else
		note_in_patch(ip);
}

static bool is_in_use(unsigned long ip)
{
	const struct ki_patch *p;
	struct ki_win *w;

	for (w = ki_win_touching(0, ULONG_MAX); w; w = ki_win_next(w)) {
		p = &w->group->patch;
		if (w == w->group->v[0] && ip - p->addr < p->len)
			return true;
		ki_yield();
	}
	return false;
}

/*
 * Was a task in a patch that is retired? It may be about to set out. freed: ki_retire_ways_freed()
 * when the look began. Under ki_lock.
 */
static bool any_in_old_patch(u64 freed)
{
	u32 i;

	if (ki_nin_patches && freed != ki_retire_ways_freed())
		return true;
	for (i = 0; i < ki_nin_patches; i++)
		if (!is_in_use(ki_in_patches[i]))
			return true;
	return false;
}

static bool is_seen(const struct ki_return *r)
{
	return test_bit(r->addr - (unsigned long)ki_returned, ki_seen);
}

/* Under ki_lock. */
static void forget_unseen(void)
{
	struct ki_return *r, *next;

	list_for_each_entry_safe (r, next, &ki_looked_at, list) {
		if (is_seen(r))
			continue;
		free_return(r);
		if (!--ki_nleftovers)
			module_put(THIS_MODULE);
	}
	list_splice_init(&ki_looked_at, &ki_leftovers);
	if (list_empty(&ki_leftovers))
		return;
	if (queue_delayed_work(KI_QUEUE_HERE, &ki_look_work, msecs_to_jiffies(ki_pause))) {
		ki_later = true;
		ki_pause = min(ki_pause * 2, (unsigned int)KI_LOOK_LAST);
	}
}

static bool tell_return(struct ki_held_walk *w, const struct list_head *ways)
{
	const struct ki_return *r;

	list_for_each_entry (r, ways, list) {
		if (!ki_held_is_next(w))
			continue;
		w->row->kind = KI_HELD_TRAMPOLINE;
		w->row->addr = r->addr;
		ki_held_sleeper(w->row, &r->who);
		return true;
	}
	return false;
}

bool ki_held_return(struct ki_held_walk *w)
{
	lockdep_assert_held(&ki_lock);
	return tell_return(w, &ki_leftovers) || tell_return(w, &ki_looked_at);
}

static void look(struct work_struct *unused)
{
	u64 freed;

	mutex_lock(&ki_lock);
	list_splice_init(&ki_leftovers, &ki_looked_at);
	mutex_unlock(&ki_lock);
	if (list_empty(&ki_looked_at))
		return; /* the look before this one has them */

	ki_quiesce();
	freed = ki_retire_ways_freed();
	bitmap_zero(ki_seen, KI_RETURNS);
	ki_nin_patches = 0;
	ki_faults_find(mark_seen, NULL, NULL, 0);

	mutex_lock(&ki_lock);
	if (any_in_old_patch(freed))
		bitmap_fill(ki_seen, KI_RETURNS);
	forget_unseen();
	mutex_unlock(&ki_lock);
}

int ki_returns_init(void)
{
	u8 flow;

	return ki_copy_emit((unsigned long)ki_plain_return, ki_plain_return, KI_JMP_LEN, &ki_form,
			    &flow)
		       ? -ENOEXEC
		       : 0;
}

void ki_returns_exit(void)
{
	cancel_delayed_work_sync(&ki_look_work);
}
