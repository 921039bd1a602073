// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kerninst/instruments_build.h"

int ki_instruments_check(const char *file, const struct ki_callables *list, struct ki_err *err)
{
	const struct ki_callable *c, *found;
	size_t n, functions = 0;
	int ret;

	c = ki_callables_all(list, &n);
	for (size_t i = 0; i < n; i++) {
		if (c[i].is_value)
			continue;
		functions++;
		ret = ki_callables_find(list, c[i].name, &found, err);
		if (ret)
			return ret;
	}
	return functions ? 0
			 : ki_err_set(err, -ENOENT, 0,
				      "%s: no instruments in it; see kerninst build", file);
}

int ki_instruments_load(const char *file, struct ki_err *err)
{
	static const struct {
		int error;
		const char *why;
	} whys[] = {
		{EEXIST, "a module of that name is loaded already: rmmod it first"},
		{ENODEV, "the kerninst driver is not loaded, or of another version"},
		{ENOEXEC, "built for another kernel (dmesg has more): kerninst build it here"},
		{EPERM, "only root may load modules, and not when the kernel is locked down"},
		{EKEYREJECTED, "this kernel takes signed modules only"},
	};
	int fd = open(file, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return ki_err_set(err, -errno, 0, "%s: %s", file, strerror(errno));
	error = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	if (!error)
		return 0;
	for (size_t i = 0; i < sizeof(whys) / sizeof(*whys); i++)
		if (error == whys[i].error)
			return ki_err_set(err, -error, 0, "%s: %s", file, whys[i].why);
	return ki_err_set(err, -error, 0, "%s: %s", file, strerror(error));
}
