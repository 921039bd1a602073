#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that are waited for: where.
 */
lockstat:::adaptive-block
{
	@[stack(6)] = count();
}

END
{
	trunc(@, 10);
}
