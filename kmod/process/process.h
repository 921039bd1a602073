/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live process that a session changes. Nothing here holds ki_lock while the process is touched:
 * a page of it may be long in coming. Only its own mutex is held then.
 */
#ifndef KI_PROCESS_H
#define KI_PROCESS_H

#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "dev/request.h"

/* Nothing is mapped below: a null pointer of the kernel's leads there. */
#define KI_LOWEST 65536ul

struct file;
struct mm_struct;
struct vm_area_struct;

/* A thread of the process that waits at a breakpoint. */
struct ki_hold {
	struct callback_head work; /* of that thread, before it goes back to user mode */
	atomic_t state;		   /* enum ki_hold_state */
	unsigned long until;	   /* in jiffies: it waits no longer */
	bool late;		   /* one has gone by itself, and the session has not been told */
	bool over;		   /* none waits any more */
};

/* An address space that has our bytes, or may get them: the process's, and those forked from it. */
struct ki_space {
	struct hlist_node hash;
	struct list_head list; /* of its process's; or of those that are free */
	struct mm_struct *mm;  /* by mmgrab: its number is no other's meanwhile */
	struct ki_process *of;
	bool patched; /* it has our bytes; changed with its mmap_lock held */
	bool stays;   /* at its end not all of its text was ours to give back */
};

/* What has been mapped into it. */
struct ki_process_range {
	struct list_head list; /* of its process's */
	unsigned long addr, len;
	bool own; /* memory of its own; else a part of ki_process.memory */
};

struct ki_process {
	struct mutex lock;	  /* for all that is done to it; outside everything but `asking` */
	struct ki_space *own;	  /* the first of them */
	struct list_head spaces;  /* after it those forked from it, parents before children */
	bool ending;		  /* or a part is: no other task takes spaces out of the list */
	bool over;		  /* its text has been given back: nothing more is done */
	bool left;		  /* breakpoints lead nowhere any more */
	struct file *memory;	  /* shared with it; NULL: none yet */
	struct list_head ranges;  /* that are mapped there, struct ki_process_range */
	struct work_struct ender; /* gives its text back */
	struct completion ended;
	atomic_t asked;		   /* the ender has been queued, once */
	atomic_t gone;		   /* either the session or the ender has: the other one frees it */
	struct list_head outlives; /* its session: of those that do */
	const struct ki_process_edit *edits; /* in order of address */
	u32 n;				     /* of them; what threads see: 0, then this */
	unsigned long *given; /* a bit for each that has been given back before the end; NULL */
	u32 ngiven;	      /* of them */
	u64 session;	      /* its number */
	struct ki_hold hold;
	struct ki_sleeper who; /* the process, by its first thread */
	/* Charged to the session. ki_lock. */
	u64 pages;     /* of its shared memory */
	u64 own_pages; /* that were to be mapped as the process's own */
	u32 windows;
};

/* process.c */
int ki_processes_init(void);
void ki_processes_exit(void);
int ki_process_take(struct ki_request *q);
int ki_process(struct ki_request *q) __must_hold(&ki_lock);
int ki_process_memory_take(struct ki_request *q);
int ki_process_memory(struct ki_request *q) __must_hold(&ki_lock);
int ki_process_edit_take(struct ki_request *q);
int ki_process_edit(struct ki_request *q) __must_hold(&ki_lock);
int ki_process_edit_answer(struct ki_request *q, int err);
int ki_process_release_take(struct ki_request *q);
int ki_process_release(struct ki_request *q) __must_hold(&ki_lock);
int ki_process_release_answer(struct ki_request *q, int err);
int __must_check ki_process_mmap(struct ki_session *s, struct vm_area_struct *vma);
/* What a session's row says of it: NULL is allowed. */
void ki_process_tell(const struct ki_process *p, struct ki_session_row *row) __must_hold(&ki_lock);
/* What was charged to the session. */
void ki_process_give(struct ki_session *s) __must_hold(&ki_lock);

extern struct workqueue_struct *ki_process_queue; /* for what a thread of the kernel does */
/* Those that watch are told: its text has been changed, or is back. */
void ki_process_changed(const struct ki_process *p, bool back);

/* process_apart.c: has each thread of its, without being stopped, its FS base at that address? */
struct task_struct;
bool ki_process_are_apart(struct task_struct *of);

/* process_map.c */
int ki_process_map_take(struct ki_request *q);
int ki_process_map(struct ki_request *q) __must_hold(&ki_lock);
int ki_process_map_answer(struct ki_request *q, int err);

/* process_end.c */
void ki_process_end_init(struct ki_process *p);
/* Give its text back, and wait for that, a moment at most: without ki_lock. NULL is allowed. */
void ki_process_end(struct ki_process *p);
/* The same, later; and wait for all of those, a moment at most, without ki_lock. */
void ki_process_evict(struct ki_process *p);
void ki_process_evicted(void);
/* Its session has ended. NULL is allowed. */
void ki_process_free(struct ki_process *p);

/* process_leave.c. p->lock is held, and its text is back: unmaps what was mapped where all threads
 * are out. May take some tenths of a second. */
void ki_process_leave(struct ki_process *p);
void ki_process_ranges_free(struct ki_process *p);

/* process_hold.c */
struct poll_table_struct;
void ki_hold_init(struct ki_hold *h);
/* From the breakpoint, with interrupts off: the thread waits when it goes back to user mode. */
void ki_hold_begin(struct ki_hold *h);
/* It goes, and none waits from now on; and until it has gone. */
void ki_hold_end(struct ki_hold *h);
void ki_hold_gone(struct ki_hold *h);
int ki_process_go(struct ki_request *q) __must_hold(&ki_lock);
__poll_t ki_hold_poll(const struct ki_process *p, struct file *file,
		      struct poll_table_struct *wait);
void ki_holds_exit(void);

/* process_text.c: p->lock held. */
int __must_check ki_process_text_write(struct ki_process *p, const struct ki_process_edit *v, u32 n,
				       struct ki_process_edits *req);
/* All that has not been given back. */
void ki_process_text_restore(struct ki_process *p);
/* These alone, for good; -ENOMEM, -EINTR: perhaps some of them, and no thread knows of it. */
int __must_check ki_process_text_release(struct ki_process *p, const unsigned long *which);

static inline bool ki_process_is_given(const struct ki_process *p, u32 i)
{
	const unsigned long *given = smp_load_acquire(&p->given);

	return given && test_bit(i, given);
}

/* How many of its places are changed. */
static inline u32 ki_process_places(const struct ki_process *p)
{
	return smp_load_acquire(&p->n) - READ_ONCE(p->ngiven);
}

/* process_spaces.c */
int ki_spaces_init(void);
void ki_spaces_exit(void);
/* From now on breakpoints in it are looked up, and its forks followed. -ENOMEM; or a reason. */
int __must_check ki_spaces_begin(struct ki_process *p, struct mm_struct *mm);
void ki_spaces_end(struct ki_process *p);
/* The one after s; NULL. p->ending is true. */
struct ki_space *ki_spaces_next(struct ki_process *p, struct ki_space *s);
void ki_spaces_are_ending(struct ki_process *p, bool ending);
/* Has another session the same breakpoint there, and the kernel is told of both, or both wait? */
bool ki_spaces_share(const struct ki_process *p, const struct mm_struct *mm,
		     const struct ki_process_edit *e);

#endif
