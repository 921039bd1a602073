// SPDX-License-Identifier: GPL-2.0-only
/*
 * One call of each kind, and the tally of what came of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz.h"

struct tally *tally;

void wrong(const char *fmt, ...)
{
	va_list ap;

	tally->wrong++;
	va_start(ap, fmt);
	fputs("ioctl_fuzz: WRONG: ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	fflush(stdout);
}

int device_open(void)
{
	int fd = open(KI_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror("ioctl_fuzz: " KI_DEVICE);
		exit(1);
	}
	return fd;
}

static void note(enum op op, bool accepted, int err, uint32_t reason)
{
	tally->calls[op]++;
	if (accepted)
		tally->accepted[op]++;
	else if (reason && reason < KI_R_COUNT)
		tally->by_reason[reason]++;
	else
		tally->by_errno[err > 0 && err < ERRNO_MAX ? err : 0]++;
}

/* Where in a request's structure its reason is; 0: nowhere. */
static const size_t reason_at[OPS] = {
	[OP_COUNTERS] = offsetof(struct ki_counters, reason),
	[OP_GLOBALS] = offsetof(struct ki_counters, reason),
	[OP_SPLICE] = offsetof(struct ki_splice, reason),
	[OP_LONG] = offsetof(struct ki_splice, reason),
	[OP_RING] = offsetof(struct ki_ring, reason),
	[OP_STACKS] = offsetof(struct ki_stacks, reason),
	[OP_TEXTS] = offsetof(struct ki_texts, reason),
	[OP_EVENT] = offsetof(struct ki_event_req, reason),
	[OP_TABLE] = offsetof(struct ki_table_request, reason),
	[OP_PROCESS] = offsetof(struct ki_process_open, reason),
	[OP_PROCESS_MEMORY] = offsetof(struct ki_process_memory, reason),
	[OP_PROCESS_MAP] = offsetof(struct ki_process_map, reason),
	[OP_PROCESS_EDIT] = offsetof(struct ki_process_edits, reason),
	[OP_PROCESS_GO] = offsetof(struct ki_process_go, reason),
	[OP_PROCESS_RELEASE] = offsetof(struct ki_process_release, reason),
	[OP_UNSPLICE] = offsetof(struct ki_unsplice, reason),
};

/* As it is after the call. */
static uint32_t reason_of(const struct request *q, enum op op)
{
	uint32_t reason;

	if (!reason_at[op] || q->arg != (uintptr_t)q->piece[0].at)
		return 0;
	memcpy(&reason, q->piece[0].at + reason_at[op], sizeof(reason));
	return reason;
}

static void remember_ids(struct session *s, const struct request *q)
{
	const struct ki_chunk *c = (const void *)q->piece[3].at;
	size_t i;

	for (i = 0; i < q->piece[3].len / sizeof(*c); i++)
		s->ids[s->nids++ % IDS_KEPT] = c[i].id;
}

static void call_ioctl(struct session *s, enum op op, struct arena *a, struct rng *r)
{
	struct request q;
	bool valid = rng_one_in(r, 16);
	int err;

	request_make(&q, op, s, a, r);
	if (!valid)
		request_mutate(&q, a, r);
	err = ioctl(s->fd, q.cmd, q.arg) ? errno : 0;
	if (!err && (op == OP_SPLICE || op == OP_LONG))
		remember_ids(s, &q);
	note(op, !err, err, err ? reason_of(&q, op) : 0);
}

/* Tails may be written: with anything. */
static void check_tails(uint8_t *p, size_t len, int prot, struct rng *r)
{
	size_t i;

	if (prot & PROT_EXEC || len != 4096)
		wrong("tails: mmap of %zu bytes with protection %d was allowed", len, prot);
	for (i = 0; prot & PROT_WRITE && i < len; i += 8)
		*(uint64_t *)(void *)(p + i) = rng_next(r);
	if (!mprotect(p, len, PROT_READ | PROT_EXEC))
		wrong("tails could be made executable");
	munmap(p, len);
}

#define SOME_TABLE (1ll << 40) /* where one may be mapped */

static bool is_length(const struct session *s, size_t len, int64_t off)
{
	if (off == KI_MAP_STACKS || off == KI_MAP_TEXTS || off == SOME_TABLE)
		return len > 4096;
	if (off == KI_MAP_RING)
		return len > s->cpus * 4096 && !(len % (s->cpus * 4096));
	return len == s->map_bytes || len == s->global_bytes;
}

static void check_mapping(const struct session *s, uint8_t *p, size_t len, int prot, int64_t off)
{
	volatile uint8_t byte;

	if (prot & (PROT_WRITE | PROT_EXEC))
		wrong("mmap with protection %d was allowed", prot);
	if (!is_length(s, len, off))
		wrong("mmap of %zu bytes was allowed", len);
	if (prot & PROT_READ)
		byte = p[0] + p[len - 1];
	(void)byte;
	if (!mprotect(p, len, PROT_READ | PROT_WRITE) || !mprotect(p, len, PROT_READ | PROT_EXEC))
		wrong("the mapping could be made writable or executable");
	if (mremap(p, len, len * 2, MREMAP_MAYMOVE) != MAP_FAILED)
		wrong("the mapping could be made larger");
	munmap(p, len);
}

static void call_mmap(struct session *s, struct arena *a, struct rng *r)
{
	static const int flags[] = {MAP_SHARED, MAP_PRIVATE, MAP_SHARED | MAP_POPULATE};
	static const int64_t offsets[] = {
		0,
		0,
		0,
		4096,
		-4096,
		1,
		SOME_TABLE,
		0x7ffffffffffff000,
		KI_MAP_GLOBALS,
		KI_MAP_GLOBALS,
		KI_MAP_RING,
		KI_MAP_RING,
		KI_MAP_RING_TAILS,
		KI_MAP_RING_TAILS,
		KI_MAP_STACKS,
		KI_MAP_TEXTS,
	};
	const uint64_t lens[] = {
		s->map_bytes,
		s->map_bytes,
		s->map_bytes,
		s->map_bytes + 4096,
		4096,
		s->map_bytes / 2,
		0,
		1 + rng_below(r, 1 << 20),
		1ull << 46,
		s->map_bytes - 1,
		s->global_bytes,
		s->global_bytes,
		s->cpus * 4096 * (1 + (1u << rng_below(r, 3))),
		s->cpus * 4096 * (1 + (1u << rng_below(r, 3))),
		4096,
	};
	size_t len = lens[rng_below(r, sizeof(lens) / sizeof(*lens))];
	int64_t off = offsets[rng_below(r, sizeof(offsets) / sizeof(*offsets))];
	int prot = rng_one_in(r, 2) ? PROT_READ : rng_below(r, 8);
	uint8_t *p;

	(void)a;
	p = mmap(NULL, len, prot, flags[rng_below(r, 3)], s->fd, off);
	note(OP_MMAP, p != MAP_FAILED, errno, 0);
	if (p == MAP_FAILED)
		return;
	len = (len + 4095) & ~4095ull;
	if (off == KI_MAP_RING_TAILS)
		check_tails(p, len, prot, r);
	else
		check_mapping(s, p, len, prot, off);
}

static long file_call(int fd, struct arena *a, struct rng *r)
{
	void *buf = arena_take(a, 64);
	struct pollfd pfd = {.fd = fd, .events = rng_next(r)};
	struct iovec iov = {.iov_base = buf, .iov_len = rng_below(r, 64)};
	int copy;

	switch (rng_below(r, 12)) {
	case 0:
		return read(fd, buf, rng_below(r, 64));
	case 1:
		return write(fd, buf, rng_below(r, 64));
	case 2:
		return pread(fd, buf, 64, rng_next(r));
	case 3:
		return pwrite(fd, buf, 64, rng_next(r) >> 1);
	case 4:
		return readv(fd, &iov, 1);
	case 5:
		return poll(&pfd, 1, 0);
	case 6:
		return lseek(fd, rng_next(r), rng_below(r, 6));
	case 7:
		return ftruncate(fd, rng_next(r) >> 1);
	case 8:
		return fallocate(fd, rng_below(r, 4), 0, 4096);
	case 9:
		return fsync(fd);
	case 10:
		return fcntl(fd, F_SETFL, rng_one_in(r, 2) ? O_NONBLOCK : 0);
	default:
		copy = dup(fd);
		return copy < 0 ? copy : close(copy);
	}
}

static void call_file(struct session *s, struct arena *a, struct rng *r)
{
	long ret = file_call(s->fd, a, r);

	note(OP_FILE, ret >= 0, errno, 0);
}

static void call_kcov(struct rng *r)
{
	bool accepted = kcov_call(r) >= 0;

	note(OP_KCOV, accepted, errno, 0);
}

static bool known(unsigned long cmd)
{
	return cmd == KI_IOC_INFO || cmd == KI_IOC_READ || cmd == KI_IOC_RESERVED ||
	       cmd == KI_IOC_COUNTERS || cmd == KI_IOC_SPLICE || cmd == KI_IOC_UNSPLICE ||
	       cmd == KI_IOC_GLOBALS || cmd == KI_IOC_WORDS || cmd == KI_IOC_INSIDE ||
	       cmd == KI_IOC_RING || cmd == KI_IOC_EVENT || cmd == KI_IOC_TABLE ||
	       cmd == KI_IOC_STACKS || cmd == KI_IOC_GLOBAL || cmd == KI_IOC_PATCHES ||
	       cmd == KI_IOC_SESSION || cmd == KI_IOC_SESSION_WINDOW || cmd == KI_IOC_EVICT ||
	       cmd == KI_IOC_HELD || cmd == KI_IOC_TEXTS || cmd == KI_IOC_PROCESS ||
	       cmd == KI_IOC_PROCESS_MEMORY || cmd == KI_IOC_PROCESS_MAP ||
	       cmd == KI_IOC_PROCESS_EDIT || cmd == KI_IOC_PROCESS_GO ||
	       cmd == KI_IOC_PROCESS_RELEASE;
}

static void call_unknown(struct session *s, struct arena *a, struct rng *r)
{
	unsigned long cmd = _IOC(rng_below(r, 4), 'k', rng_below(r, 256), rng_below(r, 1 << 14));

	if (known(cmd))
		return;
	if (!ioctl(s->fd, cmd, arena_take(a, 1 << 14))) {
		note(OP_UNKNOWN, true, 0, 0);
		wrong("ioctl %#lx was accepted", cmd);
	} else {
		note(OP_UNKNOWN, false, errno, 0);
	}
}

void call_random(struct session *s, struct arena *a, struct rng *r)
{
	static const enum op mix[] = {
		OP_INFO,
		OP_READ,
		OP_READ,
		OP_RESERVED,
		OP_COUNTERS,
		OP_SPLICE,
		OP_SPLICE,
		OP_SPLICE,
		OP_SPLICE,
		OP_SPLICE,
		OP_SPLICE,
		OP_SPLICE,
		OP_UNSPLICE,
		OP_UNSPLICE,
		OP_MMAP,
		OP_FILE,
		OP_UNKNOWN,
		OP_GLOBALS,
		OP_LONG,
		OP_LONG,
		OP_LONG,
		OP_LONG,
		OP_WORDS,
		OP_INSIDE,
		OP_RING,
		OP_EVENT,
		OP_TABLE,
		OP_STACKS,
		OP_GLOBAL,
		OP_KCOV,
		OP_TEXTS,
		OP_PROCESS,
		OP_PROCESS_MEMORY,
		OP_PROCESS_MAP,
		OP_PROCESS_EDIT,
		OP_PROCESS_GO,
		OP_PROCESS_RELEASE,
	};
	enum op op = mix[rng_below(r, sizeof(mix) / sizeof(*mix))];

	if (op == OP_MMAP)
		call_mmap(s, a, r);
	else if (op == OP_FILE)
		call_file(s, a, r);
	else if (op == OP_UNKNOWN)
		call_unknown(s, a, r);
	else if (op == OP_KCOV)
		call_kcov(r);
	else
		call_ioctl(s, op, a, r);
}
