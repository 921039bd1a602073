#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that are waited for: where, and how many nanoseconds in all.
 */
lockstat:::adaptive-block,
lockstat:::spin-spin
{
	@[stack(6)] = sum(arg1);
}

END
{
	trunc(@, 10);
}
