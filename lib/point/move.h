/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which functions are moved as a whole.
 */
#ifndef KERNINST_POINTS_MOVE_H
#define KERNINST_POINTS_MOVE_H

#include "points_grant.h"

/* Plan it, if the function at hand is to be. All its points are known. CLI_OK, or reported. */
int points_move(struct resolver *r);

#endif
