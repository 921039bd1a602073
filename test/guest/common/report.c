// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/common.h"

static int failed;

void die(const char *what, const char *why)
{
	printf("not ok %s: %s\n", what, why);
	exit(2);
}

void report(const char *name, bool good, const char *fmt, ...)
{
	va_list ap;

	failed |= !good;
	printf("%s %s: ", good ? "ok" : "not ok", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

int report_status(void)
{
	return failed;
}
