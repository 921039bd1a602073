/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for many of a kind: array.c.
 */
#ifndef KI_ARRAY_H
#define KI_ARRAY_H

#include <linux/gfp.h>
#include <linux/types.h>

/* For n of `each` bytes; NULL: there is not so much. __GFP_ZERO: zeroed. May sleep. */
void *ki_array(size_t n, size_t each, gfp_t flags);
void ki_array_free(const void *p); /* NULL is allowed */

#endif
