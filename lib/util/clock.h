/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_UTIL_CLOCK_H
#define KI_UTIL_CLOCK_H

#include <time.h>

/* Seconds of CLOCK_MONOTONIC. */
static inline double ki_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
