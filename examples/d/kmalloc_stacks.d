#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code allocates, and how much.
 */
kmem:::alloc
{
	@[stack(5)] = sum(arg0);
}

END
{
	trunc(@, 10);
}
