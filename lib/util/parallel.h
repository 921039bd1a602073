/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A loop on several threads.
 */
#ifndef KI_UTIL_PARALLEL_H
#define KI_UTIL_PARALLEL_H

#include <stddef.h>

/* How many CPUs this process may use; at least 1. */
unsigned int ki_parallel_cpus(void);

/*
 * Call step(arg, thread, i) for each i < n, once, in any order, from `threads` threads (this one
 * among them; fewer if no more can be had), which are numbered from 0. Returns the first error
 * that a step returned, after which no new step begins; 0 if there was none.
 */
typedef int (*ki_parallel_step)(void *arg, unsigned int thread, size_t i);
int ki_parallel(size_t n, unsigned int threads, ki_parallel_step step, void *arg);

#endif
