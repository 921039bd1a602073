#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls by program.
 */
syscall:::entry
{
	@[execname] = count();
}
