// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Modules come and go by the kernel's own calls. What it refuses has one number for several
 * reasons; which one it was, other files tell.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module/module.h"
#include "module/sleepers.h"

/* The first bytes of a file, as a string; "" if it cannot be read. */
static void read_file(const char *path, char *buf, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
}

/* Lockdown of either kind takes only signed modules. */
static int not_permitted(struct ki_err *err)
{
	char now[128];

	read_file("/proc/sys/kernel/modules_disabled", now, sizeof(now));
	if (*now == '1')
		return ki_err_set(err, -EPERM, 0,
				  "the kernel takes no module until it is booted again "
				  "(kernel.modules_disabled)");
	read_file("/sys/kernel/security/lockdown", now, sizeof(now));
	if (*now && !strstr(now, "[none]"))
		return ki_err_reason(err, KI_R_LOCKDOWN, 0, "an unsigned module is not loaded");
	return ki_err_set(err, -EPERM, 0,
			  "modules may be loaded and unloaded by root only (CAP_SYS_MODULE)");
}

struct text {
	int code;
	const char *text;
};

static const struct text load_texts[] = {
	{EKEYREJECTED,
	 "the kernel takes signed modules only (module.sig_enforce): boot without it"},
	{ENOKEY, "the kernel takes signed modules only (module.sig_enforce): boot without it"},
	{EEXIST, "a module of this name is loaded already: take another name, or unload it"},
	{ENOEXEC, "the kernel does not take the file: its log says why (dmesg)"},
	{EINVAL, "the kernel does not take the file: its log says why (dmesg)"},
	{ENOMEM, "the kernel has no memory for the module"},
	{0, NULL},
};

static const struct text unload_texts[] = {
	{EWOULDBLOCK, "it is still used: take out first what leads there"},
	{EBUSY, "it is still used: take out first what leads there"},
	{ENOENT, "no such module is loaded"},
	{0, NULL},
};

static int failed(const struct text *texts, int code, const char *name, struct ki_err *err)
{
	if (code == EPERM)
		return not_permitted(err);
	for (; texts->text; texts++)
		if (texts->code == code)
			return ki_err_set(err, code == EWOULDBLOCK ? -EBUSY : -code, 0,
					  "module %s: %s", name, texts->text);
	return ki_err_set(err, -code, 0, "module %s: %s", name, strerror(code));
}

/* What the file says of itself; "?": nothing. */
static const char *name_of(const char *file, size_t size)
{
	static const char key[] = "\0name=";
	const char *at = memmem(file, size, key, sizeof(key) - 1);

	return at && memchr(at + 1, 0, (size_t)(file + size - at - 1)) ? at + sizeof(key) - 1 : "?";
}

int ki_module_load(struct ki_target *t, const void *file, size_t size, struct ki_err *err)
{
	const char *name = name_of(file, size);
	bool changed;
	int ret;

	if (syscall(SYS_init_module, file, size, ""))
		return failed(load_texts, errno, name, err);
	ret = ki_target_refresh(t, &changed, err);
	if (ret)
		syscall(SYS_delete_module, name, O_NONBLOCK);
	return ret;
}

int ki_module_unload(struct ki_target *t, const char *name, struct ki_err *err)
{
	struct ki_module_sleeper who;
	bool changed;
	int ret = ki_module_sleeper(name, &who);

	if (ret < 0)
		return ki_err_set(err, ret, 0, "/proc: %s", strerror(-ret));
	if (ret)
		return ki_err_set(err, -EBUSY, 0,
				  "module %s: %s (process %d) sleeps in its code: wait, or end it",
				  name, who.comm, who.pid);
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		return failed(unload_texts, errno, name, err);
	return ki_target_refresh(t, &changed, err);
}
