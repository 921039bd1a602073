// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of what a session has done to a process: its text is given back.
 *
 * Another process's memory may be locked for as long as its own requests take: one that maps a
 * file of a file system in user space waits for that with its memory locked. So a task that ends a
 * session, or evicts some, waits a moment, and goes. What has not been given back then outlives its
 * session, is told as held (held.c), and keeps the driver from being unloaded.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "array.h"
#include "process/process.h"
#include "watch/held.h"

#define KI_END_MS 1000 /* for which an end, or an eviction, waits */

static atomic_t ki_ending; /* processes whose text is being given back */
static DECLARE_WAIT_QUEUE_HEAD(ki_ended);
static DEFINE_MUTEX(ki_outliving_lock);
static LIST_HEAD(ki_outliving); /* of ki_process.outlives */

static void free_process(struct ki_process *p)
{
	ki_spaces_end(p);
	ki_hold_gone(&p->hold);
	if (p->memory)
		fput(p->memory);
	ki_process_ranges_free(p);
	bitmap_free(p->given);
	ki_array_free(p->edits);
	kfree(p);
}

static void outlive(struct ki_process *p, bool outlives)
{
	mutex_lock(&ki_outliving_lock);
	if (outlives)
		list_add_tail(&p->outlives, &ki_outliving);
	else
		list_del_init(&p->outlives);
	mutex_unlock(&ki_outliving_lock);
}

/* The second of the two, who has it alone. Its session had a descriptor, which held the module. */
static void free_last(struct ki_process *p)
{
	outlive(p, false);
	free_process(p);
	module_put(THIS_MODULE);
}

static void give_back(struct work_struct *w)
{
	struct ki_process *p = container_of(w, struct ki_process, ender);
	bool now;

	mutex_lock(&p->lock);
	now = !p->over && p->n;
	if (!p->over) {
		ki_process_text_restore(p);
		ki_process_leave(p);
	}
	p->over = true;
	mutex_unlock(&p->lock);
	if (now)
		ki_process_changed(p, true);
	complete(&p->ended);
	if (atomic_dec_and_test(&ki_ending))
		wake_up_all(&ki_ended);
	if (atomic_xchg(&p->gone, 1))
		free_last(p);
}

void ki_process_end_init(struct ki_process *p)
{
	INIT_WORK(&p->ender, give_back);
	init_completion(&p->ended);
	INIT_LIST_HEAD(&p->outlives);
}

void ki_process_evict(struct ki_process *p)
{
	if (!p || atomic_xchg(&p->asked, 1))
		return;
	ki_hold_end(&p->hold);
	atomic_inc(&ki_ending);
	queue_work(ki_process_queue, &p->ender);
}

void ki_process_evicted(void)
{
	lockdep_assert_not_held(&ki_lock);
	wait_event_timeout(ki_ended, !atomic_read(&ki_ending), msecs_to_jiffies(KI_END_MS));
}

void ki_process_end(struct ki_process *p)
{
	if (!p)
		return;
	ki_process_evict(p);
	wait_for_completion_timeout(&p->ended, msecs_to_jiffies(KI_END_MS));
}

bool ki_held_process(struct ki_held_walk *w)
{
	struct ki_process *p, *is_it = NULL;

	lockdep_assert_held(&ki_lock);
	mutex_lock(&ki_outliving_lock);
	list_for_each_entry (p, &ki_outliving, outlives) {
		if (!ki_held_is_next(w))
			continue;
		w->row->kind = KI_HELD_PROCESS;
		w->row->addr = p->n ? p->edits[0].addr : 0;
		ki_held_sleeper(w->row, &p->who);
		w->row->reason = KI_R_PROCESS_LOCKED;
		w->row->count = ki_process_places(p);
		is_it = p;
		break;
	}
	mutex_unlock(&ki_outliving_lock);
	return is_it;
}

void ki_process_free(struct ki_process *p)
{
	if (!p)
		return;
	if (!atomic_read(&p->asked)) {
		free_process(p); /* it was no session's */
		return;
	}
	__module_get(THIS_MODULE);
	outlive(p, true);
	if (atomic_xchg(&p->gone, 1))
		free_last(p);
}
