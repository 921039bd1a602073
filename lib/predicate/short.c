// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Short forms of conditions that are wanted often, as text of the language. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/predicate.h"
#include "util/cpulist.h"

char *ki_predicate_pids(const char *text)
{
	char *all;

	for (const char *at = text;; at++) {
		size_t n = strspn(at, "0123456789");

		at += n;
		if (!n || n > 9 || at[-(long)n] == '0' || (*at && *at != ',')) {
			errno = EINVAL;
			return NULL;
		}
		if (!*at)
			break;
	}
	return asprintf(&all, "pid in (%s)", text) < 0 ? NULL : all;
}

char *ki_predicate_comm(const char *name)
{
	char text[128], *to = stpcpy(text, "comm == \"");
	size_t len = strlen(name);

	if (!len || len > 15) {
		errno = EINVAL;
		return NULL;
	}
	while (*name)
		to += sprintf(to, "\\%03o", (unsigned char)*name++);
	stpcpy(to, "\"");
	return strdup(text);
}

char *ki_predicate_cpus(const char *text)
{
	struct ki_cpu_range r;
	const char *at = text;
	char *all;
	size_t len;
	FILE *f = open_memstream(&all, &len);
	int more;

	if (!f)
		return NULL;
	while ((more = ki_cpulist_next(&at, &r)) > 0)
		fprintf(f, "%scpu >= %u && cpu <= %u", ftell(f) ? " || " : "", r.first, r.last);
	if (fclose(f))
		more = 0;
	else if (more >= 0 && *text)
		return all;
	else
		more = -1;
	free(all);
	errno = more < 0 ? EINVAL : ENOMEM;
	return NULL;
}
