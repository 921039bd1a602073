// SPDX-License-Identifier: GPL-2.0-only
#include "environment.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "DTRACE_OPT_"
#define NAME   64

static bool take(struct options *o, const char *text)
{
	const size_t len = strcspn(text, "=");
	char name[NAME];

	if (!len || len >= sizeof(name))
		return true;
	for (size_t i = 0; i < len; i++)
		name[i] = (char)tolower((unsigned char)text[i]);
	name[len] = 0;
	return option_set(o, name, text[len] && text[len + 1] ? text + len + 1 : NULL);
}

bool environment_take(struct options *o)
{
	const char *testing = getenv("_DTRACE_TESTING"), *debugs = getenv("DTRACE_DEBUG");
	bool done = !debugs || !*debugs || option_set(o, "debug", NULL);

	for (char **e = environ; done && *e; e++)
		if (!strncmp(*e, PREFIX, strlen(PREFIX)))
			done = take(o, *e + strlen(PREFIX));
	return done && (!testing || !*testing || option_set(o, "plain", NULL));
}
