#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long threads wait for a CPU after they were woken, in microseconds.
 */
sched:::wakeup
{
	woken[arg0] = timestamp;
}

sched:::off-cpu
/woken[arg0]/
{
	@["microseconds in the run queue"] = quantize((timestamp - woken[arg0]) / 1000);
	woken[arg0] = 0;
}
