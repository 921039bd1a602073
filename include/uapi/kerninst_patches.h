/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: the memory of patches.
 */
#ifndef _UAPI_KERNINST_PATCHES_H
#define _UAPI_KERNINST_PATCHES_H

#include <linux/types.h>

/*
 * KI_IOC_PATCHES: the patches, now, that chunks of this session stand in, and those of the hosts
 * that their windows bounce in. A patch of several sessions is told each of them, whole; what has
 * been taken out is not counted, though it may take memory (ki_info.heap_used) a moment longer.
 * Layouts are put into pages of 2 MiB; where there are none, into those of 4 KiB, and why is said.
 */
enum ki_small {
	KI_SMALL_NOT,	    /* there is nothing else */
	KI_SMALL_KERNEL,    /* this kernel gives the driver no such page */
	KI_SMALL_MEMORY,    /* no 2 MiB of memory were free in one piece */
	KI_SMALL_ADDRESSES, /* small pages have been in their place */
	KI_SMALL_LIMIT,	    /* the heap may not grow so far, or it was tried just before */
	KI_SMALLS
};

struct ki_patches {
	__u32 size;
	__u32 windows; /* out: of these patches */
	__u32 groups;  /* out: patches of several windows: functions that are moved */
	__u32 zero;
	__u64 bytes;	   /* out: of the text heap */
	__u64 group_bytes; /* out: what groups have of these */
	__u64 laid_bytes;  /* out: what layouts have */
	__u64 large_bytes; /* out: what is of that in pages of 2 MiB */
	__u32 small;	   /* out: enum ki_small, if not all of it is */
	__u32 none;
};

#define KI_IOC_PATCHES _IOWR('k', 0x4e, struct ki_patches)

#endif
