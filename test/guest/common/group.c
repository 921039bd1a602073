// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/common.h"

long group_value(const char *group, const char *file, const char *key)
{
	char path[256], line[64];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			value = atol(line + strlen(key));
	if (!f || value < 0)
		die(path, "not readable");
	fclose(f);
	return value;
}
