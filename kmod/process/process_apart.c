// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the threads of a process told apart by the word at their FS base? The C library's have that
 * base itself there, as the ABI says, from before they begin until they have ended.
 *
 * No thread is stopped. A base is read where the kernel keeps it: it has been written when a thread
 * is made (CLONE_SETTLS) and by arch_prctl(). One that a thread has changed by an instruction of
 * its own is known when it has been off its CPU; the C library changes none so.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "array.h"
#include "process/process.h"
#include "user.h"

#define KI_MORE_THREADS 64 /* may be born between the count and the list */

/* 0: the thread has a segment of its own, and the base is elsewhere. */
static unsigned long base_of(const struct task_struct *t)
{
	return t->thread.fsindex ? 0 : READ_ONCE(t->thread.fsbase);
}

/* Of all that run code of its process; how many, `room` if these are too many. */
static u32 list_bases(struct task_struct *of, unsigned long *bases, u32 room)
{
	struct task_struct *t;
	u32 n = 0;

	rcu_read_lock();
	for_each_thread(of, t) if (n < room && !(READ_ONCE(t->flags) & PF_EXITING)) bases[n++] =
		base_of(t);
	rcu_read_unlock();
	return n;
}

static bool is_there(struct task_struct *of, unsigned long base)
{
	unsigned long word;

	return base && access_process_vm(of, base, &word, sizeof(word), 0) == sizeof(word) &&
	       word == base;
}

bool ki_process_are_apart(struct task_struct *of)
{
	const u32 room = get_nr_threads(of) + KI_MORE_THREADS;
	unsigned long *bases = ki_array(room, sizeof(*bases), KI_GFP);
	u32 n = bases ? list_bases(of, bases, room) : 0, i;
	bool apart = n && n < room;

	for (i = 0; apart && i < n; i++) {
		apart = is_there(of, bases[i]);
		cond_resched();
	}
	ki_array_free(bases);
	return apart;
}
