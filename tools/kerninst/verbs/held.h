/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the driver could not give back yet, and who holds it: for kerninst info.
 */
#ifndef KERNINST_HELD_H
#define KERNINST_HELD_H

#include "kerninst/target.h"
#include "out/json.h"

void held_print(const struct ki_target *t);
void held_json(struct ki_json *j, const struct ki_target *t);

#endif
