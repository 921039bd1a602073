#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who gives up the CPU, and who is taken from it.
 */
sched:::sleep
{
	@sleeps[execname] = count();
}

sched:::preempt
{
	@preempted[execname] = count();
}

END
{
	printf("sleeps:\n");
	printa(@sleeps);
	printf("preempted:\n");
	printa(@preempted);
}
