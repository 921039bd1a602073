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
 */
struct ki_patches {
	__u32 size;
	__u32 windows; /* out: of these patches */
	__u32 groups;  /* out: patches of several windows: functions that are moved */
	__u32 zero;
	__u64 bytes;	   /* out: of the text heap */
	__u64 group_bytes; /* out: what groups have of these */
};

#define KI_IOC_PATCHES _IOWR('k', 0x4e, struct ki_patches)

#endif
