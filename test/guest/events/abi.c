// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver makes of requests for events: which it refuses and why, how many there are, and
 * that they are there again for the next.
 */
#include "events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EVENTS_MAX 32

int ask(int fd, uint32_t type, uint64_t config, uint32_t flags, uint32_t *number, uint32_t *reason)
{
	struct ki_event_req req = {
		.size = sizeof(req), .type = type, .config = config, .flags = flags};
	int err = ioctl(fd, KI_IOC_EVENT, &req) ? errno : 0;

	*number = req.number;
	*reason = req.reason;
	return err;
}

static void test_reasons(int fd)
{
	static const struct {
		const char *name;
		uint32_t type, flags;
		uint64_t config;
		int err;
		uint32_t reason;
	} rows[] = {
		{"page faults", PERF_TYPE_SOFTWARE, 0, 2, 0, KI_R_OK},
		{"page faults of users", PERF_TYPE_SOFTWARE, KI_EVENT_USER, 2, 0, KI_R_OK},
		{"only asked", PERF_TYPE_SOFTWARE, KI_EVENT_CHECK | KI_EVENT_OWN, 2, 0, KI_R_OK},
		{"alignment faults", PERF_TYPE_SOFTWARE, 0, 7, EOPNOTSUPP, KI_R_EVENT_NEVER},
		{"emulation faults", PERF_TYPE_SOFTWARE, 0, 8, EOPNOTSUPP, KI_R_EVENT_NEVER},
		{"dummy", PERF_TYPE_SOFTWARE, 0, 9, EOPNOTSUPP, KI_R_EVENT_NEVER},
		{"bpf output", PERF_TYPE_SOFTWARE, 0, 10, EOPNOTSUPP, KI_R_EVENT_NEVER},
		{"no such one", PERF_TYPE_SOFTWARE, 0, 1000, EOPNOTSUPP, KI_R_EVENT_UNKNOWN},
		{"far from any", PERF_TYPE_SOFTWARE, 0, ~0ull, EOPNOTSUPP, KI_R_EVENT_UNKNOWN},
		{"switches of users", PERF_TYPE_SOFTWARE, KI_EVENT_USER, 3, EOPNOTSUPP,
		 KI_R_EVENT_SIDE},
		{"both sides", PERF_TYPE_SOFTWARE, 3, 2, EINVAL, KI_R_BAD_REQUEST},
		{"a flag too much", PERF_TYPE_SOFTWARE, 0x10, 2, EINVAL, KI_R_BAD_REQUEST},
		{"tracepoint", PERF_TYPE_TRACEPOINT, 0, 1, EOPNOTSUPP, KI_R_EVENT_TYPE},
		{"breakpoint", PERF_TYPE_BREAKPOINT, 0, 1, EOPNOTSUPP, KI_R_EVENT_TYPE},
		{"another unit's", 8, 0, 1, EOPNOTSUPP, KI_R_EVENT_TYPE},
		{"another unit's, in disguise", PERF_TYPE_HARDWARE, 0, 8ull << 32, EOPNOTSUPP,
		 KI_R_EVENT_TYPE},
		{"no type", ~0u, 0, 1, EOPNOTSUPP, KI_R_EVENT_TYPE},
		{"no such hardware event", PERF_TYPE_HARDWARE, 0, 99, EOPNOTSUPP,
		 KI_R_EVENT_UNKNOWN},
		{"no such cache", PERF_TYPE_HW_CACHE, 0, 0xffffff, EOPNOTSUPP, KI_R_EVENT_UNKNOWN},
	};
	uint32_t number, reason;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int err = ask(fd, rows[i].type, rows[i].config, rows[i].flags, &number, &reason);

		report(rows[i].name, err == rows[i].err && reason == rows[i].reason, "errno %d, %s",
		       err, ki_reason_tag(reason));
	}
}

/* The kernel says itself whether it has such a counter. */
static void test_hardware(int fd)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES};
	uint32_t number, reason;
	int there = (int)syscall(298, &attr, 0, -1, -1, 0);
	int err = ask(fd, attr.type, attr.config, 0, &number, &reason);

	report("cycles, as the kernel's own", (there >= 0) == !err,
	       "perf_event_open %d, the driver %d %s", there, err, ki_reason_tag(reason));
	if (there >= 0)
		close(there);
}

/* As many as there are, of this session; the one after them is refused. */
static unsigned int take_all(int fd, uint32_t flags, uint32_t *reason)
{
	unsigned int n = 0;
	uint32_t number;

	while (n <= EVENTS_MAX && !ask(fd, PERF_TYPE_SOFTWARE, 2, flags, &number, reason))
		n++;
	return n;
}

static void test_number(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		int fd = device_open();
		uint32_t reason;
		unsigned int n = take_all(fd, i ? KI_EVENT_OWN : 0, &reason);

		report("as many as there are", n == EVENTS_MAX && reason == KI_R_COUNTERS_FULL,
		       "%u, then %s", n, ki_reason_tag(reason));
		close(fd);
	}
}

/* Only asked, however often: nothing is taken. */
static void test_check(int fd)
{
	unsigned int failed = 0;
	uint32_t number, reason;

	for (unsigned int i = 0; i < 2 * EVENTS_MAX; i++)
		failed += !!ask(fd, PERF_TYPE_SOFTWARE, 2, KI_EVENT_CHECK, &number, &reason);
	report("asking takes nothing", !failed, "%u refused", failed);
}

void test_abi(void)
{
	int fd = device_open();

	test_reasons(fd);
	test_hardware(fd);
	test_check(fd);
	close(fd);
	test_number();
}
