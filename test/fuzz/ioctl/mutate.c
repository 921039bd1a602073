// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is bad on purpose, and what is done to a request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "fuzz.h"

/* Far from everything, and with so many bits set that a flip or two leads nowhere. */
#define ARENA_AT   0x2a5a5a000000ull
#define ARENA_STEP 0x000010000000ull
#define PAGE	   4096

void arena_make(struct arena *a, unsigned int number)
{
	void *at = (void *)(ARENA_AT + number * ARENA_STEP);
	uint8_t *p = mmap(at, ARENA_BYTES + 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || mprotect(p + ARENA_BYTES, PAGE, PROT_READ) ||
	    mprotect(p + ARENA_BYTES + PAGE, PAGE, PROT_NONE)) {
		perror("arena");
		exit(1);
	}
	a->base = p;
	a->used = 0;
}

void *arena_end(const struct arena *a)
{
	return a->base + ARENA_BYTES;
}

/* The first half is for requests, so that what answers run over is never far from the end. */
void *arena_take(struct arena *a, size_t len)
{
	void *p;

	len = (len + 15) & ~(size_t)15;
	if (a->used + len > ARENA_BYTES / 2)
		a->used = 0;
	p = a->base + a->used;
	a->used += len;
	memset(p, 0, len);
	return p;
}

static uint64_t bad_pointer(const struct arena *a, struct rng *r)
{
	const uint64_t bad[] = {
		0,
		1,
		PAGE,		       /* not mapped */
		0x00007ffffffff000ull, /* where user space ends */
		0x00007fffffffffffull,
		0x0000800000000000ull, /* not canonical */
		0xffff800000000000ull, /* the kernel's */
		0xffff888000000000ull,
		0xffffffff81000000ull,
		0xffffffffff600000ull, /* vsyscall */
		~0ull,
		(uintptr_t)arena_end(a),	/* may only be read */
		(uintptr_t)arena_end(a) + PAGE, /* no access */
		(uintptr_t)arena_end(a) - 4,	/* partly writable */
		(uintptr_t)arena_end(a) - 40,
		(uintptr_t)arena_end(a) + PAGE - 8, /* partly readable */
		(uintptr_t)a->base + 1,		    /* not aligned */
	};

	return bad[rng_below(r, sizeof(bad) / sizeof(*bad))];
}

/* clang-format off */
static const uint64_t boundary_values[] = {
	0, 1, 2, 4, 5, 7, 8, 12, 13, 24, 25, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256,
	0x7fff, 0x8000, 0xffff, 65536, 65537, 131072, 131073, 1 << 20, (1 << 20) + 1,
	16 << 20, (16 << 20) + 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
	0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffff80000000,
	0xffffffffffffffff, 0xfffffffffffffff8,
};
/* clang-format on */

static uint64_t boundary_value(struct rng *r)
{
	return boundary_values[rng_below(r, sizeof(boundary_values) / sizeof(*boundary_values))];
}

static unsigned int pick_piece(const struct request *q, struct rng *r)
{
	return rng_below(r, q->npieces);
}

/* One field, of 1, 2, 4 or 8 bytes, where such a field may stand. */
static void set_field(struct request *q, struct arena *a, struct rng *r)
{
	unsigned int i = pick_piece(q, r);
	size_t width = 1u << rng_below(r, 4), n = q->piece[i].len / width;
	uint64_t v = rng_one_in(r, 4) ? rng_next(r) >> 40 : boundary_value(r);

	(void)a;
	if (n)
		memcpy(q->piece[i].at + rng_below(r, n) * width, &v, width);
}

static void flip_bit(struct request *q, struct arena *a, struct rng *r)
{
	unsigned int i = pick_piece(q, r);

	(void)a;
	if (q->piece[i].len)
		q->piece[i].at[rng_below(r, q->piece[i].len)] ^= 1u << rng_below(r, 8);
}

/* A 64-bit word of the request itself: where there is a pointer, a bad one. */
static void set_pointer(struct request *q, struct arena *a, struct rng *r)
{
	size_t n = q->piece[0].len / 8;
	uint64_t v = bad_pointer(a, r);

	if (n)
		memcpy(q->piece[0].at + rng_below(r, n) * 8, &v, 8);
}

/* The whole request where only a part of it, or nothing, can be read or written. */
static void move_request(struct request *q, struct arena *a, struct rng *r)
{
	size_t len = q->piece[0].len;
	uint8_t *to = (uint8_t *)arena_end(a) - rng_below(r, len + 9);

	if (rng_one_in(r, 2)) {
		q->arg = bad_pointer(a, r);
		return;
	}
	memcpy(to, q->piece[0].at,
	       (size_t)((uint8_t *)arena_end(a) - to) < len ? (size_t)((uint8_t *)arena_end(a) - to)
							    : len);
	q->arg = (uintptr_t)to;
}

/* An array cut off by the end of the memory. */
static void truncate_array(struct request *q, struct arena *a, struct rng *r)
{
	unsigned int i = q->npieces > 1 ? 1 + rng_below(r, q->npieces - 1) : 0;
	uint64_t from = (uintptr_t)q->piece[i].at, word;
	uint8_t *to;
	size_t keep, off;

	if (!i || !q->piece[i].len || q->piece[i].len > ARENA_BYTES / 4)
		return;
	keep = rng_below(r, q->piece[i].len);
	to = (uint8_t *)arena_end(a) - keep;
	memcpy(to, q->piece[i].at, keep);
	for (off = 0; off + 8 <= q->piece[0].len; off += 8) {
		memcpy(&word, q->piece[0].at + off, 8);
		if (word == from) {
			word = (uintptr_t)to;
			memcpy(q->piece[0].at + off, &word, 8);
		}
	}
}

/* The same number with another size or direction. */
static void change_cmd(struct request *q, struct arena *a, struct rng *r)
{
	unsigned long size = rng_one_in(r, 2) ? _IOC_SIZE(q->cmd) ^ (1u << rng_below(r, 8))
					      : (boundary_value(r) & _IOC_SIZEMASK);

	(void)a;
	if (rng_one_in(r, 3))
		q->cmd = _IOC(rng_below(r, 4), _IOC_TYPE(q->cmd), _IOC_NR(q->cmd), size);
	else
		q->cmd = _IOC(_IOC_DIR(q->cmd), _IOC_TYPE(q->cmd), _IOC_NR(q->cmd), size);
}

/* Bytes of one place over another: counts, indices and addresses that are nearly right. */
static void copy_over(struct request *q, struct arena *a, struct rng *r)
{
	unsigned int from = pick_piece(q, r), to = pick_piece(q, r);
	size_t width = 1u << rng_below(r, 6);

	(void)a;
	if (q->piece[from].len >= width && q->piece[to].len >= width)
		memmove(q->piece[to].at + rng_below(r, q->piece[to].len - width + 1),
			q->piece[from].at + rng_below(r, q->piece[from].len - width + 1), width);
}

void request_mutate(struct request *q, struct arena *a, struct rng *r)
{
	static void (*const mutators[])(struct request *, struct arena *, struct rng *) = {
		set_field, set_field,	set_field,    flip_bit,	      flip_bit,	  flip_bit,
		copy_over, set_pointer, move_request, truncate_array, change_cmd,
	};
	unsigned int n = 1 + rng_below(r, 3);

	while (n--)
		mutators[rng_below(r, sizeof(mutators) / sizeof(*mutators))](q, a, r);
}
