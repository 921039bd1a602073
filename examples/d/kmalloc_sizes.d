#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is allocated by kmalloc with a size that is not constant: how much, by program.
 */
kmem:::alloc
{
	@[execname] = quantize(arg0);
}
