#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long each program is away from the CPU at a time.
 */
sched:::off-cpu
{
	self->away = timestamp;
}

sched:::on-cpu
/self->away/
{
	@[execname] = quantize((timestamp - self->away) / 1000);
	self->away = 0;
}
