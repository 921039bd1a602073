/* SPDX-License-Identifier: GPL-2.0-only */
/* States in which functions are called: random ones, recorded ones, and those that were changed. */
#ifndef LIFT_STATE_H
#define LIFT_STATE_H

#include "call.h"

enum state_kind { STATE_RANDOM, STATE_RECORDED, STATE_CHANGED, STATE_KINDS };

/* Of these functions. */
void state_init(const struct lift *l, const struct ki_symbol *const *fns, size_t n);

/*
 * The nth state of a function: first those that were recorded of it, if recorded_open was called.
 * Every other one of the rest is one of them, in which some words were changed. Without recorded
 * ones all are random.
 */
enum state_kind state_make(uint64_t entry, size_t nth, struct call_state *s);

uint64_t state_below(uint64_t n);

#endif
