#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What vfs_read is asked for and what it gives, by program.
 */
vfs:::read
{
	@asked[execname] = quantize(arg2);
}

vfs:::read-done
/(int64_t)arg1 >= 0/
{
	@given[execname] = quantize(arg1);
}

END
{
	printf("asked for:\n");
	printa(@asked);
	printf("given:\n");
	printa(@given);
}
