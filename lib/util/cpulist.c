// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/cpulist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

/* A number below CPULIST_MOST: what stands after it; NULL: there is none. */
static const char *number(const char *at, unsigned int *out)
{
	size_t n = strspn(at, DIGITS);

	*out = n && n < 6 ? (unsigned int)strtoul(at, NULL, 10) : CPULIST_MOST;
	return *out < CPULIST_MOST ? at + n : NULL;
}

int ki_cpulist_next(const char **at, struct ki_cpu_range *out)
{
	const char *p = *at;

	if (!*p)
		return 0;
	p = number(p, &out->first);
	out->last = out->first;
	if (p && *p == '-')
		p = number(p + 1, &out->last);
	if (!p || out->last < out->first || (*p && (*p != ',' || !p[1])))
		return -1;
	*at = p + (*p == ',');
	return 1;
}

static bool read_online(char *text, size_t len)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	bool good = f && fgets(text, (int)len, f);

	if (f)
		fclose(f);
	if (good)
		text[strcspn(text, "\n")] = 0;
	return good;
}

bool ki_cpulist_is_online(unsigned int cpu)
{
	static char text[4096];
	static bool tried, good;
	const char *at = text;
	struct ki_cpu_range r;

	if (!tried)
		good = read_online(text, sizeof(text));
	tried = true;
	if (!good)
		return true;
	while (ki_cpulist_next(&at, &r) > 0)
		if (cpu >= r.first && cpu <= r.last)
			return true;
	return false;
}
