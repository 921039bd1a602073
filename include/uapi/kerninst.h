/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * kerninst: the interface between the driver and the library, /dev/kerninst.
 *
 * The open file is the session. Everything a session installs is taken out again when its last
 * descriptor is closed and its last mapping is gone, for whatever reason: a process that ends, or
 * is killed, closes both.
 *
 * Conventions
 *  - Every request starts with `size`, the size of its structure as the caller knows it. The
 *    driver accepts exactly the size of its own version; anything else is -EPROTO.
 *  - Every field called `zero` must be zero. A flag bit that is not defined must be zero.
 *    Otherwise: -EINVAL, and nothing has changed.
 *  - Pointers travel as __u64. Addresses are virtual addresses of the kernel.
 *  - An ioctl returns 0 or a negative errno. Where a request has a `reason` field, the driver
 *    writes a KI_R_* number there on failure: the exact reason, of kerninst_reasons.def.
 *  - A request is done wholly or not at all.
 *  - Who may do what, and how much, is in doc/security.md: -EACCES, -EPERM, -EBADF, -EDQUOT.
 */
#ifndef _UAPI_KERNINST_H
#define _UAPI_KERNINST_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "kerninst_table.h"

#define KI_DEVICE "/dev/kerninst"
#ifndef KI_ABI_VERSION /* a test builds a driver of another version */
#define KI_ABI_VERSION 12
#endif

/* Reasons of refusal: KI_R_OK is 0. */
enum ki_reason {
#define KI_REASON(tag, err, text, hint) KI_R_##tag,
#include "kerninst_reasons.def"
#undef KI_REASON
	KI_R_COUNT
};

/* Limits of one request, and of what it describes. */
#define KI_WINDOW_MAX	 64	     /* bytes of one window */
#define KI_WINDOW_INSNS	 32	     /* displaced instructions of one window */
#define KI_COPY_MAX	 32	     /* bytes of one instruction's relocated copy */
#define KI_CHUNK_MAX	 64	     /* bytes of one short chunk */
#define KI_FIXUPS	 2	     /* fixups of one copy or short chunk */
#define KI_LONG_MAX	 131072	     /* bytes of one long chunk */
#define KI_LONG_FIXUPS	 16384	     /* fixups of one long chunk */
#define KI_LONG_DEPTH	 60	     /* words that a long chunk may have on the stack */
#define KI_LONG_OWNERS	 8	     /* modules whose functions one long chunk may call */
#define KI_BATCH_WINDOWS 65536	     /* windows of one request */
#define KI_BATCH_CHUNKS	 131072	     /* chunks of one request */
#define KI_READ_MAX	 (16u << 20) /* bytes of one read */
#define KI_RESERVED_MAX	 (1u << 20)  /* rows of one answer */

/* KI_IOC_INFO: what driver and kernel this is. */
struct ki_info {
	__u32 size;
	__u32 abi;	  /* out: KI_ABI_VERSION of the driver */
	__u32 features;	  /* out: KI_FEATURE_* */
	__u32 cpus;	  /* out: CPUs that have counters (possible CPUs), numbered 0..cpus-1 */
	__u64 text_start; /* out: core kernel text, [start, end) */
	__u64 text_end;
	__u64 heap_start; /* out: the text heap, where patches live */
	__u64 heap_end;
	__u64 heap_used;     /* out: bytes of patches now */
	__u64 counter_bytes; /* out: bytes of counters of one CPU: the stride of the mapping */
	__u32 counters;	     /* out: counters there are */
	__u32 counters_used; /* out: of all sessions */
	__u32 sessions;	     /* out: open sessions, this one included */
	__u32 windows;	     /* out: windows installed, of all sessions */
	__u64 waits;	     /* out: times the driver waited for tasks to leave windows */
	__u64 skipped;	     /* out: hits skipped because the CPU was in a helper already */
	__u32 globals;	     /* out: global variables there are */
	__u32 globals_used;  /* out: of all sessions */
	__u32 returns; /* out: return trampolines by KI_RETURNED that must stay, of all sessions */
	__u32 leftovers;  /* out: those of them that are not asked for any more */
	__u64 filled;	  /* out: windows now whose springboard traps tasks that were inside */
	__u64 late;	  /* out: times that a task was met there */
	__u32 tsc_khz;	  /* out: ticks of the time stamp counter in a millisecond */
	__u32 words;	  /* out: threads' words there are */
	__u32 words_used; /* out: of all sessions */
	__u32 rings;	  /* rings there are, of sessions that have just ended too */
	__u64 wordless;	  /* out: times that a thread began to run and there were no words for it */
	__u32 unknowns;	  /* out: things of this kernel that the driver does not know */
	__u32 waited;	  /* out: milliseconds that those waits took, modulo 2^32 */
	char unknown[96]; /* out: the first of them; the log has more */
	__u64 large_start; /* out: from here on each 2 MiB of the text heap may be one page */
	__u64 large;	   /* out: bit n: the n-th of them is one now */
};

#define KI_FEATURE_COUNTER_ARENA 0x1	    /* there are counters: all CPUs have memory for them */
#define KI_FEATURE_FORCED	 0x2	    /* text is written although things are not known */
#define KI_FEATURE_NO_WAIT	 0x80000000 /* a driver built without the wait: a test's, unsafe */

/*
 * KI_IOC_READ: copy kernel text, as it is or as it was.
 *
 * The range must lie in core text, or in one loaded module's. KI_VIEW_ORIG shows, where
 * windows are installed, the bytes that they displaced.
 */
enum ki_view { KI_VIEW_LIVE, KI_VIEW_ORIG };

struct ki_read {
	__u32 size;
	__u32 view; /* enum ki_view */
	__u64 addr;
	__u64 len; /* 1..KI_READ_MAX */
	__u64 buf; /* user memory of len bytes */
};

/*
 * KI_IOC_RESERVED: text that must not be moved, and why: all rows that touch [start, end), in
 * order of address. If there are more than `max` rows, the call fails with -ENOSPC and `count`
 * says how many there are.
 */
struct ki_reserved_row {
	__u64 addr;
	__u32 len;    /* bytes */
	__u32 reason; /* KI_R_* */
	__u64 target; /* jump label: where it goes when on; exception: the fixup; or 0 */
};

struct ki_reserved {
	__u32 size;
	__u32 zero;
	__u64 start;
	__u64 end;
	__u64 rows; /* user memory: struct ki_reserved_row[max] */
	__u32 max;
	__u32 count; /* out */
};

/*
 * KI_IOC_COUNTERS: take a run of counters for this session. They are zero, and this session's
 * until it is closed. Read them through mmap of the device (offset 0, length cpus *
 * counter_bytes, PROT_READ): counter n of CPU c is the __u64 at c * counter_bytes + n * 8.
 */
struct ki_counters {
	__u32 size;
	__u32 count;  /* in: how many, 1 or more */
	__u32 first;  /* out: number of the first */
	__u32 reason; /* out */
};

/*
 * KI_IOC_GLOBALS: take a run of global variables, __u64 each, for this session: zero, and this
 * session's until it is closed. Read them through mmap of the device (offset KI_MAP_GLOBALS, length
 * globals * 8, PROT_READ).
 */
struct ki_globals {
	__u32 size;
	__u32 count;  /* in: how many, 1 or more */
	__u32 first;  /* out: number of the first */
	__u32 reason; /* out */
};

#define KI_MAP_GLOBALS 0x40000000

/* KI_IOC_GLOBAL: set one of this session's, at once; -EACCES if it is not. */
struct ki_global {
	__u32 size;
	__u32 number;
	__u64 value;
};

/*
 * KI_IOC_WORDS: take a run of threads' words for this session: each thread has one __u64 for each
 * number, which is 0 until it writes it, and goes when the thread ends. While any session has
 * some, the driver follows every switch between threads; the cost of that does not depend on how
 * many there are. When the call returns, every thread that runs from then on has its words. If
 * memory for them runs out, a thread has none (ki_info.wordless), and code that wants them must do
 * without. (All together take at most 1/64 of the machine's memory.) An NMI that comes into the
 * middle of a switch has none either.
 *
 * Threads' words change, as seen by a CPU, where the scheduler tells of the switch, not where the
 * stack is changed: what runs after that in __schedule, and is called there, has the next
 * thread's. Only __traceiter_sched_switch is entered with one thread's and left with the other's,
 * and is refused to chunks that use them.
 */
struct ki_words {
	__u32 size;
	__u32 count;  /* in: how many, 1 or more */
	__u32 first;  /* out: number of the first */
	__u32 reason; /* out */
};

/*
 * KI_IOC_INSIDE: what threads have in words of this session that hold a start time. Of each word
 * from `first` on it says in how many threads it is not 0. It says the sum over these threads of
 * the clock now minus the word, in 56 bits (0 for one that began meanwhile). What is above these
 * bits in either does not count. Not a snapshot: threads run on meanwhile. -EACCES if a word is
 * not the session's.
 *
 *  KI_CLOCK_TSC	 the time stamp counter, `now`
 *  KI_CLOCK_THREAD the thread's own clock, which goes only while it runs (KI_SELF_CLOCK)
 */
enum ki_clock { KI_CLOCK_TSC, KI_CLOCK_THREAD, KI_CLOCKS };

struct ki_inside_row {
	__u64 threads;
	__u64 ticks;
};

struct ki_inside {
	__u32 size;
	__u32 clock; /* enum ki_clock */
	__u32 first;
	__u32 count; /* 1 or more */
	__u64 rows;  /* user memory: struct ki_inside_row[count] */
	__u64 now;   /* out: the time stamp counter */
};

/*
 * KI_IOC_RING: the ring of this session, for the records that its long chunks write (helper
 * RECORD): a buffer for each CPU. Once in a session; gone when it is closed.
 *
 * Mapped at KI_MAP_RING, `cpus` times `stride` bytes, PROT_READ: of each CPU a page with struct
 * ki_ring_head, and after it the data. And at KI_MAP_RING_TAILS, cpus * 8 bytes rounded up to
 * pages, PROT_READ | PROT_WRITE: of each CPU how far it has been read.
 *
 * Positions are bytes since the beginning: that of a byte in the data is its position modulo the
 * size of the data. What is between the tail and the head is there to be read. A record that finds
 * no room is lost, and counted. With KI_RING_NEWEST tails matter to poll only, and the oldest
 * records go. A reader that reads while others write looks at `oldest` again after that, and
 * throws away what is not there any more. Each record is whole, in whichever context it was
 * written, and a buffer's records are in the order of their times. Each time that a chunk asks for
 * a record it is written or lost, and counted once.
 *
 * poll (POLLIN) waits until some buffer has `wake` bytes between the tail and the head; POLLERR if
 * the session has no ring.
 *
 * -EEXIST if the session has one; -ENOMEM also if all rings together would take more than 1/8 of
 * the machine's memory; -ENOSPC if there are too many.
 */
struct ki_ring {
	__u32 size;
	__u32 flags;  /* KI_RING_* */
	__u32 pages;  /* of data for each CPU: a power of 2, 1..KI_RING_PAGES */
	__u32 wake;   /* bytes; 0: half of the data */
	__u32 cpus;   /* out */
	__u32 number; /* out: for KI_RECORD */
	__u64 stride; /* out */
	__u32 reason; /* out */
	__u32 zero;
};

#define KI_RING_NEWEST 0x1
#define KI_RING_PAGES  4096

#define KI_MAP_RING	  0x50000000
#define KI_MAP_RING_TAILS 0x60000000

struct ki_ring_head {
	__u64 head;    /* position after the last record that is whole, and so are all before it */
	__u64 oldest;  /* KI_RING_NEWEST: position of the first record that is still there */
	__u64 records; /* written */
	__u64 lost;    /* not written; or, with KI_RING_NEWEST, written and gone again */
};

/* A record, `words` of __u64 after it; aligned to 8; may go on at the beginning of the data. */
struct ki_record {
	__u32 id;    /* what the chunk says */
	__u16 words; /* 0..KI_RECORD_WORDS */
	__u16 zero;
	__u64 tsc; /* time stamp counter */
};

#define KI_RECORD_WORDS 32

/*
 * What %edi is for helper RECORD: the session's ring, and how many words are on the stack. It is
 * put there the moment before the call (mov $imm32, %edi).
 */
#define KI_RECORD(ring, words) ((ring) << 8 | (words))

#include "kerninst_minmax.h"
#include "kerninst_patches.h"
#include "kerninst_sessions.h"
#include "kerninst_stacks.h"
#include "kerninst_texts.h"
#define KI_STRING_WORDS 16 /* words that STRING and USTRING fill, at most */

/*
 * KI_IOC_EVENT: count an event on all CPUs, from now on, for this session; helper EVENT says how
 * often it has been. type and config are those of perf_event_open(2): PERF_TYPE_HARDWARE,
 * _HW_CACHE, _RAW, and of _SOFTWARE those that count by themselves. The event is pinned to a
 * counter: if there is none for it now, the request is refused (KI_R_EVENTS_BUSY), and what has one
 * keeps it.
 *
 * A CPU that comes later counts from soon after that on, if there is a counter for it: else from
 * when there is. Counts never go back. -ENOSPC: 32 events of all sessions at once; with
 * KI_EVENT_OWN, no word of threads.
 */
struct ki_event_req {
	__u32 size;
	__u32 type; /* PERF_TYPE_* */
	__u64 config;
	__u32 flags;  /* KI_EVENT_* */
	__u32 number; /* out */
	__u32 reason; /* out */
	__u32 zero;
};

#define KI_EVENT_USER	0x1 /* only what happens in user mode */
#define KI_EVENT_KERNEL 0x2 /* only what happens in the kernel */
#define KI_EVENT_OWN                                                                               \
	0x4 /* each thread's own count too: takes a word of threads, and some time of each switch  \
	     */
#define KI_EVENT_CHECK 0x8 /* only say whether it can be */

/*
 * What the argument of helper EVENT is: the number of an event; with KI_EVENT_THREAD, of one that
 * was asked for with KI_EVENT_OWN, what the current thread has counted: while it ran, wherever that
 * was. Only differences mean something. 0: no such event, or the thread has no words. What the
 * kernel counts in a switch itself (context-switches, cpu-migrations) is the next thread's: each
 * thread counts how often it came, not how often it went.
 */
#define KI_EVENT_THREAD 0x80000000

/*
 * What %eax is for helper ENTER_RECORD: the session's ring, and the id of the records that the
 * called function writes there. It is put there the moment before the call (mov $imm32, %eax).
 */
#define KI_HIT(ring, id) ((__u32)(ring) << 24 | (id))
#define KI_HIT_IDS	 (1u << 24)

/*
 * A fixup fills a 32-bit field of a piece of code when the driver has placed it.
 *
 *  KI_FIX_REL32   target - (address of the field + 4 + tail): a rel32 branch, or a RIP-relative
 *                 operand that has `tail` bytes of immediate after it
 *  KI_FIX_ABS32   target, which must be a sign-extended 32-bit number
 *  KI_FIX_PERCPU  the %gs displacement of counter number `target`
 *
 *  KI_FIX_GLOBAL  RIP-relative: global variable number `target`; a short chunk's store of one byte
 *		   has that byte's number in the word, 0 to 7, in its upper half
 * Of long chunks only:
 *  KI_FIX_HELPER  rel32 of a call: helper number `target`, enum ki_helper
 *  KI_FIX_CALLEE  rel32 of a call: the function of the kernel or of a loaded module that begins at
 *		   `target`; a module stays loaded as long as the chunk may run. At most
 *		   KI_LONG_OWNERS modules
 *  KI_FIX_SELF    the %gs displacement of what `target` says, enum ki_self
 *  KI_FIX_FIELD   the displacement of a field of the current task, enum ki_field; of COMM with 8 in
 *		   the upper half of `target`: its second word
 *  KI_FIX_WORD	   the displacement of the current thread's word number `target` from where
 *		   KI_SELF_WORDS says; an operation on one byte may have that byte's number in the
 *		   word, 0 to 7, in the upper half of `target`
 */
enum ki_fixup_kind {
	KI_FIX_NONE,
	KI_FIX_REL32,
	KI_FIX_ABS32,
	KI_FIX_PERCPU,
	KI_FIX_GLOBAL,
	KI_FIX_HELPER,
	KI_FIX_CALLEE,
	KI_FIX_SELF,
	KI_FIX_FIELD,
	KI_FIX_WORD,
	KI_FIX_KINDS
};

enum ki_self {
	KI_SELF_TASK,  /* 8 bytes: the current task */
	KI_SELF_CPU,   /* 4 bytes: the number of this CPU */
	KI_SELF_WORDS, /* 8 bytes: where the current thread's words are; 0: it has none */
	KI_SELF_CLOCK, /* 8 bytes: the time stamp counter minus this is the thread's own clock, in
			  ticks for which it ran since it got its words, and 1; 0: it has none */
	KI_SELF_KCOV,  /* 8 bytes: 0: KCOV does not trace the blocks of the current task */
	KI_SELF_KCOV_COMPARISONS, /* 8 bytes: 0: it does not trace its comparisons */
	KI_SELVES
};

enum ki_field {
	KI_FIELD_PID,	 /* 4 bytes: the thread's number in the first namespace */
	KI_FIELD_TGID,	 /* 4 bytes: the process's */
	KI_FIELD_COMM,	 /* 16 bytes: its name, ended by 0 */
	KI_FIELD_MINFLT, /* 8 bytes: page faults without I/O */
	KI_FIELD_MAJFLT, /* 8 bytes: with I/O */
	KI_FIELD_NVCSW,	 /* 8 bytes: times it gave up its CPU */
	KI_FIELD_NIVCSW, /* 8 bytes: times it was taken from it */
	KI_FIELDS
};

struct ki_fixup {
	__u8 kind; /* enum ki_fixup_kind */
	__u8 tail; /* 0..8 */
	__u16 zero;
	__u32 off; /* of the field in the code */
	__u64 target;
};

/*
 * Helpers: functions of the driver that long chunks call. Arguments in %rdi, %rsi, %rdx, %rcx, the
 * result in %rax; all other registers are kept, the arguments' too; flags are not. They do not
 * sleep.
 *
 * On a CPU that is in a helper already, at the same level (task, softirq, interrupt, NMI: an
 * instrument whose helper comes through instrumented code), they do nothing, return 0 and count
 * a skipped hit. Not so RECORD, TABLE, divisions, UID and CGROUP, which come through no such code:
 * they are never skipped.
 */
enum ki_helper {
#define KI_HELPER(tag, args, entry, vet, cost, text) KI_HELPER_##tag,
#include "kerninst_helpers.def"
#undef KI_HELPER
	KI_HELPERS
};

#define KI_SIGNALS 64 /* the last one that helper SIGNAL sends */

/*
 * What helper KCOV_COMPARISON is told: the low half of the instruction's address, which is
 * sign-extended; the size of what is compared as a power of 2 (0..3); what else is known. Of a
 * value only so many bytes count.
 */
#define KI_COMPARISON(addr, log2, flags)                                                           \
	((__u64)(__u32)(addr) | (__u64)((log2)&3) << 32 | (__u64)(flags) << 34)
#define KI_COMPARISON_CONST  0x01 /* the first value is a number in the code */
#define KI_COMPARISON_HIGH   0x02 /* a value is bits 8 to 15 of its word; << 1: of the second */
#define KI_COMPARISON_MEMORY 0x08 /* the word is the address of the value; << 1: the second one */
#define KI_COMPARISON_WORDS  3	  /* on the stack */

#include "kerninst_splice.h"

#define KI_IOC_INFO	_IOWR('k', 0x40, struct ki_info)
#define KI_IOC_READ	_IOWR('k', 0x41, struct ki_read)
#define KI_IOC_RESERVED _IOWR('k', 0x42, struct ki_reserved)
#define KI_IOC_COUNTERS _IOWR('k', 0x43, struct ki_counters)
#define KI_IOC_GLOBALS	_IOWR('k', 0x46, struct ki_globals)
#define KI_IOC_WORDS	_IOWR('k', 0x47, struct ki_words)
#define KI_IOC_INSIDE	_IOWR('k', 0x48, struct ki_inside)
#define KI_IOC_RING	_IOWR('k', 0x49, struct ki_ring)
#define KI_IOC_TABLE	_IOWR('k', 0x4a, struct ki_table_request)
#define KI_IOC_STACKS	_IOWR('k', 0x4b, struct ki_stacks)
#define KI_IOC_TEXTS	_IOWR('k', 0x4f, struct ki_texts)
#define KI_IOC_EVENT	_IOWR('k', 0x4c, struct ki_event_req)
#define KI_IOC_GLOBAL	_IOWR('k', 0x4d, struct ki_global)

#include "kerninst_held.h"
#include "kerninst_process.h"
#include "kerninst_sizes.h"

#endif
