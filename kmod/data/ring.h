/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings: their memory and what user space sees of it (ring.c), and writing (record.c).
 */
#ifndef KI_RING_H
#define KI_RING_H

#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/wait.h>

#include "ki.h"

#define KI_RINGS 256 /* at once, those of sessions that have just ended included */

/* The buffer of one CPU, which only that CPU writes. */
struct ki_ring_cpu {
	u64 reserved; /* position after the last record that has been begun */
	u32 nest;     /* records that are being written, one in the middle of the other */
	bool newest;
	u64 size;	 /* bytes of data */
	u64 mask;	 /* that less 1 */
	const u64 *keep; /* what is there from this position on must stay */
	const u64 *tail; /* user space's: whatever it likes */
	struct ki_ring_head *head;
	u8 *data; /* the first page stands once more after the last */
	u64 wake;
	u64 woken;	/* the tail for which readers have been woken */
	bool waking[4]; /* by level: task, softirq, interrupt, NMI */
	struct irq_work work;
	wait_queue_head_t *readers;
};

static_assert(KI_RINGS <= 1 << 8); /* KI_HIT */

/* ring.c */
struct file;
struct poll_table_struct;
struct vm_area_struct;
int ki_ring_init(void);
int __must_check ki_ring_check(const struct ki_session *s, struct ki_ring *req)
	__must_hold(&ki_lock);
int __must_check ki_ring_take(struct ki_session *s, struct ki_ring *req)
	__must_hold(&ki_lock); /* one that has been checked */
bool ki_ring_own(const struct ki_session *s, u64 n) __must_hold(&ki_lock);
void ki_ring_info(struct ki_info *info) __must_hold(&ki_lock);
/* These without ki_lock. */
int __must_check ki_ring_map(struct ki_session *s, struct vm_area_struct *vma);
int __must_check ki_ring_map_tails(struct ki_session *s, struct vm_area_struct *vma);
__poll_t ki_ring_poll(struct ki_session *s, struct file *file, struct poll_table_struct *wait);

/* helpers_entry.S: wake who polls, for this tail. It keeps all registers but %rax. */
void ki_ring_wake(struct ki_ring_cpu *c, u64 tail);

/* record.c: a record of n words, at most KI_RECORD_WORDS, into this CPU's buffer. False: lost. */
bool ki_record_put(u32 ring, u32 id, const u64 *words, u32 n);

/* By number. One that code may use is there. */
extern struct ki_ring_cpu __percpu *ki_ring_cpus[KI_RINGS];

#endif
