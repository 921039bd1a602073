#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls by name: one counter at each, the cheapest way to count.
 */
syscall:::entry
{
	@[probefunc] = count();
}
