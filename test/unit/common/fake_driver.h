/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A driver that is none: it takes a plan's requests, checks them, and installs them in this
 * process's memory, or refuses what it is told to.
 */
#ifndef TEST_UNIT_FAKE_DRIVER_H
#define TEST_UNIT_FAKE_DRIVER_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <cmocka.h>
#include "common_exec.h"
#include "common_link.h"
#include "splice/plan.h"
#include "target/memory.h"

#define FD	345 /* a test may have something there to be mapped */
#define LOG_LEN 4096

/* ---- the driver ---- */

static struct {
	/* how it behaves */
	uint64_t bad_window, bad_chunk_in; /* addresses that are refused, 0: none */
	unsigned int splice_fails;	   /* the how-manieth real request fails, 0: none */
	int error;
	uint32_t error_reason;
	unsigned int unsplice_eintr;			/* so many times first */
	bool real;					/* link and write */
	int (*other)(unsigned long request, void *arg); /* requests it does not know: an errno */

	/* what it has seen */
	unsigned int dry_runs, splices, unsplices;
	uint32_t next_id;
	size_t installed;    /* chunks */
	unsigned int hosted; /* windows that came with their host */
	unsigned int longs;  /* long chunks */

	/* What was put in and taken out, in order: chunks' orders, negative when they go. */
	int log[LOG_LEN];
	size_t nlog;
	uint16_t order_of[LOG_LEN]; /* by id */

	struct {
		struct ki_window w;
		uint32_t chunks[16];
		unsigned int n;
	} wins[64];
	size_t nwins;
	uint8_t *heap;
} drv;

static void *user(uint64_t p)
{
	return (void *)(uintptr_t)p;
}

/* Here nothing bounces in filler. */
static void check_host(const struct ki_splice *r, const struct ki_window *w)
{
	const struct ki_window *all = user(r->windows);

	for (uint32_t i = 0; i < r->nwindows; i++)
		if (all[i].addr + 5 <= w->bounce && w->bounce + 5 <= all[i].addr + all[i].len) {
			assert_int_equal(all[i].board, KI_BOARD_JMP);
			drv.hosted++;
			return;
		}
	fail_msg("the host of 0x%llx is not in the request", (unsigned long long)w->addr);
}

/* It comes by itself: the chunk has nothing. */
static void check_long(const struct ki_chunk *c)
{
	const struct ki_long *l = user(c->target);
	const struct ki_fixup *f = user(l->fixups);

	assert_true(!c->len && !c->nfix);
	assert_true(l->len && l->len <= KI_LONG_MAX && l->nfix <= KI_LONG_FIXUPS);
	for (uint32_t i = 0; i < l->nfix; i++)
		assert_true(f[i].off + 4u <= l->len && (!i || f[i].off >= f[i - 1].off + 4));
	drv.longs++;
}

static void check_request(const struct ki_splice *r)
{
	const struct ki_window *w = user(r->windows);
	const struct ki_chunk *c = user(r->chunks);
	uint32_t copies = 0;

	assert_int_equal(r->size, sizeof(*r));
	assert_true(r->nwindows && r->nwindows <= KI_BATCH_WINDOWS);
	assert_true(r->nchunks && r->nchunks <= KI_BATCH_CHUNKS);
	for (uint32_t i = 0; i < r->nwindows; i++) {
		assert_true(!i || w[i - 1].addr + w[i - 1].len <= w[i].addr);
		assert_int_equal(w[i].first_copy, copies);
		assert_int_equal(w[i].reason, 0);
		copies += w[i].ncopy;
		if (w[i].board == KI_BOARD_BOUNCE)
			check_host(r, &w[i]);
	}
	assert_int_equal(copies, r->ncopies);
	for (uint32_t i = 0; i < r->nchunks; i++) {
		assert_true(c[i].window < r->nwindows);
		assert_true(!i || c[i - 1].window <= c[i].window);
		assert_true(c[i].insn < w[c[i].window].ncopy);
		assert_int_equal(c[i].reason, 0);
		if (c[i].kind == KI_CHUNK_LONG)
			check_long(&c[i]);
	}
}

/* How many are refused. */
static unsigned int refuse(const struct ki_splice *r)
{
	struct ki_window *w = user(r->windows);
	struct ki_chunk *c = user(r->chunks);
	unsigned int n = 0;

	for (uint32_t i = 0; i < r->nwindows; i++)
		if (w[i].addr == drv.bad_window) {
			w[i].reason = KI_R_WINDOW_ENTERED;
			n++;
		}
	for (uint32_t i = 0; i < r->nchunks; i++)
		if (w[c[i].window].addr == drv.bad_chunk_in && !c[i].insn) {
			c[i].reason = KI_R_BAD_CHUNK;
			n++;
		}
	return n;
}

static void link_windows(const struct ki_splice *r)
{
	const struct ki_window *w = user(r->windows);
	const struct ki_copy *copies = user(r->copies);
	const struct ki_chunk *c = user(r->chunks);

	for (uint32_t i = 0; i < r->nwindows; i++) {
		const struct ki_chunk *list[16];
		size_t n = 0, len;

		assert_memory_equal(user(w[i].addr), w[i].orig, w[i].len);
		for (uint32_t k = 0; k < r->nchunks; k++)
			if (c[k].window == i) {
				drv.wins[drv.nwins].chunks[n] = c[k].id;
				list[n++] = &c[k];
			}
		len = link_patch(drv.heap, &w[i], copies + w[i].first_copy, list, n);
		assert_true(len > 0);
		link_jump(user(w[i].addr), (uintptr_t)drv.heap);
		drv.heap += len;
		drv.wins[drv.nwins].w = w[i];
		drv.wins[drv.nwins++].n = (unsigned int)n;
	}
}

static void forget(uint32_t id)
{
	for (size_t i = 0; i < drv.nwins; i++) {
		bool had = false;

		for (unsigned int k = 0; k < drv.wins[i].n; k++)
			if (drv.wins[i].chunks[k] == id) {
				drv.wins[i].chunks[k] = drv.wins[i].chunks[--drv.wins[i].n];
				had = true;
			}
		if (had && !drv.wins[i].n)
			memcpy(user(drv.wins[i].w.addr), drv.wins[i].w.orig, drv.wins[i].w.len);
	}
}

static void note(uint32_t id, bool out)
{
	if (id < LOG_LEN && drv.nlog < LOG_LEN)
		drv.log[drv.nlog++] = out ? -(int)drv.order_of[id] : (int)drv.order_of[id];
}

static int splice(struct ki_splice *r)
{
	struct ki_chunk *c = user(r->chunks);

	check_request(r);
	if (r->flags & KI_SPLICE_DRY_RUN)
		drv.dry_runs++;
	else if (++drv.splices == drv.splice_fails) {
		r->reason = drv.error_reason;
		return drv.error;
	}
	if (refuse(r)) {
		r->reason = KI_R_WINDOW_ENTERED;
		return EBUSY;
	}
	if (r->flags & KI_SPLICE_DRY_RUN)
		return 0;
	for (uint32_t i = 0; i < r->nchunks; i++) {
		c[i].id = ++drv.next_id;
		if (c[i].id < LOG_LEN)
			drv.order_of[c[i].id] = c[i].order;
		note(c[i].id, false);
	}
	drv.installed += r->nchunks;
	if (drv.real)
		link_windows(r);
	return 0;
}

static int unsplice(const struct ki_unsplice *r)
{
	const uint32_t *ids = user(r->ids);

	assert_int_equal(r->size, sizeof(*r));
	assert_int_equal(r->flags, 0);
	assert_true(r->count && r->count <= KI_BATCH_CHUNKS);
	if (drv.unsplice_eintr && drv.unsplice_eintr--)
		return EINTR;
	for (uint32_t i = 0; i < r->count; i++) {
		assert_true(ids[i] && ids[i] <= drv.next_id);
		note(ids[i], true);
	}
	for (uint32_t i = 0; drv.real && i < r->count; i++)
		forget(ids[i]);
	assert_true(drv.installed >= r->count);
	drv.installed -= r->count;
	drv.unsplices++;
	return 0;
}

/* In place of the C library's. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	assert_int_equal(fd, FD);
	if (request == KI_IOC_SPLICE)
		errno = splice(arg);
	else if (request == KI_IOC_UNSPLICE)
		errno = unsplice(arg);
	else
		errno = drv.other ? drv.other(request, arg) : ENOTTY;
	return errno ? -1 : 0;
}

#endif
