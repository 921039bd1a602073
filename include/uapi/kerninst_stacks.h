/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: tables of stacks.
 */
#ifndef _UAPI_KERNINST_STACKS_H
#define _UAPI_KERNINST_STACKS_H

#include <linux/types.h>

/*
 * KI_IOC_STACKS: the stacks of this session, for helpers STACK and USTACK: a table in which each
 * stack that was met stands once, with a number. Once in a session; gone when it is closed.
 *
 * Mapped at KI_MAP_STACKS, `bytes`, PROT_READ: a page with struct ki_stacks_head, and after it
 * `rows` rows of `stride` bytes, struct ki_stack_row; stack number n is the row n - 1. A row is
 * there when its `frames` is not 0, and does not change any more.
 *
 * Rows are written without locks, in any context, and compared whole. If two CPUs (or an interrupt
 * and who it came to) meet the same stack for the first time at the same moment: it may stand
 * there twice. A row is looked for in KI_STACKS_TRIES places; if it finds none, the helper says 0,
 * and `lost` counts it. So each call that had frames to keep is a number that leads to them, or
 * lost, or was skipped (ki_info.skipped).
 *
 * -EEXIST if the session has one; -ENOMEM also if all tables together would take more than 1/8 of
 * the machine's memory; -ENOSPC if there are too many.
 */
struct ki_stacks {
	__u32 size;
	__u32 frames; /* of a stack, at most: 1..KI_STACK_FRAMES */
	__u32 rows;   /* a power of 2, 1..KI_STACKS_ROWS */
	__u32 zero;
	__u64 bytes;  /* out */
	__u32 stride; /* out */
	__u32 number; /* out: for KI_STACK */
	__u32 reason; /* out */
	__u32 zero2;
};

#define KI_STACK_FRAMES 127
#define KI_STACKS_ROWS	(1u << 20)
#define KI_STACKS_TRIES 64

#define KI_MAP_STACKS 0x90000000

struct ki_stacks_head {
	__u64 rows; /* that are there */
	__u64 lost; /* stacks for which there was no place */
};

/*
 * The innermost frame first. Of a kernel's stack that is the point itself, the others are return
 * addresses (or where an interrupt came): addresses of the original text; neither the driver nor
 * its patches stand there. Where an interrupt came into a patch stands the original address of code
 * at most 15 bytes before that in the patch; so of the same function. Of a user's stack it is where
 * the process entered the kernel.
 */
struct ki_stack_row {
	__u64 hash;   /* 0: the row is free */
	__u32 frames; /* 0: being written */
	__u32 tgid;   /* the process of a user's stack; 0: a kernel's */
	__u64 addr[];
};

/*
 * What %edi is for helpers STACK and USTACK, put there the moment before the call (mov $imm32,
 * %edi): the session's table, and so many of the innermost frames left out: of USTACK 127 at most.
 * Its skip may have KI_STACK_TOP in it, where the process is at the first instruction of a function
 * or at its return: there the return address is on top of the stack, and no frame pointer says so.
 */
#define KI_STACK(table, skip) ((table) << 8 | (skip))
#define KI_STACK_TOP	      0x80

#endif
