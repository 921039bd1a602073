#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that could not be executed, by error.
 */
proc:::exec-failure
{
	@[execname, -arg1] = count();
}

END
{
	printf("%-16s %6s %8s\n", "NAME", "ERROR", "COUNT");
	printa("%-16s %6d %@8d\n", @);
}
