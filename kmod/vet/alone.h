/* SPDX-License-Identifier: GPL-2.0-only */
/* Does the rest of a function matter to a window in its first bytes? */
#ifndef KI_VET_ALONE_H
#define KI_VET_ALONE_H

#include <linux/types.h>

struct ki_alone {
	const u8 *bytes; /* of the function */
	unsigned long size, start;
	unsigned long from, to; /* the window's offsets */
};

/* False also where that is not known without the function being decoded. */
bool ki_window_is_alone(const struct ki_alone *x);

#endif
