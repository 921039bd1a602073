#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to block devices, by who makes them.
 */
io:::start
{
	@[execname] = count();
}
