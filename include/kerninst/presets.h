/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Presets: lists of functions that are looked at together.
 */
#ifndef KERNINST_PRESETS_H
#define KERNINST_PRESETS_H

#include "points.h"

/* Is it the name of one? */
bool preset_is(const char *name);

/* Ask for its functions, those that this kernel has: CLI_OK, or reported. */
int preset_ask(const char *name, struct ki_target *t, struct asked *a);

#endif
