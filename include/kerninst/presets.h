/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Presets: lists of functions that are looked at together.
 */
#ifndef KERNINST_PRESETS_H
#define KERNINST_PRESETS_H

#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is it the name of one? */
bool ki_preset_is(const char *name);

/* Ask for its functions, those that this kernel has: 0, or -errno. */
int ki_preset_ask(const char *name, struct ki_target *t, struct ki_asked *a, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
