/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the stack is like at each instruction of a function: a number that is the same where it is
 * the same, as far as that can be told from the code.
 */
#ifndef KI_SPLICE_FRAMES_H
#define KI_SPLICE_FRAMES_H

#include "kerninst/code.h"

#define KI_FRAME_NONE INT64_MIN /* nothing executes it */

/* frame[fn->ninsns]; 0 or -ENOMEM. */
int ki_frames_find(const struct ki_function *fn, int64_t *frame);

#endif
