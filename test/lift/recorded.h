/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States in which a running kernel called its functions (test/plugin/states.c), as states of lifted
 * ones: an address of the kernel's image is where that is now. Memory that was recorded stands in
 * that of the state, after the task's, and what leads there leads there. What leads to other memory
 * of the kernel leads into the task.
 */
#ifndef LIFT_RECORDED_H
#define LIFT_RECORDED_H

#include "call.h"

/* 0; -1: a line on stderr says why. */
int recorded_open(const char *path, const struct lift *l);

/* How many there are of a function, and of all. */
size_t recorded_count(uint64_t entry);
size_t recorded_all(void);

/* The k-th one of a function, over a state that is filled. */
void recorded_put(uint64_t entry, size_t k, struct call_state *s);

#endif
