#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel in which the CPUs are met.
 */
profile-97
/arg0/
{
	@[arg0] = count();
}

END
{
	trunc(@, 20);
	printa("%-60a %@8d\n", @);
}
