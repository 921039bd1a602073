#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes and threads that begin, by who makes them.
 */
proc:::create
{
	@[execname] = count();
}
