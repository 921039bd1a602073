/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing text that runs: text.c, with the breakpoints that stand meanwhile (trap.c) and the
 * kprobes that are held (probes.c).
 */
#ifndef KI_TEXT_H
#define KI_TEXT_H

#include <linux/types.h>

#include "uapi/kerninst.h"

/* text.c */
bool ki_text_is_emulated(void); /* QEMU executes this, on several CPUs */
struct ki_swap {
	unsigned long addr;
	u8 len; /* bytes that change, 1..KI_JMP_LEN; 0: a breakpoint is there for good */
	u8 now[KI_JMP_LEN];  /* bytes that must stand there */
	u8 then[KI_JMP_LEN]; /* bytes that will */
	/* Where a CPU goes that comes by meanwhile; 0: no CPU does (of a breakpoint for good: where
	 * it went before, and from the end of the swap on it leads nowhere). */
	unsigned long via;
	bool trap;   /* the first byte traps, leading to via, from now on */
	bool late;   /* of one byte: who comes by was inside before the springboard was */
	bool fresh;  /* nothing of ours stands there yet */
	bool wait;   /* tasks may be where bytes change */
	bool writes; /* text_poke loops in what is there: these come after all others */
};
/*
 * Swap all, otherwise in any order; all or nothing. -ESTALE: bytes of *bad are not `now`, or a
 * kprobe is there. Kprobes are held.
 */
int __must_check ki_text_swap(struct ki_swap *v, u32 n, u32 *bad);
/* Is a kprobe in [start, end), or so near before it that its jump could reach in? */
bool ki_text_probed(unsigned long start, unsigned long end);

/* At this very place? */
bool ki_text_probed_at(unsigned long addr);
/* Is a lock prefix there that the kernel may rewrite? */
bool ki_text_has_lock_prefix(unsigned long start, unsigned long end);
void ki_text_write_heap(unsigned long addr, const void *bytes, size_t len);
void ki_text_fill_heap(unsigned long addr, size_t len);
/* What has been written to the heap need not stand there before the next swap, or this. Before
 * memory of the heap is given back, this is called. */
void ki_text_flush_heap(void);

/* trap.c. A place in ki_returned that no trap is known of returns to the caller. */
struct ki_traps {
	u32 n;
	struct ki_trap {
		unsigned long addr;
		unsigned long via; /* 0 (in a change only): no breakpoint any more */
		bool late; /* an inner boundary: may trap by an invalid opcode; is counted */
	} v[];		   /* in order of address */
};
u64 ki_trap_late(void); /* how many */
int ki_trap_init(void);
void ki_trap_exit(void);
/*
 * From begin to end the breakpoints of all swaps lead somewhere too; from end on those that stay
 * do, and those that go do not. Free a change that has not begun, or when all CPUs have
 * synchronized since its end.
 */
struct ki_trap_change;
int __must_check ki_trap_prepare(const struct ki_swap *v, u32 n, struct ki_trap_change **out);
void ki_trap_begin(struct ki_trap_change *c);
void ki_trap_end(struct ki_trap_change *c);
void ki_trap_free(struct ki_trap_change *c);

/*
 * probes.c: no kprobe comes or goes between these two. Windows are made and recorded, or taken
 * out and forgotten, inside.
 */
int ki_probes_init(void);
void ki_probes_exit(void);
/* Does no tool but us use ftrace? *list is where the address of the first user is, *first our own:
   no other does as long as they are equal. */
bool ki_probes_alone(unsigned long *list, unsigned long *first);
void ki_probes_hold(void);
void ki_probes_release(void);

#endif
