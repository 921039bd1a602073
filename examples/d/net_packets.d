#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of IPv4, each second.
 */
ip:::send, ip:::receive
{
	@[probename] = count();
}

tick-1s
{
	printa("%-10s %@8d\n", @);
	trunc(@);
}
