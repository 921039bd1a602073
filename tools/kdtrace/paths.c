// SPDX-License-Identifier: GPL-2.0-only
#include "paths.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debug.h"

const char *paths_value(const struct options *o, const char *name)
{
	const size_t len = strlen(name);
	const char *value = NULL;

	for (size_t i = 0; i < o->set.n; i++)
		if (!strncmp(o->set.v[i], name, len) && o->set.v[i][len] == '=')
			value = o->set.v[i] + len + 1;
	return value;
}

void paths_debug(const struct options *o)
{
	const char *path = paths_value(o, "ctfpath");
	struct stat st = {0};

	if (!path)
		return;
	if (stat(path, &st))
		debug("Cannot open CTF archive %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || !st.st_size)
		debug("Cannot open CTF archive %s: there is nothing in it", path);
	else
		debug("types are those of the kernel's BTF: nothing is read from %s", path);
}

const char *paths_lacks_linker(const struct options *o)
{
	const char *path = paths_value(o, "ldpath");

	return path && strchr(path, '/') && access(path, X_OK) ? path : NULL;
}
