/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: a live process, changed without stopping it.
 *
 * What is put into a process runs in its user mode, with its rights, so the driver does not read
 * it: who may trace a process may put any code into it. What the driver sees to is that no
 * thread ever meets half of a change; that breakpoints are ours alone, and that text is
 * given back when the session ends.
 *
 * In this order, each once in a session but for PROCESS_MAP: PROCESS, PROCESS_MEMORY, PROCESS_MAP,
 * PROCESS_EDIT; then PROCESS_RELEASE, as often as it is wanted. When the session ends, or is
 * evicted, every byte goes back in the process and in what it has forked since. The memory stays
 * where it is mapped until these processes end, or become other programs: it is not known when a
 * thread is no more in it.
 */
#ifndef _UAPI_KERNINST_PROCESS_H
#define _UAPI_KERNINST_PROCESS_H

#include <linux/types.h>

/*
 * KI_IOC_PROCESS: the process that this session changes, from now on: the memory that it has now;
 * once it has become another program nothing more is changed there. The caller must be allowed to
 * attach to it with ptrace. Reasons: KI_R_PROCESS_PERMISSION, KI_R_PROCESS_32BIT, or
 * KI_R_PROCESS_GONE, also for threads of the kernel. -EEXIST if the session has a process.
 *
 * `apart` says that each of its threads has its FS base in the word at that address, so code may
 * know its thread by %fs:0. 0 is said where that is not certain. A program begins without it, and
 * once a C library has seen to it, it stays so.
 */
struct ki_process_open {
	__u32 size;
	__s32 pid; /* as the caller sees it */
	__u32 reason;
	__u32 apart; /* out: 1 or 0 */
};

/*
 * KI_IOC_PROCESS_MEMORY: memory of zeros that the process and the caller share, -EEXIST if there
 * is some. Mapped from the descriptor at KI_MAP_PROCESS; that mapping lives on by itself. Charged
 * as pages of the session.
 */
struct ki_process_memory {
	__u32 size;
	__u32 reason; /* out */
	__u64 bytes;  /* whole pages, up to KI_PROCESS_BYTES */
};

#define KI_PROCESS_BYTES (256u << 20)
#define KI_MAP_PROCESS	 0xc0000000

/*
 * KI_IOC_PROCESS_MAP: map a part of it into the process, shared. -EEXIST: something is there
 * already; KI_R_PROCESS_GONE.
 *
 * KI_PROCESS_OWN alone, `offset` 0: private memory of zeros that the process reads and writes; what
 * it forks finds zeros there. Before KI_IOC_PROCESS_MEMORY, too. Charged as pages of the session,
 * also if it then cannot be mapped. The caller sees it by /proc/PID/mem.
 */
struct ki_process_map {
	__u32 size;
	__u32 flags;  /* KI_PROCESS_CODE, KI_PROCESS_OWN */
	__u64 addr;   /* in the process */
	__u64 len;    /* whole pages, as the others */
	__u64 offset; /* in the memory */
	__u32 reason; /* out */
	__u32 zero;
};

#define KI_PROCESS_CODE 0x1 /* to be executed and not written; else the other way round */
#define KI_PROCESS_OWN	0x2 /* the process's own */

/*
 * KI_IOC_PROCESS_EDIT: change bytes of the text, in order of address. All expected bytes are
 * compared first; if one differs nothing is changed: KI_R_BYTES_CHANGED. The text must be private
 * memory that is executed: KI_R_PROCESS_TEXT. `len` is 1, a breakpoint (0xcc), or 5, a jump (0xe9)
 * in the place of one instruction; that alone no thread can be in the middle of.
 *
 * A thread that meets the breakpoint, for good or while a jump is written, goes on at `via`: it
 * gets no signal, and no debugger hears of it.
 *
 * KI_PROCESS_HIT, of a breakpoint: before that the kernel calls a function of the driver's, the
 * symbol ki_hit_N of module kerninst: it gets the address and the thread's struct pt_regs, whose
 * ip is that address; interrupts are off. It does nothing but what sessions splice there. N is
 * KI_PROCESS_STUB(address): so several places may share one, and what is forked from the process
 * comes there too. Chunks have to compare the address and the process.
 *
 * KI_PROCESS_HOLD alone, of a breakpoint: the thread waits there, before it goes on at `via`, until
 * KI_IOC_PROCESS_GO lets it, the session ends, or KI_PROCESS_HOLD_MS have gone by. One thread of a
 * session waits at a time, and none of what is forked from the process; who comes meanwhile does
 * not. The descriptor is readable while one waits, and, until KI_IOC_PROCESS_GO says so, after one
 * has gone by itself. A thread that is being killed goes at once. Several sessions may have it at
 * one place: the thread goes on when all of them have let it go.
 *
 * KI_PROCESS_SEMAPHORE alone, `via`, `orig` and `now` 0, `len` 2, is no text, but a word of two
 * bytes at an even address. It is in private memory that the process may write. The word is one
 * more while the session lasts; the program asks whether it is 0. A word that is 0 by then is
 * left.
 */
struct ki_process_edit {
	__u64 addr;
	__u64 via;
	__u8 len;
	__u8 orig[5];
	__u8 now[5];
	__u8 flags; /* KI_PROCESS_HIT, KI_PROCESS_SEMAPHORE, KI_PROCESS_HOLD */
	__u8 zero[4];
};

#define KI_PROCESS_HIT	      0x1
#define KI_PROCESS_SEMAPHORE  0x2
#define KI_PROCESS_HOLD	      0x4
#define KI_PROCESS_HOLD_MS    2000
#define KI_PROCESS_STUBS      1024
#define KI_PROCESS_STUB(addr) ((__u32)((__u64)(addr)*0x9e3779b97f4a7c15ull >> 54))

struct ki_process_edits {
	__u32 size;
	__u32 count;  /* 1..KI_BATCH_WINDOWS */
	__u64 edits;  /* user memory: struct ki_process_edit[count] */
	__u32 bad;    /* out: which one is refused */
	__u32 reason; /* out */
};

/*
 * KI_IOC_PROCESS_RELEASE: give back some of the edits, for good, and leave the others. Their bytes
 * go back as at the end, in the process and in what it has forked. No semaphores. One that has been
 * given back already, and all of a process that has ended or of a session that has been evicted,
 * need nothing. KI_R_NO_MEMORY, -EINTR: what has not been given back can be asked for again.
 */
struct ki_process_release {
	__u32 size;
	__u32 count;   /* 1..KI_BATCH_WINDOWS */
	__u64 numbers; /* user memory: __u32[count]: which of the edits, in rising order */
	__u32 zero;
	__u32 reason; /* out */
};

/* KI_IOC_PROCESS_GO: let the thread go that waits. -ESRCH: none does, or it has gone by itself. */
struct ki_process_go {
	__u32 size;
	__u32 reason; /* out */
};

#define KI_IOC_PROCESS	       _IOWR('k', 0x61, struct ki_process_open)
#define KI_IOC_PROCESS_MEMORY  _IOWR('k', 0x62, struct ki_process_memory)
#define KI_IOC_PROCESS_MAP     _IOWR('k', 0x63, struct ki_process_map)
#define KI_IOC_PROCESS_EDIT    _IOWR('k', 0x64, struct ki_process_edits)
#define KI_IOC_PROCESS_GO      _IOWR('k', 0x65, struct ki_process_go)
#define KI_IOC_PROCESS_RELEASE _IOWR('k', 0x66, struct ki_process_release)

#endif
