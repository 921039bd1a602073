#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals: who sends which to whom.
 */
proc:::signal-send
{
	@[execname, pid, arg2] = count();
}

END
{
	printf("%-16s %6s %6s %8s\n", "FROM", "PID", "SIGNAL", "COUNT");
	printa("%-16s %6d %6d %@8d\n", @);
}
