// SPDX-License-Identifier: GPL-2.0-only
/* Who may not; and what the driver, the kernel or the library are not ready for. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reasons/reasons.h"

static int take_counter(int fd, unsigned int *reason)
{
	struct ki_counters r = {.size = sizeof(r), .count = 1};
	int ret = ioctl(fd, KI_IOC_COUNTERS, &r);

	*reason = r.reason;
	return ret;
}

static void ask_reading(struct answer *a)
{
	int fd = open(KI_DEVICE, O_RDONLY | O_CLOEXEC), ret;
	unsigned int reason;

	if (fd < 0)
		die(KI_DEVICE, strerror(errno));
	ret = take_counter(fd, &reason);
	answer_of(a, ret, reason);
	close(fd);
}
ASKED(READ_ONLY, ask_reading)

/* The number of the session that has been opened last. */
static uint64_t last_session(int fd)
{
	struct ki_session_row row = {.size = sizeof(row)};

	while (!ioctl(fd, KI_IOC_SESSION, &row))
		;
	return row.session;
}

static int evict(int fd, uint64_t session, unsigned int *reason)
{
	struct ki_evict r = {.size = sizeof(r), .session = session};
	int ret = ioctl(fd, KI_IOC_EVICT, &r);

	*reason = r.reason;
	return ret;
}

static void ask_evicted(struct answer *a)
{
	int fd = device_open(), ret;
	unsigned int reason;

	if (evict(fd, last_session(fd), &reason))
		die("evict", strerror(errno));
	ret = take_counter(fd, &reason);
	answer_of(a, ret, reason);
	close(fd);
}
ASKED(EVICTED, ask_evicted)

static uint64_t roots;

static void evict_roots(struct answer *a)
{
	int fd = device_open(), ret;
	unsigned int reason;

	ret = evict(fd, roots, &reason);
	answer_of(a, ret, reason);
	close(fd);
}

static void ask_not_yours(struct answer *a)
{
	int fd = device_open();

	roots = last_session(fd);
	as_nobody(CAP_PERFMON, evict_roots, a);
	close(fd);
}
ASKED(NOT_YOURS, ask_not_yours)

/* Found by root, asked for by nobody. */
static struct request replacement;

static void replace(struct answer *a)
{
	int fd = device_open(), ret;

	ret = ioctl(fd, KI_IOC_SPLICE, &replacement.req);
	answer_of(a, ret, replacement.req.reason);
	close(fd);
}

static void ask_replace(struct answer *a)
{
	struct request *r = &replacement;

	*r = (struct request){.req.size = sizeof(r->req)};
	request_window(r, world_function("ki_reasons", "ki_r_plain"), 0, 2, KI_BOARD_JMP);
	request_replace(r, world_address("ki_reasons", "ki_r_other"));
	r->req.windows = (uintptr_t)r->windows;
	r->req.copies = (uintptr_t)r->copies;
	r->req.chunks = (uintptr_t)r->chunks;
	as_nobody(CAP_PERFMON, replace, a);
}
ASKED(NEEDS_MODULE_CAP, ask_replace)

static void ask_signal(struct answer *a)
{
	static uint8_t code[] = {0xbf, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0}; /* mov $0, %edi; call */
	static struct ki_fixup fix = {.kind = KI_FIX_HELPER, .off = 6, .target = KI_HELPER_SIGNAL};
	static struct ki_long more;
	struct request *r = &replacement;

	more = (struct ki_long){
		.len = sizeof(code), .nfix = 1, .code = (uintptr_t)code, .fixups = (uintptr_t)&fix};
	*r = (struct request){.req.size = sizeof(r->req), .req.nchunks = 1};
	request_window(r, world_function("ki_reasons", "ki_r_plain"), 0, 2, KI_BOARD_JMP);
	r->chunks[0] = (struct ki_chunk){.kind = KI_CHUNK_LONG, .target = (uintptr_t)&more};
	r->req.windows = (uintptr_t)r->windows;
	r->req.copies = (uintptr_t)r->copies;
	r->req.chunks = (uintptr_t)r->chunks;
	as_nobody(CAP_PERFMON, replace, a);
}
ASKED(NEEDS_KILL_CAP, ask_signal)

/* As a program of the library's does it. */
static void open_target(struct answer *a)
{
	struct ki_err err = {0};
	struct ki_target *t;

	if (!ki_target_new_live(&t, &err))
		ki_target_free(t);
	*a = (struct answer){.error = -err.code, .reason = err.reason};
	snprintf(a->where, sizeof(a->where), "%s", KI_DEVICE);
	if (!strstr(err.msg, ki_reason_text(err.reason)))
		die("the library", err.msg);
}

static void ask_nobody(struct answer *a)
{
	as_nobody(-1, open_target, a);
}
ASKED(NO_PERMISSION, ask_nobody)

/* It may look into the kernel, but not know where anything is. */
static void ask_hidden(struct answer *a)
{
	as_nobody(CAP_PERFMON, open_target, a);
}
ASKED(NO_SYMBOLS, ask_hidden)

/* What a person asks for at a place where it makes no sense. */
const struct reason_case case_NO_PARAMETER = {
	.tool = {"stat", "--if", "arg0", "vfs_read:exit", "--", "true"}, .names = "vfs_read:exit"};
const struct reason_case case_NO_RETVAL = {
	.tool = {"stat", "--if", "retval", "vfs_read", "--", "true"}, .names = "vfs_read"};
const struct reason_case case_NO_DURATION = {
	.tool = {"stat", "-m", "walltime", "vfs_read:exit", "--", "true"},
	.names = "vfs_read:exit"};
const struct reason_case case_NEVER_RETURNS = {
	.tool = {"stat", "-m", "walltime", "ki_reasons:ki_r_forever", "--", "true"},
	.names = "ki_reasons:ki_r_forever"};

const struct reason_case case_OK = {
	.suite = "test/unit/util/test_err.c"}; /* nothing is refused for it */

/* Other kernels, other drivers, none at all; lockdown is for good. */
IN_SUITE(NO_DEVICE, "test/guest/driver/abi.sh")
IN_SUITE(ABI_MISMATCH, "test/guest/driver/abi.sh")
IN_SUITE(LOCKDOWN, "test/guest/permit/main.c")
IN_SUITE(UNKNOWN_KERNEL, "test/guest/driver/unknown.sh")
IN_SUITE(NO_PATHS, "test/guest/driver/unknown.sh")
IN_SUITE(INSTRUMENT_VERSION, "test/guest/instruments/instruments.sh")
IN_SUITE(ASLEEP, "test/guest/driver/let_go.sh")
IN_SUITE(PROCESS_LOCKED, "test/guest/process/process_driver.sh")
