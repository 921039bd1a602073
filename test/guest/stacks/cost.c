// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instrument for somebody else to measure: at vfs_read, until it is killed.
 */
#include "stacks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void test_cost(const char *what)
{
	struct session s;

	session_open(&s, 127, 16384);
	begin(&s);
	if (!strcmp(what, "none"))
		value(&s, number(&s, 0));
	else
		value(&s, ki_expr_stack(s.s, ki_stacks_number(s.stacks), 0, !strcmp(what, "user")));
	put(&s, "vfs_read", NULL);
	apply(&s);
	puts("ready");
	fflush(stdout);
	pause();
}
