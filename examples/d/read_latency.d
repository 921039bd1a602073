#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long vfs_read takes, by program.
 */
vfs:::read
{
	self->began = timestamp;
}

vfs:::read-done
/self->began/
{
	@[execname] = quantize(timestamp - self->began);
	self->began = 0;
}
