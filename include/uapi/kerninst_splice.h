/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: windows, chunks, and the requests that put them in and take them out.
 */
#ifndef _UAPI_KERNINST_SPLICE_H
#define _UAPI_KERNINST_SPLICE_H

#include <linux/types.h>

/* The relocated copy of one displaced instruction. */
struct ki_copy {
	__u8 orig_len; /* bytes of the original instruction */
	__u8 len;      /* bytes of the copy */
	__u8 nfix;
	__u8 zero[5];
	struct ki_fixup fix[KI_FIXUPS];
	__u8 code[KI_COPY_MAX];
};

/*
 * A springboard: what is written into the text so that control comes into a window's patch.
 *
 *  KI_BOARD_JMP	 5 bytes, jmp rel32
 *  KI_BOARD_BOUNCE 2 bytes, jmp rel8 to the bounce: a jmp rel32 in 5 bytes that nothing executes.
 *		 These are filler (int3 or nop after code that never falls through, in the same
 *		 function), or lie after the springboard of another window, its host, and before
 *		 the call that this may end in. The host must be installed, or be in the same
 *		 request before or after; it stays as long as a window bounces in it.
 *  KI_BOARD_TRAP	 1 byte, int3; the driver's handler knows the address
 */
enum ki_board_kind { KI_BOARD_JMP, KI_BOARD_BOUNCE, KI_BOARD_TRAP, KI_BOARD_KINDS };

/*
 * A window: whole instructions inside one basic block that one springboard displaces. If its
 * last instruction never falls through, bytes of 0xcc after it may belong to the window.
 * A window without a chunk is a host, and must be one, or is in a group.
 *
 * A group: neighbours in the request with the same number in `group`, not 0. They are linked into
 * one patch: control that falls out of one into the next, or branches from one to the beginning of
 * another, stays in the patch. All windows of a function make the whole function move there. A
 * window that control comes to only from others of its group needs no springboard:
 * KI_WINDOW_UNBOARDED; but its chunks then see only what comes from there. Windows of an
 * installed group may be asked for one by one, or all together as the same group.
 *
 * A group may be laid out: all of its windows have KI_WINDOW_LAID, and their places are the numbers
 * below their count, each once. They stand in the patch in this order. Branches are inverted,
 * added and left out so that all goes on as before, and calls are made from the patch. Else windows
 * stand as in the text, and calls are made there.
 *
 * A window with KI_WINDOW_CALL ends in a direct call or jump of 5 bytes, e8 or e9; and it is only
 * that or has 5 bytes and more before it. Its board is KI_BOARD_JMP, and it is in no group or in
 * one that is laid out: there it is a caller's, whose function stays in the text. While nothing
 * else stands in it, it has no springboard: the call in the text leads to the one replacement of
 * it, or to where its function stands in the group. No window can bounce in it.
 *
 * A window with KI_WINDOW_BRANCH is one static branch of a function that a compiler made. It has
 * KI_WINDOW_LAID and KI_WINDOW_UNBOARDED, its board is KI_BOARD_TRAP, and its bytes are zero here:
 * the kernel writes them, and goes on to. In the patch stands a comparison of the key with 0, and a
 * conditional jump. Its one copy is always `jne target`; the driver turns it round where the branch
 * is taken while the key is off.
 *
 * A window with KI_WINDOW_STATIC_CALL is one static call of such a function of the kernel's own, of
 * 5 bytes, and no jump. The same holds for it. In the patch stands a call of its trampoline, which
 * the driver finds. Its one copy is that of a call of address 0.
 */
struct ki_window {
	__u64 addr;
	__u64 bounce;	  /* KI_BOARD_BOUNCE: where; else 0 */
	__u32 first_copy; /* index of its first copy in the request's array */
	__u8 len;	  /* bytes, 1..KI_WINDOW_MAX, at least those of the springboard */
	__u8 ncopy;	  /* displaced instructions, 1..KI_WINDOW_INSNS */
	__u8 board;	  /* enum ki_board_kind */
	__u8 flags;	  /* KI_WINDOW_* */
	__u16 reason;	  /* out: KI_R_* of this window */
	__u16 place;	  /* KI_WINDOW_LAID: where it stands in the patch, from 0 on; else 0 */
	__u32 group;	  /* 0: none */
	__u8 orig[KI_WINDOW_MAX]; /* the bytes expected there in KI_VIEW_ORIG; the rest zero */
};

#define KI_WINDOW_UNBOARDED   0x1  /* of a group: no springboard is written */
#define KI_WINDOW_LAID	      0x2  /* of a group: `place` counts */
#define KI_WINDOW_CALL	      0x4  /* it ends in a call that may lead elsewhere where it stands */
#define KI_WINDOW_BRANCH      0x8  /* laid out: a static branch, which asks its key in the patch */
#define KI_WINDOW_STATIC_CALL 0x10 /* laid out: a static call, of its trampoline in the patch */
#define KI_WINDOW_WRITTEN     (KI_WINDOW_BRANCH | KI_WINDOW_STATIC_CALL) /* by the kernel */
#define KI_WINDOW_ASIDE	      0x20 /* laid out: it begins in the last KI_ASIDE bytes of a page */
#define KI_WINDOW_FLAGS	      0x3f

/*
 * Of a group in which some windows stand aside, the others begin before the last KI_ASIDE bytes of
 * a page. So both have their own sets of a cache that finds its sets by the bits within a page.
 * What is between is filled with int3. Windows take turns in standing aside, in the order of their
 * places, KI_ASIDES times at most.
 */
#define KI_ASIDE  512
#define KI_ASIDES 2048

/*
 * Where a chunk stands, seen from one displaced instruction.
 *
 * KI_RETURNED is for tail jumps: direct ones, conditional or not, to the beginning of another
 * function, with nothing on the stack but the return address. The function gets a return address
 * of the driver's; and when it has come back there and these chunks have run, control goes to the
 * caller. The driver follows the code that the jump leads to, and refuses what it cannot prove:
 * that nothing there takes arguments on the stack, and that it does not come back to the jump
 * without a return. Such a jump cannot be replaced at the same time. When such chunks are taken out
 * while a task is still to come back, the driver stays loaded until it has (ki_info.leftovers).
 */
enum ki_where {
	KI_BEFORE,   /* runs whenever the instruction is about to */
	KI_AFTER,    /* runs when control goes on after it: a branch that is not taken */
	KI_TAKEN,    /* runs when a direct branch is taken, or a fault goes to its fixup */
	KI_RETURNED, /* runs when the function that a tail jump went to has returned */
	KI_WHERES
};

/*
 * What a chunk is:
 *    - inserted code, of which kmod/vet/vet.c says what may be in it
 *    - inserted code of struct ki_long at the user's address `target` (len and nfix are 0),
 *      kmod/vet/vet_long.c
 *    - a replacement: control goes to the function at `target` (len and nfix are 0)
 *
 * That a chunk which changes the flags stands where they are dead is for the sender to know.
 *
 * KI_CHUNK_REPLACE with KI_BEFORE, at the first window of a function: the function is replaced; the
 * other is called as the original is. With KI_TAKEN, of a direct call or jump: this one goes there.
 * Of several at one place the one installed last counts; when it is taken out, the one before it
 * counts again.
 *
 * KI_CHUNK_GUARDED with KI_BEFORE, at the first window of a function: calls with one value of an
 * argument go to the function at `target`, all others go on. `code` is the comparison, one
 * `cmp $value, %reg` of 4 or 8 bytes of a register (nfix is 0); the flags are free there. Several
 * may stand at one place, and a replacement after them.
 *
 * KI_CHUNK_KEEP, before the first instruction of a window of a group that is laid out: no code, but
 * a group stays as long as it has a chunk (len, nfix and target are 0).
 */
enum ki_chunk_kind {
	KI_CHUNK_CODE,
	KI_CHUNK_LONG,
	KI_CHUNK_REPLACE,
	KI_CHUNK_KEEP,
	KI_CHUNK_GUARDED,
	KI_CHUNK_KINDS
};

/* The code of a long chunk; fixups in order of their offsets. */
struct ki_long {
	__u32 len;    /* bytes, 1..KI_LONG_MAX */
	__u32 nfix;   /* 0..KI_LONG_FIXUPS */
	__u64 code;   /* user memory: __u8[len] */
	__u64 fixups; /* user memory: struct ki_fixup[nfix] */
};

/*
 * A chunk. Chunks of one place run in the order of their `order`, those of one order as they were
 * installed; KI_CHUNK_REPLACE after all others.
 */
struct ki_chunk {
	__u32 window; /* index in the request's array of windows */
	__u8 insn;    /* displaced instruction, 0..ncopy-1 */
	__u8 where;   /* enum ki_where */
	__u8 kind;    /* enum ki_chunk_kind */
	__u8 len;     /* KI_CHUNK_CODE: 1..KI_CHUNK_MAX bytes; KI_CHUNK_GUARDED: the comparison's */
	__u8 nfix;
	__u8 zero;
	__u16 order;
	__u32 id;     /* out: names the chunk in KI_IOC_UNSPLICE */
	__u32 reason; /* out: KI_R_* of this chunk */
	__u32 zero2;
	__u64 target; /* KI_CHUNK_REPLACE, _GUARDED: the function; _LONG: struct ki_long; else 0 */
	struct ki_fixup fix[KI_FIXUPS];
	__u8 code[KI_CHUNK_MAX];
};

/*
 * KI_IOC_SPLICE: install chunks. All windows must be in order of address and must not overlap
 * each other. Every window is checked before anything is written; on failure each refused
 * window or chunk carries its reason, and `reason` is that of the first.
 *
 * Returns when every CPU runs the new code. May take a second: if a springboard or a bounce covers
 * places between instructions, the driver waits until no task can be there. Or, in small requests,
 * if it can, it sees to it that such a task traps and goes on in the patch.
 */
struct ki_splice {
	__u32 size;
	__u32 flags;   /* KI_SPLICE_* */
	__u64 windows; /* in/out: struct ki_window[nwindows] */
	__u64 copies;  /* in: struct ki_copy[ncopies] */
	__u64 chunks;  /* in/out: struct ki_chunk[nchunks] */
	__u32 nwindows;
	__u32 ncopies;
	__u32 nchunks;
	__u32 reason; /* out */
};

/*
 * A module whose name begins so has copies of the kernel's functions, and nothing else. As long as
 * a task is in one to which control was led, the module cannot be unloaded.
 */
#define KI_COPIES_PREFIX "kerninst_copy_"

#define KI_SPLICE_DRY_RUN 0x1 /* check everything, change nothing */

/*
 * KI_IOC_UNSPLICE: take chunks out: the ones named, or all of the session with KI_UNSPLICE_ALL.
 * Returns when the original bytes stand again and every CPU runs them. -ENOENT if an id is not
 * one of this session's; then nothing has changed. -EBUSY, KI_R_FOREIGN_BREAKPOINT, if another
 * tool (a kprobe) stands in a window that is not needed now: that window stays until the tool has
 * gone (KI_IOC_HELD). In either case none of the chunks runs any more, and none is the session's.
 */
struct ki_unsplice {
	__u32 size;
	__u32 flags; /* KI_UNSPLICE_* */
	__u64 ids;   /* __u32[count] */
	__u32 count;
	__u32 reason; /* out */
};

#define KI_UNSPLICE_ALL 0x1

#define KI_IOC_SPLICE	_IOWR('k', 0x44, struct ki_splice)
#define KI_IOC_UNSPLICE _IOWR('k', 0x45, struct ki_unsplice)

#endif
