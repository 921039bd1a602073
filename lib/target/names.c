// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "target/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE 512

int ki_kernel_names(const char *const *names, uint64_t *addr, size_t n, struct ki_err *err)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[LINE], name[256];
	uint64_t at;

	memset(addr, 0, n * sizeof(*addr));
	if (!f)
		return ki_err_set(err, -errno, 0, "/proc/kallsyms: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		/* those of modules have [MODULE] after them */
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, name) != 2 || strchr(line, '['))
			continue;
		for (size_t i = 0; i < n; i++)
			if (!addr[i] && !strcmp(name, names[i]))
				addr[i] = at;
	}
	fclose(f);
	return 0;
}
