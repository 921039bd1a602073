// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that wait at a breakpoint, so that something can be done before they go on: a library has
 * been mapped, and none of it has run.
 *
 * Where a breakpoint is met nothing may sleep. The thread waits before it returns to user mode,
 * where it holds nothing of the kernel's. Several sessions may have a hold there. Each of these is
 * a piece of work of the thread's, and they are done one after the other. So all sessions are told
 * before the first, and all holds have the same end: who is let go last decides.
 *
 * Who waits for the thread (poll, the end of its session) is in a queue that outlives all
 * processes: once a hold is free, its thread does not touch it any more. Then the thread executes
 * some instructions of the driver's yet, for which the driver's end waits.
 */
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "ki.h"
#include "process/process.h"
#include "symbols.h"

enum ki_hold_state {
	KI_HOLD_FREE,
	KI_HOLD_WAITS, /* a thread has met the breakpoint */
	KI_HOLD_GOES,
};

static DECLARE_WAIT_QUEUE_HEAD(ki_holds);
static bool ki_held_any; /* since the driver was loaded */

static void wait_there(struct callback_head *work)
{
	struct ki_hold *h = container_of(work, struct ki_hold, work);
	long left = h->until - jiffies;

	wake_up_all(&ki_holds);
	if (left > 0)
		wait_event_killable_timeout(
			ki_holds, atomic_read(&h->state) == KI_HOLD_GOES || READ_ONCE(h->over),
			left);
	if (atomic_cmpxchg(&h->state, KI_HOLD_WAITS, KI_HOLD_GOES) == KI_HOLD_WAITS &&
	    !fatal_signal_pending(current))
		WRITE_ONCE(h->late, true);
	atomic_set_release(&h->state, KI_HOLD_FREE);
	wake_up_all(&ki_holds);
}

void ki_hold_init(struct ki_hold *h)
{
	init_task_work(&h->work, wait_there);
}

void ki_hold_begin(struct ki_hold *h)
{
	if (READ_ONCE(h->over) ||
	    atomic_cmpxchg(&h->state, KI_HOLD_FREE, KI_HOLD_WAITS) != KI_HOLD_FREE)
		return;
	WRITE_ONCE(ki_held_any, true);
	h->until = jiffies + msecs_to_jiffies(KI_PROCESS_HOLD_MS);
	if (ki_call(task_work_add)(current, &h->work, TWA_RESUME))
		atomic_set(&h->state, KI_HOLD_FREE); /* it ends */
}

void ki_hold_end(struct ki_hold *h)
{
	WRITE_ONCE(h->over, true);
	wake_up_all(&ki_holds);
}

void ki_hold_gone(struct ki_hold *h)
{
	ki_hold_end(h);
	wait_event(ki_holds, atomic_read_acquire(&h->state) == KI_HOLD_FREE);
}

int ki_process_go(struct ki_request *q)
{
	struct ki_process *p = q->session->process;

	lockdep_assert_held(&ki_lock);
	if (!p)
		return ki_refuse(&q->arg.process_go.reason, KI_R_BAD_REQUEST);
	/* Who is told that one was late has not looked for the next one yet, which waits on. */
	if (xchg(&p->hold.late, false) ||
	    atomic_cmpxchg(&p->hold.state, KI_HOLD_WAITS, KI_HOLD_GOES) != KI_HOLD_WAITS)
		return -ESRCH;
	wake_up_all(&ki_holds);
	return 0;
}

__poll_t ki_hold_poll(const struct ki_process *p, struct file *file, struct poll_table_struct *wait)
{
	poll_wait(file, &ki_holds, wait);
	if (atomic_read(&p->hold.state) == KI_HOLD_WAITS || READ_ONCE(p->hold.late))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

void ki_holds_exit(void)
{
	if (ki_held_any)
		ki_quiesce();
}
