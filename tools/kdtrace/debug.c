// SPDX-License-Identifier: GPL-2.0-only
#include "debug.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "options.h"
#include "util/text.h"

static bool wanted;

void debug_begin(void)
{
	wanted = true;
}

void debug_core(void)
{
	const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_CORE, &any);
	abort();
}

void debug(const char *fmt, ...)
{
	va_list ap;

	if (!wanted)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "%s DEBUG %lld: ", program_name, (long long)time(NULL));
	ki_text_vprint(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}
