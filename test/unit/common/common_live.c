/* SPDX-License-Identifier: GPL-2.0-only */
#include "common_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mock_driver driver;

char *file_of(const char *content, size_t len)
{
	char *path = strdup("/tmp/ki-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, len), (ssize_t)len);
	close(fd);
	return path;
}

void drop(char *path)
{
	unlink(path);
	free(path);
}

static bool has_text(uint64_t addr, uint64_t len)
{
	return (addr >= TEXT && addr + len <= driver.text_end) ||
	       (addr >= MOD && addr + len <= driver.module_end);
}

static int driver_read(const struct ki_read *r)
{
	uint8_t *to = (uint8_t *)(uintptr_t)r->buf;

	if (r->size != sizeof(*r) || !r->len || r->len > KI_READ_MAX)
		return -EINVAL;
	if (driver.read_error)
		return driver.read_error;
	if (!has_text(r->addr, r->len))
		return -EFAULT;
	for (uint64_t i = 0; i < r->len; i++)
		to[i] = (uint8_t)((r->addr + i) * 31 + r->view) ^
			(r->addr + i == driver.changed ? 0xff : 0);
	return 0;
}

static int driver_reserved(struct ki_reserved *r)
{
	struct ki_reserved_row *to = (struct ki_reserved_row *)(uintptr_t)r->rows;

	driver.reserved_calls++;
	driver.rows += driver.rows_grow;
	r->count = driver.rows;
	if (r->size != sizeof(*r) || r->zero)
		return -EINVAL;
	if (r->count > r->max)
		return -ENOSPC;
	for (uint32_t i = 0; i < r->count; i++)
		to[i] = (struct ki_reserved_row){TEXT + i, 1, KI_R_EXTABLE, 0};
	return 0;
}

int driver_ioctl(int fd, unsigned long request, void *arg)
{
	struct ki_info *info = arg;

	assert_true(fd >= 0);
	if (++driver.calls % 5 == 0)
		return -EINTR;
	switch (request) {
	case KI_IOC_INFO:
		if (driver.info_error || info->size != sizeof(*info))
			return driver.info_error ? driver.info_error : -EPROTO;
		info->abi = driver.abi;
		info->text_start = TEXT;
		info->text_end = driver.text_end;
		return 0;
	case KI_IOC_READ:
		return driver_read(arg);
	case KI_IOC_RESERVED:
		return driver_reserved(arg);
	}
	return -ENOTTY;
}

const char live_symbols[] = "ffffffff81000000 T _stext\n"
			    "ffffffff81000100 t a\n"
			    "ffffffff81001000 T _etext\n"
			    "ffffffff82000000 T init\n"
			    "ffffffffc0201040 t one\t[m1]\n"
			    "ffffffffc0201000 t two\t[m1]\n"
			    "ffffffffc0301000 t gone\t[m2]\n";

int open_live(const char *symbols_text, struct ki_target **t, struct ki_err *err)
{
	char *path = file_of(symbols_text, strlen(symbols_text));
	const struct ki_live_env env = {.device = "/dev/null",
					.kallsyms = path,
					.kcore = "/nonexistent",
					.ioctl = driver_ioctl};
	int ret;

	ki_err_clear(err);
	ret = ki_live_open(&env, t, err);
	drop(path);
	return ret;
}

void reset_driver(void)
{
	memset(&driver, 0, sizeof(driver));
	driver.abi = KI_ABI_VERSION;
	driver.text_end = TEXT + 0x1000;
	driver.module_end = MOD + 0x3000;
	driver.rows = 10;
}
