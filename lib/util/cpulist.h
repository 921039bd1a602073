/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of CPUs as the kernel writes them: 0-3,8
 */
#ifndef KERNINST_CPULIST_H
#define KERNINST_CPULIST_H

#include <stdbool.h>
#include <stddef.h>

#define CPULIST_MOST 8192 /* CPUs */

struct cpu_range {
	unsigned int first, last;
};

/*
 * The next range of the list, which begins at *at; *at is then behind it. 1; 0: that was all; -1:
 * this is no list.
 */
int cpulist_next(const char **at, struct cpu_range *out);

/* Is the CPU running? true if that cannot be found out. */
bool cpulist_is_online(unsigned int cpu);

#endif
