// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The session's ring: asking for it, mapping it, waiting.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "record/ring.h"
#include "util/sized.h"

#define DEFAULT_BYTES (1u << 20)

static size_t data_bytes(const struct ki_ring_map *r)
{
	return (size_t)(r->cpus * r->stride);
}

static size_t tail_bytes(const struct ki_ring_map *r)
{
	return (r->cpus * sizeof(uint64_t) + RING_PAGE - 1) & ~(size_t)(RING_PAGE - 1);
}

/* A power of 2; 0: that is more than there can be. */
static uint32_t pages_of(uint32_t bytes)
{
	uint32_t pages = 1;

	while (pages <= KI_RING_PAGES && (uint64_t)pages * RING_PAGE < bytes)
		pages *= 2;
	return pages <= KI_RING_PAGES ? pages : 0;
}

static int ask(struct ki_ring_map *r, const struct ki_ring_options *o, struct ki_err *err)
{
	struct ki_ring req = {.size = sizeof(req), .flags = o->newest ? KI_RING_NEWEST : 0};
	int error;

	req.pages = pages_of(o->bytes ? o->bytes : DEFAULT_BYTES);
	req.wake = o->wake;
	if (!req.pages || req.wake > req.pages * RING_PAGE)
		return ki_err_set(err, -EINVAL, 0,
				  "a ring of %u bytes that wakes at %u: at most %u", o->bytes,
				  o->wake, KI_RING_PAGES * RING_PAGE);
	if (ioctl(r->fd, KI_IOC_RING, &req)) {
		error = errno;
		if (error == EEXIST)
			return ki_err_set(err, -error, 0, "the session has a ring already");
		if (req.reason)
			return ki_err_reason(err, req.reason, 0, "a ring of %u pages for each CPU",
					     req.pages);
		return ki_err_set(err, -error, 0, "a ring of %u pages for each CPU: %s", req.pages,
				  strerror(error));
	}
	r->cpus = req.cpus;
	r->number = req.number;
	r->stride = req.stride;
	r->newest = o->newest;
	return 0;
}

static int map(struct ki_ring_map *r, struct ki_err *err)
{
	void *base = mmap(NULL, data_bytes(r), PROT_READ, MAP_SHARED, r->fd, KI_MAP_RING);
	void *tails = MAP_FAILED;
	int error = errno;

	if (base != MAP_FAILED) {
		tails = mmap(NULL, tail_bytes(r), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			     KI_MAP_RING_TAILS);
		error = errno;
	}
	if (tails == MAP_FAILED) {
		if (base != MAP_FAILED)
			munmap(base, data_bytes(r));
		return ki_err_set(err, -error, 0, "a ring: mmap: %s", strerror(error));
	}
	r->base = base;
	r->tails = tails;
	return 0;
}

int ki_ring_map_new(struct ki_target *t, const struct ki_ring_options *o, struct ki_ring_map **out,
		    struct ki_err *err)
{
	static const struct ki_ring_options usual = {.size = sizeof(usual)};
	struct ki_ring_map *r;
	int ret;

	if (!ki_target_info(t))
		return ki_err_set(err, -EINVAL, 0, "a ring: the target is not live");
	r = calloc(1, sizeof(*r));
	if (!r)
		return ki_err_set(err, -ENOMEM, 0, "a ring: out of memory");
	r->fd = ki_target_fd(t);
	ret = o ? ki_sized(o->size, sizeof(*o), "a ring", err) : 0;
	if (!ret)
		ret = ask(r, o ? o : &usual, err);
	if (!ret)
		ret = map(r, err);
	if (!ret && ki_ring_begin(r))
		ret = ki_err_set(err, -ENOMEM, 0, "a ring: out of memory");
	if (ret)
		ki_ring_map_free(r);
	else
		*out = r;
	return ret;
}

void ki_ring_map_free(struct ki_ring_map *r)
{
	if (!r)
		return;
	ki_ring_end(r);
	if (r->base) {
		munmap((void *)(uintptr_t)r->base, data_bytes(r));
		munmap(r->tails, tail_bytes(r));
	}
	free(r);
}

uint32_t ki_ring_number(const struct ki_ring_map *r)
{
	return r->number;
}

int ki_ring_wait(struct ki_ring_map *r, int timeout)
{
	struct pollfd p = {.fd = r->fd, .events = POLLIN};
	int n = poll(&p, 1, timeout);

	if (n < 0)
		return -errno;
	return n && !(p.revents & POLLIN) ? -EIO : n;
}
