/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The running kernel, through the driver. The open descriptor is the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "target/kallsyms.h"
#include "util/steps.h"
#include "target/kcore.h"
#include "target/kinds.h"
#include "target/priv.h"
#include "target/sysmap.h"

#define PAGE 4096u

struct live {
	int (*ioctl)(int fd, unsigned long request, void *arg);
	char *kallsyms, *modules, *core_path;
	struct ki_kcore core;
	struct ki_symbol_list map; /* the kernel's own symbols, if a System.map names them */
};

static int call(struct ki_target *t, unsigned long request, void *arg)
{
	struct live *l = t->own;
	int ret;

	do
		ret = l->ioctl(t->fd, request, arg);
	while (ret == -EINTR);
	return ret;
}

/* Whoever has opened the device may read: if no longer, the kernel has been locked down since. */
static int read_error(int code, uint64_t addr, const char *what, struct ki_err *err)
{
	if (code == -EPERM)
		return ki_err_reason(err, KI_R_LOCKDOWN, addr, "reading %s", what);
	return ki_err_set(err, code, addr, "reading %s: %s", what, strerror(-code));
}

static int live_read(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		     struct ki_err *err)
{
	while (len) {
		size_t n = len < KI_READ_MAX ? len : KI_READ_MAX;
		struct ki_read req = {.size = sizeof(req),
				      .view = view,
				      .addr = addr,
				      .len = n,
				      .buf = (uintptr_t)buf};
		int ret = call(t, KI_IOC_READ, &req);

		if (ret == -EFAULT)
			return ki_target_not_text(err, addr, n);
		if (ret)
			return read_error(ret, addr, "kernel text", err);
		addr += n;
		buf = (char *)buf + n;
		len -= n;
	}
	return 0;
}

static int live_reserved(struct ki_target *t, struct ki_rows *rows, struct ki_err *err)
{
	uint32_t max = 1 << 16;

	for (int tries = 0; tries < 8; tries++) {
		struct ki_reserved req = {.size = sizeof(req), .end = UINT64_MAX, .max = max};
		struct ki_reserved_row *v = malloc(max * sizeof(*v));
		int ret;

		if (!v)
			return ki_err_set(err, -ENOMEM, 0, "out of memory for the reserved text");
		req.rows = (uintptr_t)v;
		ret = call(t, KI_IOC_RESERVED, &req);
		if (!ret && req.count <= max) {
			rows->v = v;
			rows->n = req.count;
			return 0;
		}
		free(v);
		if (ret != -ENOSPC || req.count <= max || req.count > KI_RESERVED_MAX)
			return read_error(ret ? ret : -EPROTO, 0, "the reserved text", err);
		/* Modules may come meanwhile. */
		max = req.count + req.count / 8 + 64;
		max = max < KI_RESERVED_MAX ? max : KI_RESERVED_MAX;
	}
	return ki_err_set(err, -EAGAIN, 0, "the reserved text keeps growing");
}

static int live_read_data(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			  struct ki_err *err)
{
	struct live *l = t->own;

	return ki_kcore_read(&l->core, l->core_path, addr, buf, len, err);
}

static void live_close(struct ki_target *t)
{
	struct live *l = t->own;

	if (t->fd >= 0)
		close(t->fd);
	if (!l)
		return;
	ki_kcore_close(&l->core);
	ki_symbol_list_free(&l->map);
	free(l->kallsyms);
	free(l->modules);
	free(l->core_path);
	free(l);
}

/* What is between brackets is the kernel's mode. */
static bool is_locked_down(const char *mode)
{
	char buf[128];
	ssize_t n;
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = 0;
	return strstr(buf, mode);
}

bool ki_locked_down(void)
{
	return is_locked_down("[confidentiality]");
}

static const char lockdown_wants[] =
	" (kernel lockdown: the driver must be signed by a key that is enrolled)";

static int open_error(int code, const char *device, struct ki_err *err)
{
	switch (code) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
	case -ENOTTY:
		return ki_err_reason(
			err, KI_R_NO_DEVICE, 0, "%s%s", device,
			is_locked_down("[integrity]") || ki_locked_down() ? lockdown_wants : "");
	case -EACCES:
	case -EPERM:
		if (code == -EPERM && ki_locked_down())
			return ki_err_reason(err, KI_R_LOCKDOWN, 0, "%s", device);
		return ki_err_reason(err, KI_R_NO_PERMISSION, 0, "%s", device);
	case -EDQUOT:
		return ki_err_reason(err, KI_R_LIMIT_SESSIONS, 0, "%s", device);
	case -EPROTO:
		return ki_err_reason(err, KI_R_ABI_MISMATCH, 0, "%s", device);
	}
	return ki_err_set(err, code, 0, "%s: %s", device, strerror(-code));
}

static int get_info(struct ki_target *t, const char *device, struct ki_err *err)
{
	struct ki_info *i = &t->info;
	int ret;

	i->size = sizeof(*i);
	ret = call(t, KI_IOC_INFO, i);
	if (ret)
		return open_error(ret, device, err);
	if (i->abi != KI_ABI_VERSION)
		return ki_err_reason(err, KI_R_ABI_MISMATCH, 0, "%s has ABI %u, not %u", device,
				     i->abi, KI_ABI_VERSION);
	if (i->text_start >= i->text_end)
		return ki_err_set(err, -EPROTO, i->text_start, "%s: the kernel has no text",
				  device);
	t->has_info = true;
	return 0;
}

#define SCAN (16 * PAGE)

static bool readable(struct ki_target *t, uint64_t addr, size_t len)
{
	uint8_t bytes[SCAN];

	return live_read(t, addr, bytes, len, KI_VIEW_LIVE, NULL) == 0;
}

/*
 * kallsyms tells where a module's functions begin; where the text ends, only the driver knows.
 * Between one module's text and the next there is memory that is neither's.
 */
static uint64_t module_end(struct ki_target *t, const struct ki_kmod *m)
{
	uint64_t at = m->low;

	for (size_t step = SCAN; step; step /= 2)
		while (at + step > at && readable(t, at, step))
			at += step;
	return at;
}

/* The kernel's range and the modules'; names[i] is the string of range i's module. */
static int find_ranges(struct ki_target *t, const struct ki_kallsyms *k, uint32_t **names)
{
	struct ki_text_range r = {.start = t->info.text_start, .end = t->info.text_end};
	uint32_t *v = calloc(k->modules.n + 1, sizeof(*v));

	*names = v;
	if (!v || ki_vec_push(&t->ranges, r))
		return -ENOMEM;
	for (size_t i = 0; i < k->modules.n; i++) {
		const struct ki_kmod *m = &k->modules.v[i];

		if (m->low > m->high)
			continue;
		r.start = m->low;
		r.end = module_end(t, m);
		if (r.end <= r.start)
			continue;
		v[t->ranges.n] = m->name;
		if (ki_vec_push(&t->ranges, r))
			return -ENOMEM;
	}
	return 0;
}

/* The map's symbols in place of the kernel's own; modules keep theirs. */
static int use_map(const struct live *l, struct ki_symbol_list *list)
{
	size_t kept = 0, base = list->strings.n;

	if (base + l->map.strings.n >= UINT32_MAX ||
	    ki_vec_reserve(&list->strings, l->map.strings.n))
		return -ENOMEM;
	memcpy(list->strings.v + base, l->map.strings.v, l->map.strings.n);
	list->strings.n += l->map.strings.n;
	for (size_t i = 0; i < list->raw.n; i++)
		if (list->raw.v[i].module)
			list->raw.v[kept++] = list->raw.v[i];
	list->raw.n = kept;
	for (size_t i = 0; i < l->map.raw.n; i++) {
		struct ki_raw_symbol raw = l->map.raw.v[i];

		raw.name += (uint32_t)base;
		if (ki_vec_push(&list->raw, raw))
			return -ENOMEM;
	}
	return 0;
}

/* Fill the ranges and symbols of `to`: t itself, or what takes its place. */
static int get_symbols(struct ki_target *t, struct ki_target *to, struct ki_err *err)
{
	const uint64_t begun = ki_step_begin();
	struct live *l = t->own;
	struct ki_kallsyms k = {0};
	uint32_t *names = NULL;
	int ret = ki_kallsyms_modules(l->modules, &k);

	if (ret)
		ki_err_set(err, ret, 0, "out of memory for the modules");
	else
		ret = ki_kallsyms_read(l->kallsyms, &k, err);
	if (!ret && !k.addresses)
		ret = ki_err_reason(err, KI_R_NO_SYMBOLS, 0, "%s", l->kallsyms);
	if (!ret) {
		ret = find_ranges(to, &k, &names);
		if (!ret && l->map.raw.n)
			ret = use_map(l, &k.list);
		if (ret)
			ki_err_set(err, ret, 0, "out of memory for the symbols");
	}
	if (!ret)
		ret = ki_target_finish(to, &k.list, names, err);
	if (!ret && !to->nsymbols)
		ret = ki_err_reason(err, KI_R_NO_SYMBOLS, 0, "%s", l->kallsyms);
	free(names);
	ki_kallsyms_free(&k);
	ki_step_end(KI_STEP_SYMBOLS, begun, to->nsymbols);
	return ret;
}

static int live_refresh(struct ki_target *t, struct ki_target *next, struct ki_err *err)
{
	return get_symbols(t, next, err);
}

static const struct ki_target_ops live_ops = {
	.read = live_read,
	.read_data = live_read_data,
	.refresh = live_refresh,
	.reserved = live_reserved,
	.close = live_close,
};

static int get_map(struct ki_target *t, const char *path, struct ki_err *err)
{
	struct live *l = t->own;
	struct ki_marks marks = {0};
	uint64_t start, end;
	int ret = path ? ki_sysmap_read(path, &l->map, &marks, err) : 0;

	if (ret || !path)
		return ret;
	if (!ki_marks_pair(&marks, KI_MARK_STEXT, &start, &end))
		return ki_err_set(err, -EINVAL, 0, "%s: it does not say where the kernel's text is",
				  path);
	if (start != t->info.text_start)
		return ki_err_set(
			err, -EINVAL, t->info.text_start,
			"%s: _stext is at 0x%llx, the kernel's at 0x%llx: boot it with nokaslr",
			path, (unsigned long long)start, (unsigned long long)t->info.text_start);
	if (end != t->info.text_end)
		return ki_err_set(
			err, -EINVAL, t->info.text_end,
			"%s: the kernel's text ends elsewhere: take the map of this kernel", path);
	return 0;
}

/* Who may not change anything, or may no more, may perhaps still look: requests then say why. */
static int open_device(const char *device)
{
	int fd = open(device, O_RDWR | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
		fd = open(device, O_RDONLY | O_CLOEXEC);
	return fd;
}

int ki_live_open(const struct ki_live_env *env, struct ki_target **out, struct ki_err *err)
{
	struct ki_target *t;
	struct live *l;
	int ret = ki_target_new(&t, KI_TARGET_LIVE, &live_ops, err);

	if (ret)
		return ret;
	l = t->own = calloc(1, sizeof(*l));
	if (!l) {
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
		goto fail;
	}
	l->ioctl = env->ioctl;
	l->kallsyms = strdup(env->kallsyms);
	l->modules = strdup(env->modules ? env->modules : "");
	l->core_path = strdup(env->kcore);
	if (!l->kallsyms || !l->modules || !l->core_path) {
		ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
		goto fail;
	}
	t->fd = open_device(env->device);
	if (t->fd < 0) {
		ret = open_error(-errno, env->device, err);
		goto fail;
	}
	ret = get_info(t, env->device, err);
	if (!ret)
		ret = get_map(t, env->system_map, err);
	if (!ret)
		ret = get_symbols(t, t, err);
	if (ret)
		goto fail;
	*out = t;
	return 0;
fail:
	ki_target_free(t);
	return ret;
}
