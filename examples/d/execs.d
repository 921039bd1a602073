#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs as they are executed: who, and from which process.
 */
proc:::exec-success
{
	printf("%Y %-16s %6d\n", walltimestamp, execname, pid);
}
