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
	u64 reserved; /* position behind the last record that has been begun */
	u32 nest;     /* records that are being written, one in the middle of the other */
	bool newest;
	u64 size;	 /* bytes of data */
	u64 mask;	 /* that less 1 */
	const u64 *keep; /* what is there from this position on must stay */
	const u64 *tail; /* user space's: whatever it likes */
	struct ki_ring_head *head;
	u8 *data; /* the first page stands once more behind the last */
	u64 wake;
	u64 woken;	/* the tail for which readers have been woken */
	bool waking[4]; /* by level: task, softirq, interrupt, NMI */
	struct irq_work work;
	wait_queue_head_t *readers;
};

/* helpers_entry.S: wake who polls, for this tail. It keeps all registers but %rax. */
void ki_ring_wake(struct ki_ring_cpu *c, u64 tail);

/* record.c: a record of n words, at most KI_RECORD_WORDS, into this CPU's buffer. False: lost. */
bool ki_record_put(u32 ring, u32 id, const u64 *words, u32 n);

/* By number. One that code may use is there. */
extern struct ki_ring_cpu __percpu *ki_ring_cpus[KI_RINGS];

#endif
