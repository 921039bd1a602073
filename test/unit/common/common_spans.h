/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must be true of the windows of any function, seen from outside.
 */
#ifndef COMMON_SPANS_H
#define COMMON_SPANS_H

#include "kerninst/splice.h"

/* Windows: whole instructions of one block; all that can be displaced is in one. */
void spans_check_cut(const struct ki_function *fn, const struct ki_spans *s);

/* Springboards: they fit, reach, stand where nothing is executed, and none on another. */
void spans_check_boards(const struct ki_function *fn, const struct ki_spans *s);

#endif
