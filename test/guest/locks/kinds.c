// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requests that point to memory: each of their arrays once where nobody brings the page.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "locks/locks.h"

static struct ki_window window;
static struct ki_copy copy;
static struct ki_chunk chunk;
static struct ki_long code;

static int splice(int fd, void *windows, void *copies, void *chunks)
{
	struct ki_splice r = {.size = sizeof(r),
			      .flags = KI_SPLICE_DRY_RUN,
			      .windows = (uintptr_t)windows,
			      .copies = (uintptr_t)copies,
			      .chunks = (uintptr_t)chunks,
			      .nwindows = 1,
			      .ncopies = 1,
			      .nchunks = 1};

	return ioctl(fd, KI_IOC_SPLICE, &r) ? errno : 0;
}

static int splice_windows(int fd, void *never)
{
	return splice(fd, never, &copy, &chunk);
}

static int splice_copies(int fd, void *never)
{
	return splice(fd, &window, never, &chunk);
}

static int splice_chunks(int fd, void *never)
{
	return splice(fd, &window, &copy, never);
}

static int splice_long(int fd, const void *at)
{
	chunk.kind = KI_CHUNK_LONG;
	chunk.target = (uintptr_t)at;
	return splice(fd, &window, &copy, &chunk);
}

static int splice_size(int fd, void *never)
{
	return splice_long(fd, never);
}

static int splice_fixups(int fd, void *never)
{
	code = (struct ki_long){.len = 8, .nfix = 1, .code = (uintptr_t)&code};
	code.fixups = (uintptr_t)never;
	return splice_long(fd, &code);
}

static int splice_code(int fd, void *never)
{
	code = (struct ki_long){.len = 8, .code = (uintptr_t)never};
	return splice_long(fd, &code);
}

static int unsplice(int fd, void *never)
{
	struct ki_unsplice r = {.size = sizeof(r), .ids = (uintptr_t)never, .count = 1};

	return ioctl(fd, KI_IOC_UNSPLICE, &r) ? errno : 0;
}

static int table(int fd, void *never)
{
	struct ki_table_request r = {
		.size = sizeof(r), .keys = 1, .values = 1, .rows = 1, .init = (uintptr_t)never};

	return ioctl(fd, KI_IOC_TABLE, &r) ? errno : 0;
}

static int inside(int fd, void *never)
{
	struct ki_words w = {.size = sizeof(w), .count = 4};
	struct ki_inside r = {.size = sizeof(r), .count = 4, .rows = (uintptr_t)never};

	if (ioctl(fd, KI_IOC_WORDS, &w))
		return errno;
	r.first = w.first;
	return ioctl(fd, KI_IOC_INSIDE, &r) ? errno : 0;
}

static int read_text(int fd, void *never)
{
	struct ki_info info = {.size = sizeof(info)};
	struct ki_read r = {.size = sizeof(r), .len = 16, .buf = (uintptr_t)never};

	if (ioctl(fd, KI_IOC_INFO, &info))
		return errno;
	r.addr = info.text_start;
	return ioctl(fd, KI_IOC_READ, &r) ? errno : 0;
}

static int reserved(int fd, void *never)
{
	struct ki_reserved r = {
		.size = sizeof(r), .end = UINT64_MAX, .max = 1 << 16, .rows = (uintptr_t)never};

	return ioctl(fd, KI_IOC_RESERVED, &r) ? errno : 0;
}

static int request(int fd, void *never)
{
	return ioctl(fd, KI_IOC_INFO, never) ? errno : 0;
}

/* What has never been written is one page of zeros, however long: it takes no memory itself. */
int big_splice(int fd, void *never)
{
	unsigned int n = KI_BATCH_WINDOWS * KI_WINDOW_INSNS;
	void *zeros = mmap(NULL, (size_t)n * sizeof(struct ki_copy), PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct ki_splice r = {.size = sizeof(r),
			      .windows = (uintptr_t)zeros,
			      .copies = (uintptr_t)zeros,
			      .chunks = (uintptr_t)never,
			      .nwindows = KI_BATCH_WINDOWS,
			      .ncopies = n,
			      .nchunks = 1};

	if (zeros == MAP_FAILED)
		return errno;
	return ioctl(fd, KI_IOC_SPLICE, &r) ? errno : 0;
}

const struct kind kinds[] = {
	{"the request itself", request},
	{"windows", splice_windows},
	{"copies", splice_copies},
	{"chunks", splice_chunks},
	{"a long chunk's sizes", splice_size},
	{"a long chunk's fixups", splice_fixups},
	{"a long chunk's code", splice_code},
	{"ids to take out", unsplice},
	{"values of a table", table},
	{"the answer of who is inside", inside},
	{"the answer of reading", read_text},
	{"the answer of what is reserved", reserved},
};
const unsigned int nkinds = sizeof(kinds) / sizeof(*kinds);
