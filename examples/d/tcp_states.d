#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections of TCP as their state changes (numbers of include/net/tcp_states.h).
 */
tcp:::state-change
{
	printf("%-16s socket %p  %2d -> %2d\n", execname, arg0, arg4, arg5);
}
