#!/usr/bin/env -S kdtrace -qs
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that have failed, with stacks.
 */
kmem:::alloc-failure, kmem:::cache-alloc-failure
{
	@[probename, stack(8)] = count();
}
