#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the CPUs are, 97 times a second: which programs.
 */
profile-97
{
	@[execname] = count();
}
