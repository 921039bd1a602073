#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where threads go to sleep: the kernel stacks, the most frequent last.
 */
sched:::sleep
{
	@[stack(8)] = count();
}

END
{
	trunc(@, 10);
}
