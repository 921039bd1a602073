#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long each system call takes: a distribution for each, in nanoseconds.
 */
syscall:::entry
{
	self->began = timestamp;
}

syscall:::return
/self->began/
{
	@[probefunc] = quantize(timestamp - self->began);
	self->began = 0;
}
