#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long programs wait for a device at a time, in microseconds.
 */
io:::wait-start
{
	self->began = timestamp;
}

io:::wait-done
/self->began/
{
	@[execname] = quantize((timestamp - self->began) / 1000);
	self->began = 0;
}
