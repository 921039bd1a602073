/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The running kernel, through the driver. The open descriptor is the session.
 */
#include "target/live.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "target/kallsyms.h"

#define PAGE 4096u

/* How far a module's text is followed behind the page of its last symbol. */
#define TAIL_PAGES 16

struct live {
	int (*ioctl)(int fd, unsigned long request, void *arg);
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
			return ki_err_set(err, ret, addr, "reading kernel text: %s",
					  strerror(-ret));
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
			return ki_err_set(err, ret ? ret : -EPROTO, 0,
					  "reading the reserved text: %s", strerror(-ret));
		/* Modules may come meanwhile. */
		max = req.count + req.count / 8 + 64;
		max = max < KI_RESERVED_MAX ? max : KI_RESERVED_MAX;
	}
	return ki_err_set(err, -EAGAIN, 0, "the reserved text keeps growing");
}

static void live_close(struct ki_target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->own);
}

static const struct ki_target_ops live_ops = {
	.read = live_read,
	.reserved = live_reserved,
	.close = live_close,
};

static bool locked_down(void)
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
	return strstr(buf, "[integrity]") || strstr(buf, "[confidentiality]");
}

static int open_error(int code, const char *device, struct ki_err *err)
{
	switch (code) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
	case -ENOTTY:
		return ki_err_reason(err, KI_R_NO_DEVICE, 0, "%s", device);
	case -EACCES:
	case -EPERM:
		if (geteuid() == 0 && locked_down())
			return ki_err_reason(err, KI_R_LOCKDOWN, 0, "%s", device);
		return ki_err_reason(err, KI_R_NO_PERMISSION, 0, "%s", device);
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

static bool readable(struct ki_target *t, uint64_t addr)
{
	uint8_t byte;

	return live_read(t, addr, &byte, 1, KI_VIEW_LIVE, NULL) == 0;
}

/*
 * kallsyms tells where a module's last function begins; where the text ends, only the driver
 * knows: the first page that it refuses.
 */
static uint64_t module_end(struct ki_target *t, const struct ki_kmod *m)
{
	uint64_t end = (m->high | (PAGE - 1)) + 1;
	uint64_t good = m->low, bad;

	if (!end || !readable(t, m->low))
		return 0;
	if (readable(t, end - 1)) {
		for (int i = 0; i < TAIL_PAGES && readable(t, end + PAGE - 1); i++)
			end += PAGE;
		return end;
	}
	for (bad = end - 1; bad - good > 1;) {
		uint64_t mid = good + (bad - good) / 2;

		if (readable(t, mid))
			good = mid;
		else
			bad = mid;
	}
	return bad;
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

static int get_symbols(struct ki_target *t, const char *path, struct ki_err *err)
{
	struct ki_kallsyms k;
	uint32_t *names = NULL;
	int ret = ki_kallsyms_read(path, &k, err);

	if (!ret && !k.addresses)
		ret = ki_err_reason(err, KI_R_NO_SYMBOLS, 0, "%s", path);
	if (!ret) {
		ret = find_ranges(t, &k, &names);
		if (ret)
			ki_err_set(err, ret, 0, "out of memory for the text ranges");
	}
	if (!ret)
		ret = ki_target_finish(t, &k.list, names, err);
	if (!ret && !t->nsymbols)
		ret = ki_err_reason(err, KI_R_NO_SYMBOLS, 0, "%s", path);
	free(names);
	ki_kallsyms_free(&k);
	return ret;
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
	t->fd = open(env->device, O_RDWR | O_CLOEXEC);
	if (t->fd < 0) {
		ret = open_error(-errno, env->device, err);
		goto fail;
	}
	ret = get_info(t, env->device, err);
	if (!ret)
		ret = get_symbols(t, env->kallsyms, err);
	if (ret)
		goto fail;
	*out = t;
	return 0;
fail:
	ki_target_close(t);
	return ret;
}

static int system_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

int ki_target_open_live(struct ki_target **out, struct ki_err *err)
{
	static const struct ki_live_env env = {
		.device = KI_DEVICE,
		.kallsyms = "/proc/kallsyms",
		.ioctl = system_ioctl,
	};

	return ki_live_open(&env, out, err);
}
