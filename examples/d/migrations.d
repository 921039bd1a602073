#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that move from one CPU to another.
 */
sched:::migrate
{
	@[arg1] = count();
}

END
{
	printa("to CPU %3d %@8d\n", @);
}
