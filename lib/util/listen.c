// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/listen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ki_listener_warn(const struct ki_listener *l, const char *fmt, ...)
{
	va_list ap;
	char *line;
	int n;

	if (!l || !l->warn)
		return;
	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	l->warn(l->arg, line);
	free(line);
}

bool ki_listener_progress(const struct ki_listener *l, const char *what, size_t done, size_t total)
{
	return !l || !l->progress || l->progress(l->arg, what, done, total);
}
