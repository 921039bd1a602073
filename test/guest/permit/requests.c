// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each request once, in order for itself; those that change something ask for little.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "permit/permit.h"

static uint64_t text(int fd)
{
	struct ki_info info = {.size = sizeof(info)};

	return ioctl(fd, KI_IOC_INFO, &info) ? 0 : info.text_start;
}

/* Each returns what ioctl does, and puts the reason there, if the request has one. */
#define REQUEST(name, type, number, ...)                                                           \
	static int name(int fd, unsigned int *reason)                                              \
	{                                                                                          \
		struct type r = {.size = sizeof(r), __VA_ARGS__};                                  \
		int ret = ioctl(fd, number, &r);                                                   \
                                                                                                   \
		*reason = r.reason;                                                                \
		return ret;                                                                        \
	}

#define UNREASONED(name, type, number, ...)                                                        \
	static int name(int fd, unsigned int *reason)                                              \
	{                                                                                          \
		struct type r = {.size = sizeof(r), __VA_ARGS__};                                  \
                                                                                                   \
		*reason = UINT32_MAX;                                                              \
		return ioctl(fd, number, &r);                                                      \
	}

static uint8_t bytes[16];
static struct ki_window window;
static struct ki_copy copy;
static struct ki_chunk chunk;

UNREASONED(try_info, ki_info, KI_IOC_INFO, .abi = 0)
UNREASONED(try_patches, ki_patches, KI_IOC_PATCHES, .zero = 0)
UNREASONED(try_session, ki_session_row, KI_IOC_SESSION, .session = 0)
UNREASONED(try_held, ki_held, KI_IOC_HELD, .index = UINT32_MAX)
UNREASONED(try_window, ki_session_window, KI_IOC_SESSION_WINDOW, .session = UINT32_MAX)
UNREASONED(try_inside, ki_inside, KI_IOC_INSIDE, .count = 1)
UNREASONED(try_read, ki_read, KI_IOC_READ, .addr = text(fd), .len = sizeof(bytes),
	   .buf = (uintptr_t)bytes)
UNREASONED(try_reserved, ki_reserved, KI_IOC_RESERVED, .start = 0, .end = 1)
UNREASONED(try_global, ki_global, KI_IOC_GLOBAL, .number = 0)
UNREASONED(try_release, ki_process_release, KI_IOC_PROCESS_RELEASE, .count = 1,
	   .numbers = (uintptr_t)bytes)
REQUEST(try_globals, ki_globals, KI_IOC_GLOBALS, .count = 1)
REQUEST(try_counters, ki_counters, KI_IOC_COUNTERS, .count = 1)
REQUEST(try_words, ki_words, KI_IOC_WORDS, .count = 1)
REQUEST(try_ring, ki_ring, KI_IOC_RING, .pages = 1)
REQUEST(try_table, ki_table_request, KI_IOC_TABLE, .keys = 1, .values = 1, .rows = 1)
REQUEST(try_stacks, ki_stacks, KI_IOC_STACKS, .rows = 1, .frames = 1)
REQUEST(try_texts, ki_texts, KI_IOC_TEXTS, .most = 64, .rows = 512, .heap = 4096)
REQUEST(try_process, ki_process_open, KI_IOC_PROCESS, .pid = getpid())
REQUEST(try_memory, ki_process_memory, KI_IOC_PROCESS_MEMORY, .bytes = 4096)
REQUEST(try_process_map, ki_process_map, KI_IOC_PROCESS_MAP, .len = 4096)
REQUEST(try_edit, ki_process_edits, KI_IOC_PROCESS_EDIT, .count = 1, .edits = (uintptr_t)bytes)
REQUEST(try_go, ki_process_go, KI_IOC_PROCESS_GO)
REQUEST(try_event, ki_event_req, KI_IOC_EVENT, .type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS)
REQUEST(try_splice, ki_splice, KI_IOC_SPLICE, .windows = (uintptr_t)&window,
	.copies = (uintptr_t)&copy, .chunks = (uintptr_t)&chunk, .nwindows = 1, .ncopies = 1,
	.nchunks = 1)
REQUEST(try_dry_run, ki_splice, KI_IOC_SPLICE, .flags = KI_SPLICE_DRY_RUN,
	.windows = (uintptr_t)&window, .copies = (uintptr_t)&copy, .chunks = (uintptr_t)&chunk,
	.nwindows = 1, .ncopies = 1, .nchunks = 1)
REQUEST(try_unsplice, ki_unsplice, KI_IOC_UNSPLICE, .flags = KI_UNSPLICE_ALL)

static int try_map(int fd, unsigned int *reason)
{
	struct ki_info info = {.size = sizeof(info)};

	*reason = UINT32_MAX;
	if (ioctl(fd, KI_IOC_INFO, &info))
		return -1;
	errno = map_errno(fd, info.cpus * info.counter_bytes, PROT_READ, MAP_SHARED, 0);
	return errno ? -1 : 0;
}

/*
 * All of the driver's (test/lint/permits.sh) but KI_IOC_EVICT, which asks for rights of its own.
 * The last one of CHANGES sets a variable that the one before has taken.
 */
static const struct {
	const char *name;
	enum kind kind;
	int (*make)(int fd, unsigned int *reason);
	int nothing; /* the errno if it may be made: there is nothing to tell */
} all[] = {
	{"info", TELLS, try_info, 0},
	{"patches", TELLS, try_patches, 0},
	{"session", TELLS, try_session, 0},
	{"held", TELLS, try_held, ENOENT},
	{"window", TELLS, try_window, ENOENT},
	{"read", READS, try_read, 0},
	{"inside", READS, try_inside, EACCES},
	{"reserved", READS, try_reserved, 0},
	{"a mapping", READS, try_map, 0},
	{"counters", CHANGES, try_counters, 0},
	{"words", CHANGES, try_words, 0},
	{"ring", CHANGES, try_ring, 0},
	{"table", CHANGES, try_table, 0},
	{"stacks", CHANGES, try_stacks, 0},
	{"event", CHANGES, try_event, 0},
	{"texts", CHANGES, try_texts, 0},
	{"process", CHANGES, try_process, 0},
	{"its memory", CHANGES, try_memory, 0},
	{"its map", CHANGES, try_process_map, 0},
	{"its text", CHANGES, try_edit, 0},
	{"its thread that waits", CHANGES, try_go, ESRCH},
	{"globals", CHANGES, try_globals, 0},
	{"global", CHANGES, try_global, 0},
	{"splice", CHANGES, try_splice, 0},
	{"a dry run", CHANGES, try_dry_run, 0},
	{"unsplice", TAKES_OUT, try_unsplice, 0},
	{"a part of a process's text", TAKES_OUT, try_release, EINVAL},
};

void requests_try(const char *when, int fd, enum kind kind, int error, unsigned int reason)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		int got, wanted = error ? error : all[i].nothing;
		unsigned int why;
		char name[64];

		if (all[i].kind != kind)
			continue;
		got = all[i].make(fd, &why) ? errno : 0;
		snprintf(name, sizeof(name), "%s: %s", when, all[i].name);
		report(name, got == wanted && (why == UINT32_MAX || why == reason), "%s, reason %d",
		       strerror(got), (int)why);
	}
}
