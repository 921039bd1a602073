/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's helper MINMAX (kmod/helpers/minmax.c), compiled into tests.
 */
#ifndef COMMON_MINMAX_H
#define COMMON_MINMAX_H

#include <stdint.h>

/* Where variables are: globals, and the %gs displacements of counters and of the pointer to words.
 */
void minmax_init(uint64_t *globals, int64_t counters, int64_t words);
uint64_t ki_do_MINMAX(uint32_t what, uint64_t x, uint64_t index);

#endif
