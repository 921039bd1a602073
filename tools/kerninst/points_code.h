/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is put at the places of a point: a counter, under a predicate if there is one.
 */
#ifndef KERNINST_POINTS_CODE_H
#define KERNINST_POINTS_CODE_H

#include "points_grant.h"

/*
 * Add the point's code at one of its places to the plan, and to the point's text if code is to be
 * shown. 0, or -errno.
 */
int points_put_code(struct resolver *r, struct point *p, const struct ki_place *place,
		    struct ki_err *err);

#endif
