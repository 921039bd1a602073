/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which windows of a function that is moved as a whole need a springboard.
 */
#ifndef KI_SPLICE_MOVE_H
#define KI_SPLICE_MOVE_H

#include "kerninst/splice.h"

/*
 * Set boarded[i], of spans->n that are false, for each window that control comes to from the
 * text. laid: calls are made from the patch, and come back there. -EINVAL: it would come into the
 * middle of one; the function cannot be moved. -ENOMEM.
 */
int ki_move_boards(const struct ki_function *fn, const struct ki_spans *spans, bool laid,
		   bool *boarded);

/*
 * Add the windows of what the kernel writes in a function, for a layout: its static branches, and
 * calls if it is the kernel's own. Of each to which control comes from the layout alone. The flags
 * must be free at all of them. -ENOMEM: no matter how far it came.
 */
int ki_spans_add_written(const struct ki_function *fn, struct ki_spans *s);

#endif
