#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the kernel works at what was queued.
 */
callout:::work-start
{
	self->began = timestamp;
}

callout:::work-end
/self->began/
{
	@[arg1] = quantize(timestamp - self->began);
	self->began = 0;
}

END
{
	printa("%a\n%@d\n", @);
}
