#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers and work as they are executed: which functions run, how often.
 */
callout:::
{
	@[probename] = count();
}
