#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who opens which file: openat's path, as the process gave it.
 */
syscall::openat:entry
{
	printf("%-16s %6d %s\n", execname, pid, copyinstr(arg1));
}
