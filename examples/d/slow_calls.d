#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls that take longer than so many milliseconds: slow_calls.d 10
 */
syscall:::entry
{
	self->began = timestamp;
}

syscall:::return
/self->began && timestamp - self->began > $1 * 1000000/
{
	printf("%-16s %6d %-20s %8d us\n", execname, pid, probefunc,
	    (timestamp - self->began) / 1000);
}

syscall:::return
{
	self->began = 0;
}
