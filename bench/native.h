/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads of pure computation by the kernel's functions, lifted into this process (test/lift).
 */
#ifndef BENCH_NATIVE_H
#define BENCH_NATIVE_H

#include "lift.h"

struct native_load {
	const char *name, *does;
	int (*prepare)(const char *system_map); /* -1: the kernel has not what it needs */
	void (*once)(unsigned int n);		/* the n-th operation */
};

extern const struct native_load native_loads[];
extern const size_t native_nloads;

#endif
