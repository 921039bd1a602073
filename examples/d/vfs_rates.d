#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of the file system layer, each second.
 */
vfs:::
{
	@[probename] = count();
}

tick-1s
{
	printf("%Y\n", walltimestamp);
	printa("  %-12s %@8d\n", @);
	trunc(@);
}
