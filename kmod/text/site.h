/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The places in the text that are written, and in which order a group's windows stand in its patch.
 */
#ifndef KI_SITE_H
#define KI_SITE_H

#include "ki.h"

/* site.c. Sites never overlap. */
bool __must_check ki_site_claim(struct ki_site *s, unsigned long addr, u8 len, const u8 *orig)
	__must_hold(&ki_lock);
void ki_site_drop(struct ki_site *s) __must_hold(&ki_lock); /* not claimed is allowed */
struct ki_site *ki_site_touching(unsigned long start, unsigned long end) __must_hold(&ki_lock);
struct ki_site *ki_site_next(struct ki_site *s) __must_hold(&ki_lock);

/* lay.c */
/* The order that a request says of a new group's windows, if it says one. KI_R_OK, or why not. */
u16 __must_check ki_lay_out(struct ki_group *g, const struct ki_window *req) __must_hold(&ki_lock);
/* Is it that of the group that these windows are in? */
u16 __must_check ki_lay_same(const struct ki_group *g, struct ki_win *const *wins,
			     const struct ki_window *req, u32 n) __must_hold(&ki_lock);

#endif
