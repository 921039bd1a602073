#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many CPUs are in a process, and how many in the kernel, each second.
 */
profile-97
/arg1/
{
	@["process"] = count();
}

profile-97
/arg0/
{
	@["kernel"] = count();
}

tick-1s
{
	printa("%-10s %@6d\n", @);
	trunc(@);
}
