// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Modules whose process has ended before it could unload them. Nothing leads there any more.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evolve/special/inside.h"

#define LINE	       512
#define UNLOAD_SECONDS 2
#define UNLOAD_PAUSE   100000 /* microseconds */

/* The process in a module's name, which has ended; 0. */
static bool is_left_over(const char *name)
{
	int pid;

	return !strncmp(name, KI_COPIES_PREFIX, strlen(KI_COPIES_PREFIX)) &&
	       sscanf(name + strlen(KI_COPIES_PREFIX), "%d_", &pid) == 1 && kill(pid, 0) &&
	       errno == ESRCH;
}

int ki_special_unload(struct ki_target *t, const char *name, double seconds, struct ki_err *err)
{
	const int tries = (int)(seconds * 1e6 / UNLOAD_PAUSE);
	int ret = -EBUSY;

	for (int i = 0; i < tries && ret == -EBUSY; i++) {
		if (i)
			usleep(UNLOAD_PAUSE);
		*err = (struct ki_err){0};
		ret = ki_module_unload(t, name, err);
	}
	return ret;
}

int ki_special_clean(struct ki_target *t, size_t *n, struct ki_err *err)
{
	ki_vec(char *) names = {0};
	FILE *f = fopen("/proc/modules", "re");
	char line[LINE], name[64];
	struct ki_err later = {0};
	int ret = f ? 0 : ki_err_set(err, -errno, 0, "/proc/modules: %s", strerror(errno));

	*n = 0;
	while (f && !ret && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s", name) == 1 && is_left_over(name) &&
		    ki_vec_push(&names, strdup(name)))
			ret = ki_err_set(err, -ENOMEM, 0, "modules: out of memory");
	if (f)
		fclose(f);
	for (size_t i = 0; i < names.n; i++) {
		const int now = names.v[i] ? ki_special_unload(t, names.v[i], UNLOAD_SECONDS,
							       ret ? &later : err)
					   : -ENOMEM;

		ret = ret ? ret : now;
		*n += !now;
		free(names.v[i]);
	}
	ki_vec_free(&names);
	return ret;
}
