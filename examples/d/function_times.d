#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a function of the kernel takes: function_times.d vfs_read
 */
fbt::$1:entry
{
	self->began = timestamp;
}

fbt::$1:return
/self->began/
{
	@[probefunc] = quantize(timestamp - self->began);
	self->began = 0;
}
