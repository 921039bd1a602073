/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads' words: who has which block (threads.c), where blocks come from (pool.c), and whose the
 * words are (words.c).
 */
#ifndef KI_THREADS_H
#define KI_THREADS_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "ki.h"

#define KI_THREAD_WORDS 1024

/* A block, and the thread it belongs to. */
struct ki_thread {
	struct task_struct *task; /* NULL: no task's */
	struct ki_thread *next;	  /* in its chain, or among the free */
	u64 *words;		  /* KI_THREAD_WORDS; of a free block all 0 */
	u64 clock;		  /* the thread's own, when it last stopped to run */
	u64 run; /* lower KI_RUN_BITS: 1 + the CPU it runs on, 0: none; above: times that changed */
};

#define KI_RUN_BITS 16

/* What code finds by %gs about the thread that runs: KI_SELF_WORDS, KI_SELF_CLOCK. */
struct ki_here {
	u64 *words;
	u64 clock;
	struct ki_thread *thread; /* whose words these are; NULL: no thread's */
	u64 wordless;
};
DECLARE_PER_CPU(struct ki_here, ki_here);

/* threads.c */
int ki_threads_init(void);
void ki_threads_exit(void); /* after ki_threads_stop */
int __must_check ki_threads_start(void)
	__must_hold(&ki_lock); /* on return all CPUs have found the words of who runs there */
void ki_threads_stop(void)
	__must_hold(&ki_lock); /* no code has any words; not started is allowed */
u64 ki_threads_wordless(void);
/* The thread's own clock now; without ki_lock. */
u64 ki_thread_clock(const struct ki_thread *t);

/* pool.c */
extern raw_spinlock_t ki_pool_lock; /* interrupts off; nothing is called that may wake */
int __must_check ki_pool_start(void);
void ki_pool_stop(void);	      /* no taker or giver is left */
struct ki_thread *ki_pool_take(void); /* ki_pool_lock held; its words are 0; NULL: there are none */
void ki_pool_give(struct ki_thread *t); /* ki_pool_lock held; its words are 0 */
/* All blocks there are, free ones too. May sleep. */
void ki_pool_each(void (*each)(struct ki_thread *t, void *arg), void *arg);

#endif
