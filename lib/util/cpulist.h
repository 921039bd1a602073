/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lists of CPUs as the kernel writes them: 0-3,8
 */
#ifndef KERNINST_CPULIST_H
#define KERNINST_CPULIST_H

#include <stdbool.h>
#include <stddef.h>

#define CPULIST_MOST 8192 /* CPUs */

struct ki_cpu_range {
	unsigned int first, last;
};

/*
 * The next range of the list, which begins at *at; *at is then after it. 1; 0: that was all; -1:
 * this is no list.
 */
int ki_cpulist_next(const char **at, struct ki_cpu_range *out);

/* Is the CPU running? true if that cannot be found out. */
bool ki_cpulist_is_online(unsigned int cpu);

#endif
