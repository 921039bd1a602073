/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which functions are moved as a whole.
 */
#ifndef KERNINST_POINTS_MOVE_H
#define KERNINST_POINTS_MOVE_H

#include "point/resolve.h"

/* Plan it, if the function at hand is to be. All its points are known. 0, or -errno. */
int ki_points_move(struct resolver *r);

#endif
