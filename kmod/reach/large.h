/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of 2 MiB of the heap: large.c. For reach.c alone; what others ask is in reach.h.
 */
#ifndef KI_LARGE_H
#define KI_LARGE_H

#include "ki.h"
#include "reach/reach.h"

/* If the heap were there: could its first n large pages be mapped? */
bool ki_large_is_clean(unsigned long heap, u32 n);
void ki_large_give(size_t from); /* one that is there */
/* reach.c: would others have enough memory left? Pages that come, or go. */
bool ki_reach_leaves(unsigned long n);
void ki_reach_count(long n);

#endif
