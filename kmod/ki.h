/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own declarations.
 *
 * The rooms are floors, the highest first: what is in one calls its own floor and those below.
 * test/floors.sh holds that; Kbuild lists what is in each, and each file says what it is for.
 *
 *   dev      the device, module start and end; the table of ioctls
 *   session  what belongs to an open descriptor, and its end; all sessions; evicting one; what
 *            could not be given back yet; what is said when the kernel dies
 *   process  live processes that are changed; forks of theirs
 *   splice   installing chunks and taking them out: a request checked, made, recorded
 *   change   what happens to windows, and how it is made; muting: no room for a patch without them
 *   patch    the linker: copies + chunks + fixups -> bytes at their place; groups laid out
 *   window   the installed windows, by address; whose they are; their returned sides; kprobes
 *   vet      who may do what; is a window what its sender says? may a chunk's code run?
 *   retire   what has been taken out, until no task can be inside
 *   helpers  what long chunks call: records, tables, stacks, strings
 *   kcov     the kernel's interface for coverage
 *   data     counters, variables, threads' words, events, rings, tables: user space maps them
 *   heap     memory for patches, and what the kernel's tables say of them
 *   text     the only writer of kernel text; breakpoints of ours; text that must not be moved
 *   quiesce  waiting until no task can be inside a piece of text; tasks that sleep in a fault
 *   watch    who changes text, told to those who watch; modules that cannot go because of us
 *   account  how much a session and a user may take; pages, charged to the caller
 *   reach    memory near the kernel's text; how the kernel finds it
 *   (here)   the lock, reasons, the kernel's own symbols; arrays, and those from and to user memory
 *
 * Locking: ki_lock protects everything but the trap table: sessions' lists, windows, heap,
 * counters, the table of reserved text. It is taken by every request, may be held over the wait,
 * and never while user memory is touched. Outside it: the session's mutex (request.c). Inside it:
 * kprobe_mutex (probes.c), text_mutex (text.c). The trap table is read in breakpoint context,
 * without locks: see trap.c.
 */
#ifndef KI_H
#define KI_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "session/sessions.h"
#include "uapi/kerninst.h"
#include "reach/ways.h"

#define KI_JMP_LEN   5
#define KI_JCC_LEN   6
#define KI_JMP	     0xe9
#define KI_INT3	     0xcc
#define KI_JMP_SHORT 0xeb
#define KI_FILL	     4 /* bytes of a jmp's displacement, any of which may be made to trap */

#include "text/text.h"

extern struct mutex ki_lock; /* lock.c */
extern u32 ki_sessions;	     /* that are open, under ki_lock */
u32 ki_session_count(void) __must_hold(&ki_lock);
u64 ki_moment(void) __must_hold(&ki_lock); /* later than all that were told before */

/* From when on something may have been used, and when nothing new could come to it any more. */
struct ki_life {
	u64 born, gone;
};

/* refuse.c. The errno of a reason; *out becomes the reason if it has none yet. */
int ki_refuse(u32 *out, u16 reason);

#include "data/slots.h"

/* symbols.c */
int __must_check ki_symbols_init(void);
unsigned long ki_symbol(const char *name); /* 0 if there is none */

/* A place in the text heap. */
struct ki_account; /* limit.h */
struct ki_block;
struct ki_patch {
	unsigned long addr; /* 0: none */
	u32 len;
	bool faults; /* tasks may sleep and come back to it: in faults, or in what it calls */
	bool calls;  /* return addresses may point into it: lay.c */
	bool ways;   /* who is in it may push a return trampoline: returns.c */
	bool bugs;
	bool filled; /* the springboard to it traps at its inner boundaries: fill.c */
	u64 born;    /* when it was built */
	u64 since; /* filled: no task is inside any more when a wait later than this one has ended */
	u32 inner[KI_FILL]; /* filled: where the instruction at byte 1 + [i] stands in it; or 0 */
	struct ki_block *block;
};

/* A place in the text that a springboard or a bounce takes. */
struct ki_site {
	struct rb_node node;
	unsigned long addr;
	u8 len;	     /* 0: not claimed */
	bool live;   /* written, or being written */
	bool filler; /* a bounce in bytes that nothing executes */
	u8 orig[KI_JMP_LEN];
};

/* An installed window. */
struct ki_win {
	struct rb_node node;
	unsigned long addr;
	unsigned long bounce_at; /* KI_BOARD_BOUNCE */
	u8 len, ncopy;
	u8 board;	     /* enum ki_board_kind */
	bool boarded;	     /* has a springboard */
	bool wait;	     /* an instruction boundary is inside the springboard */
	u8 inner;	     /* which: bit 0 is one byte after its beginning */
	bool aside;	     /* laid out: it begins in a page's last KI_ASIDE bytes */
	bool calls;	     /* its call may lead elsewhere where it stands: direct.c */
	bool entry;	     /* the first instruction is that of the function's body */
	u8 body;	     /* entry: bytes before it in the function: endbr64, the ftrace site */
	u32 users;	     /* windows of other groups that bounce in this one's tail */
	u32 place;	     /* in the patch, from 0 on: as in the text, or where a layout says */
	u32 function;	     /* of a group that is laid out: its number there */
	struct ki_win *host; /* of another group, in whose tail this one bounces; or NULL */
	bool branch;	     /* a static branch: in a patch it asks the key (branch.c) */
	bool off;	     /* branch: it is taken while the key is off */
	bool static_call;    /* it is one: in a patch it calls `target` (static_call.c) */
	unsigned long key, target;   /* branch: the key's number; where it leads when it is taken */
	struct ki_site site, bounce; /* calls: the latter is the call's, if it is another place */
	struct ki_group *group;
	struct list_head chunks;  /* of ki_piece.in_window */
	struct list_head more;	  /* those that a splice in progress adds */
	struct list_head returns; /* of ki_return */
	struct module *owner;	  /* of the text; NULL: the kernel */
	u8 *insn_len;		  /* of each instruction: bytes; after orig, as the next */
	u8 *flow;		  /* KI_FLOW_* of its copy, which ki_win_copy makes again */
	u8 orig[];		  /* len bytes */
};

/*
 * Windows that are linked into one patch: one, or neighbours. It is the unit of change: its patch
 * is built and replaced as a whole.
 */
struct ki_group {
	struct ki_patch patch; /* what the springboards lead to */
	bool fresh;	       /* not installed yet */
	bool counted;	       /* by patches.c, while it counts */
	bool stuck;	       /* it is to go, and another tool stands in it: unsplice.c */
	bool fill;	       /* its new springboard is to be filled, if it can be */
	u32 job;	       /* 1 + its index among the changes of a splice in progress, or 0 */
	u32 *at, *next_at;     /* where each window begins in the patch; in the one being made */
	u32 *order;    /* laid out: the index of the window at each place. NULL: as in the text */
	u32 functions; /* laid out: so many */
	bool asides, joined; /* laid out: some stand aside; calls lead past their ftrace sites */
	struct ki_direct *direct, *next_direct; /* of each window: where its call leads; or NULL */
	struct ki_account *account; /* to which windows and patch are charged; NULL: not yet */
	u32 heap;		    /* bytes of the patch that are charged */
	struct list_head todo;	    /* of a removal in progress */
	u32 n;
	struct ki_win *v[]; /* in order of address */
};

/* Of a window with KI_WINDOW_CALL, in a patch (direct.c). */
struct ki_direct {
	u32 at;	 /* where its call's copy stands in the patch */
	u32 to;	 /* where the call in the text leads: the low half of the address */
	bool up; /* the window has a springboard */
};

/* A task that was found. */
struct ki_sleeper {
	u32 pid; /* as the first namespace has it; 0: none */
	char comm[KI_COMM_LEN];
};

/* A return trampoline from where a tail jump of a window leads (returns.c). */
struct ki_return {
	struct list_head list; /* of its window; or of those that are left over */
	struct ki_sleeper who; /* left over: of those that come back, one that was found */
	unsigned long addr;    /* the return address */
	u32 users;	       /* pieces */
	u32 next_at;	       /* where it leads in the patch being made; 0: nowhere */
	u8 insn;
	bool live; /* a task may be away */
};

/* An installed chunk. */
struct ki_piece {
	struct list_head in_window;
	struct list_head in_session;
	struct ki_win *win;
	u64 seq; /* in the order of installation, of all sessions */
	u32 id;
	u16 order;
	u8 insn;
	u8 where; /* enum ki_where */
	u8 kind;  /* enum ki_chunk_kind */
	u8 len;
	u8 nfix;
	bool dying;		    /* marked for removal by the change in progress */
	bool muted;		    /* dying, and jumped over in the patch: mute.c */
	u32 at, next_at;	    /* where it stands in the patch; in the one being made */
	u32 side;		    /* the first on a taken side: where that begins */
	unsigned long target;	    /* of what replaces: the function */
	struct module *owner;	    /* of the target's text */
	struct ki_long_code *more;  /* KI_CHUNK_LONG */
	struct ki_return *back;	    /* KI_RETURNED */
	struct ki_account *account; /* to which it is charged, once it is */
	u64 pushed; /* a bit for each byte of code: a word more is on the stack there */
	struct ki_fixup fix[KI_FIXUPS];
	u8 code[]; /* len bytes */
};

/* Do calls go to another function by it, all or some? */
static inline bool ki_piece_replaces(const struct ki_piece *p)
{
	return p->kind == KI_CHUNK_REPLACE || p->kind == KI_CHUNK_GUARDED;
}

/* One open descriptor. */
struct ki_session {
	struct mutex asking; /* a request of it is being worked on */
	struct list_head pieces;
	/*
	 * Of struct ki_run: its counters, variables, words, ring, tables, stacks, events. They go
	 * in this order: an event before the word that it writes (event.c).
	 */
	struct list_head runs;
	struct ki_owner owner;
	u64 serial; /* never used again; 0 is no session's */
	u32 next_id;
	struct ki_account *account;
	struct ki_ring_buffers *ring;	/* once it has one, to its end */
	struct ki_stacks_table *stacks; /* the same */
	struct ki_texts_table *texts;	/* the same */
	struct ki_process *process;	/* the same */
};

/* session.c */
int __must_check ki_session_new(struct ki_session **out) __must_hold(&ki_lock);
void ki_session_end(struct ki_session *s) __must_hold(&ki_lock);
int ki_session_init(void);
/* A session begins or ends, or patches have been given back: what could not go may go now. */
void ki_session_take_out_again(void) __must_hold(&ki_lock);

/* patches.c */
int __must_check ki_session_patches(struct ki_session *s, struct ki_patches *p)
	__must_hold(&ki_lock);

/* change.c */
/* What happens to one group. */
struct ki_change {
	struct ki_group *group;
	struct ki_patch patch; /* the new one; none: the original bytes return */
};

/* Make all changes, in order of address: all or nothing; -ESTALE: see ki_text_swap. */
int __must_check ki_change_swap(struct ki_change *changes, u32 n, u32 *bad) __must_hold(&ki_lock);
/* A change is made: its patch is the group's, the one before is retired, and so is what died. */
void ki_change_record(struct ki_change *c) __must_hold(&ki_lock);
/* Give back patches of changes that were not made. */
void ki_change_drop(struct ki_change *changes, u32 n) __must_hold(&ki_lock);

/*
 * unsplice.c; when they return no code runs that was taken out. False: it was
 * in a window that cannot go yet, because another tool stands in it.
 */
bool ki_unsplice_all(struct ki_session *s) __must_hold(&ki_lock);
/* Those with n ids from `first` on: of a splice whose answer cannot be given. */
void ki_unsplice_run(struct ki_session *s, u32 first, u32 n) __must_hold(&ki_lock);
/* What could not go before, if there is something. */
void ki_unsplice_again(void) __must_hold(&ki_lock);
/* Is there a window without chunks that another tool stands in? Is that one? */
bool ki_unsplice_any_stuck(void) __must_hold(&ki_lock);
bool ki_unsplice_is_stuck(const struct ki_group *g) __must_hold(&ki_lock);

/* window.c */
struct ki_win *ki_win_touching(unsigned long start, unsigned long end) __must_hold(&ki_lock);
/* The same with kprobe_mutex held, without which windows do not come or go. */
struct ki_win *ki_win_find(unsigned long start, unsigned long end);
struct ki_win *ki_win_next(struct ki_win *w) __must_hold(&ki_lock);
struct ki_win *ki_win_new(const struct ki_window *req, const struct ki_copy *copies)
	__must_hold(&ki_lock);
void ki_win_free(struct ki_win *w) __must_hold(&ki_lock);   /* NULL is allowed */
unsigned long ki_win_insn(const struct ki_win *w, u8 insn); /* where it is in the text */
/* The canonical copy of an instruction of a window that has been verified. */
void ki_win_copy(const struct ki_win *w, u8 insn, struct ki_copy *out);
u32 ki_win_count(void) __must_hold(&ki_lock);
int __must_check ki_group_new(struct ki_win **v, u32 n)
	__must_hold(&ki_lock); /* v[i]->group is it */
void ki_group_insert(struct ki_group *g) __must_hold(&ki_lock);
void ki_group_erase(struct ki_group *g) __must_hold(&ki_lock);
void ki_group_free(struct ki_group *g) __must_hold(&ki_lock); /* and its windows; NULL is allowed */
/* The window of the group that begins at addr: its index, or -1. */
int ki_group_find(const struct ki_group *g, unsigned long addr) __must_hold(&ki_lock);
u8 ki_board_len(u8 board);
/* It has been taken out: modules that it leads to are held until no task can be in it. */
void ki_piece_retire(struct ki_piece *p) __must_hold(&ki_lock);
void ki_piece_free(struct ki_piece *p) __must_hold(&ki_lock); /* NULL is allowed */

/* fill.c */
struct ki_swap;
/* Of these changes, which are all of a request: is it worth while to fill the new springboards? */
void ki_fill_decide(struct ki_change *changes, u32 n) __must_hold(&ki_lock);
/* One of them could not be: no more of them. */
void ki_fill_stop(struct ki_change *changes, u32 n) __must_hold(&ki_lock);
/* Must, or should, a group's next patch be filled? */
bool ki_fill_wanted(const struct ki_group *g);
/* The smallest distance from d on that traps at each byte whose bit in `inner` is set. */
u64 ki_fill_distance(u64 d, u8 inner);
/* Must be waited for who may be inside one of its jmp springboards, when `next` comes? */
bool ki_fill_waits(const struct ki_group *g, const struct ki_patch *next);
/* The swaps of its inner boundaries, beside that of all of it, which is changed; how many. */
u32 ki_fill_swaps(const struct ki_group *g, const struct ki_patch *next, struct ki_swap *jmp,
		  struct ki_swap *out);
/* One patch has been replaced by another. */
void ki_fill_record(const struct ki_patch *old, struct ki_patch *new) __must_hold(&ki_lock);
u32 ki_fill_count(void); /* windows that are filled now */

/* patch.c */
/*
 * Link the patch of a group from its windows' pieces that are not dying, and those of `more`.
 * Heap space is taken and the bytes are written there; no task runs them yet. Fills next_at.
 */
int __must_check ki_patch_build(struct ki_group *g, bool reserve, struct ki_patch *out, u16 *reason)
	__must_hold(&ki_lock);
void ki_patch_free(const struct ki_patch *p); /* no task can be inside; without ki_lock too */

/* returns.c */
struct ki_swap;
/* The return trampoline from a tail jump, its own or a new one. KI_R_OK, or why there is none. */
u16 __must_check ki_return_take(struct ki_win *w, u8 insn, struct ki_return **out)
	__must_hold(&ki_lock);
void ki_return_put(struct ki_return *r) __must_hold(&ki_lock); /* NULL is allowed */
/*
 * Let the return trampolines of a group lead where the change has them; returns how many. s: NULL
 * is allowed
 */
u32 ki_return_swaps(const struct ki_change *c, struct ki_swap *s) __must_hold(&ki_lock);
void ki_return_record(struct ki_group *g) __must_hold(&ki_lock); /* that has been done */
const struct ki_copy *ki_return_form(void);			 /* the code of a return */
void ki_return_info(struct ki_info *info) __must_hold(&ki_lock);
int ki_returns_init(void);
void ki_returns_exit(void);

/* tail.c. May KI_RETURNED stand at this direct jump of a verified window? */
u16 __must_check ki_tail_check(const struct ki_win *w, u8 insn) __must_hold(&ki_lock);

/* verify.c */
struct ki_verifier;
int __must_check ki_verifier_new(struct ki_verifier **out) __must_hold(&ki_lock);
void ki_verifier_free(struct ki_verifier *v);
/*
 * KI_R_OK, or why not; copies: as the sender has made them. Fills w->flow, wait, inner, entry.
 * Cheap for windows in order of address.
 */
u16 __must_check ki_verify_window(struct ki_verifier *v, struct ki_win *w,
				  const struct ki_copy *copies) __must_hold(&ki_lock);
/* Are 5 bytes there, in the function of the window verified last, filler that nothing executes? */
bool ki_verify_filler(struct ki_verifier *v, unsigned long addr) __must_hold(&ki_lock);

/* callee.c; the table of reserved text is up to date */
/* Does a function of the kernel or of a live module start there? *owner: a reference, or NULL. */
u16 __must_check ki_verify_function(unsigned long addr, struct module **owner)
	__must_hold(&ki_lock);
/* The same, and may inserted code call it, or it stand for another? */
u16 __must_check ki_verify_callee(unsigned long addr, struct module **owner) __must_hold(&ki_lock);

/* sleep.c: may the function sleep, or can it not be told? KI_R_OK: it does not. Lets others run. */
u16 __must_check ki_may_sleep(unsigned long addr) __must_hold(&ki_lock);
void ki_may_sleep_forget(void) __must_hold(&ki_lock); /* a request begins: code may have changed */

/* copy.c: the canonical copy of the instruction at addr, and what it does to control flow. */
#define KI_FLOW_LEAVES 1 /* may go on elsewhere than at the next instruction */
#define KI_FLOW_ENDS   2 /* never goes on at the next instruction */
#define KI_FLOW_DIRECT 4 /* the target is the copy's last fixup */
#define KI_FLOW_CALL   8 /* goes on at the next instruction of the original, never of the copy */
u16 __must_check ki_copy_emit(unsigned long addr, const u8 *bytes, size_t len, struct ki_copy *out,
			      u8 *flow);
/* Of a static branch, its own bytes aside: jne target; of a static call: call target. */
void ki_copy_written(const struct ki_win *w, struct ki_copy *out);
void ki_copy_asked(const struct ki_win *w, struct ki_copy *copy); /* as requests say it */

/* vet.c */
u16 __must_check ki_vet_chunk(const struct ki_session *s, const struct ki_chunk *c);
/* Of a chunk that may run: a bit for each byte, set where it has pushed a word. */
u64 ki_vet_pushed(const struct ki_chunk *c);

/* heap.c, rows.c: what is in rows.h is for those who make patches */
extern u8 ki_returned[];
int ki_heap_init(void);
void ki_heap_exit(void);
u32 ki_heap_bytes(struct ki_block *b);	     /* that it takes of the heap */
u32 ki_heap_bytes_large(struct ki_block *b); /* the same if all are in pages of 2 MiB, else 0 */
void ki_heap_info(struct ki_info *info);
bool ki_heap_holds(unsigned long addr); /* or ki_returned; without ki_lock */
bool ki_heap_is_full(void);		/* not even a small patch would find room */
int ki_rows_init(void);

/* quiesce.c: may sleep long. On return no task is where it could have been preempted before. */
int ki_quiesce_init(void);
void ki_quiesce_exit(void);
void ki_quiesce(void);
u64 ki_quiesce_count(void);  /* how many have begun */
u32 ki_quiesce_waited(void); /* milliseconds of those that have ended */
/* Has a wait ended that began when ki_quiesce_count was `since` already? */
bool ki_quiesced(u64 since);

/*
 * still.c: call it while that task does not run, or where it runs, with interrupts off: it is
 * short, takes no lock and wakes no task. 0, or -EAGAIN: it could not be held.
 */
struct task_struct;
typedef void (*ki_still_fn)(struct task_struct *t, void *arg);
int __must_check ki_still_call(struct task_struct *t, ki_still_fn call, void *arg);
int __must_check ki_still_idle(int cpu, ki_still_fn call, void *arg);

/*
 * faults.c: call found for each address of three kinds. In the heap: a task took a fault there
 * that it is still in. In ki_returned: a task will return there. In the text of these modules: a
 * task is there, or will return there. KI_FAULTS_ANYWHERE: one may return to any.
 * KI_FAULTS_UNKNOWN: of one it is not known; it may be in any, and return to any. found() may
 * sleep. The task is NULL if it is an idle one.
 */
#define KI_FAULTS_ANYWHERE 0
#define KI_FAULTS_UNKNOWN  1
typedef void (*ki_faults_fn)(void *arg, unsigned long ip, const struct task_struct *t);
int ki_faults_init(void);
void ki_faults_find(ki_faults_fn found, void *arg, struct module *const *modules, u32 nmodules);

void ki_sleeper_note(struct ki_sleeper *s, const struct task_struct *t);

/* counters.c */
struct vm_area_struct;
int ki_counters_init(void);
void ki_counters_exit(void);
/* The first session comes; the last has gone: counters get their memory, and give it back. */
void ki_counters_begin(void) __must_hold(&ki_lock);
void ki_counters_end(void) __must_hold(&ki_lock);
int __must_check ki_counters_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
	__must_hold(&ki_lock);
bool ki_counters_own(const struct ki_session *s, u64 n, u64 count) __must_hold(&ki_lock);
s64 ki_counter_disp(u32 n);
u64 ki_counters_sum(const struct ki_session *s) __must_hold(&ki_lock); /* of all of a session */
void ki_counters_info(struct ki_info *info) __must_hold(&ki_lock);
int __must_check
ki_counters_map(struct vm_area_struct *vma); /* of a session: nothing it reads changes */

/* globals.c */
int ki_globals_init(void);
int __must_check ki_globals_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
	__must_hold(&ki_lock);
bool ki_globals_own(const struct ki_session *s, u64 n, u64 count) __must_hold(&ki_lock);
int __must_check ki_global_set(const struct ki_session *s, u32 n, u64 value) __must_hold(&ki_lock);
unsigned long ki_global_addr(u32 n);
void ki_globals_info(struct ki_info *info) __must_hold(&ki_lock);
int __must_check ki_globals_map(struct vm_area_struct *vma); /* without ki_lock */

/* words.c */
int ki_words_init(void);
void ki_words_exit(void);
int __must_check ki_words_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
	__must_hold(&ki_lock);
bool ki_words_own(const struct ki_session *s, u64 n, u64 count) __must_hold(&ki_lock);
/* Does the current thread's block change while the function there runs? */
bool ki_words_change_in(unsigned long addr);
void ki_words_info(struct ki_info *info) __must_hold(&ki_lock);

/* helpers.c */
unsigned long ki_helper_addr(u32 helper);
u64 ki_helper_skipped(void);
/* Where the function that a chunk calls here writes records; false: nowhere. Preemption is off. */
bool ki_helper_hit(u32 *ring, u32 *id);
s64 ki_self_disp(u64 self);  /* of %gs */
s64 ki_field_off(u64 field); /* in the current task */

/* reserved.c */
int ki_reserved_init(void);
void ki_reserved_exit(void);
void ki_reserved_rest(void); /* the last session has gone: so does the table, after a while */
int __must_check ki_reserved_get(const struct ki_reserved_row **rows, u32 *count)
	__must_hold(&ki_lock); /* by address */
bool ki_reserved_stale(void);  /* modules have come or gone since ki_reserved_get */
/* The first row that touches [start, end) from index *from on; NULL. Moves *from on. */
const struct ki_reserved_row *ki_reserved_next(unsigned long start, unsigned long end, u32 *from)
	__must_hold(&ki_lock);

/* view.c */
struct module *ki_text_owner(unsigned long start, unsigned long end, u16 *reason)
	__must_hold(&ki_lock);
int __must_check ki_text_read(unsigned long addr, void *buf, size_t len, enum ki_view view)
	__must_hold(&ki_lock);

#ifdef KI_TEST_FAIL
#include "debug/fail.h"
void ki_step(const char *name); /* steps.c */
#else
static inline void ki_step(const char *name)
{
	(void)name;
}
#endif

#endif
