#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that fail: by program, call and error.
 */
syscall:::return
/errno/
{
	@[execname, probefunc, errno] = count();
}

END
{
	printf("%-16s %-24s %6s %8s\n", "NAME", "CALL", "ERROR", "COUNT");
	printa("%-16s %-24s %6d %@8d\n", @);
}
