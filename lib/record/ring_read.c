// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reading a ring. Where each CPU's reading ends is looked up once, at the beginning, so it comes to
 * an end however fast others write. In each CPU's buffer times go up; the next record of each is
 * copied, and that with the smallest time of all is taken first: a heap of cursors.
 *
 * A record is given back by moving the tail after it when it has been copied. In a ring that keeps
 * the newest nothing is given back, and the writer may come by while a record is copied. He says so
 * before he writes: so the copy is good if `oldest` has not passed its position afterwards.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/ring.h"

static const struct ki_ring_head *head_of(const struct ki_ring_map *r, unsigned int cpu)
{
	return (const struct ki_ring_head *)(const void *)(r->base + cpu * r->stride);
}

static uint64_t look(const __u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

int ki_ring_begin(struct ki_ring_map *r)
{
	r->cursor = calloc(r->cpus, sizeof(*r->cursor));
	r->heap = calloc(r->cpus, sizeof(*r->heap));
	return r->cursor && r->heap ? 0 : -ENOMEM;
}

void ki_ring_end(struct ki_ring_map *r)
{
	free(r->cursor);
	free(r->heap);
}

/* Some words at a position; they may go on at the beginning. */
static void copy_words(const struct ki_ring_map *r, const struct ring_cursor *c, uint64_t pos,
		       uint64_t *to, unsigned int n)
{
	const uint64_t *data =
		(const uint64_t *)(const void *)(r->base + c->cpu * r->stride + RING_PAGE);

	for (; n--; pos += 8)
		*to++ = __atomic_load_n(&data[(pos & (c->size - 1)) / 8], __ATOMIC_RELAXED);
}

static void copy_record(const struct ki_ring_map *r, struct ring_cursor *c)
{
	uint64_t first[2];

	copy_words(r, c, c->pos, first, 2);
	c->rec.id = (uint32_t)first[0];
	c->rec.words = (uint16_t)(first[0] >> 32);
	c->rec.zero = (uint16_t)(first[0] >> 48);
	c->rec.tsc = first[1];
	if (c->rec.words <= KI_RECORD_WORDS)
		copy_words(r, c, c->pos + sizeof(c->rec), c->values, c->rec.words);
}

static uint64_t bytes_of(const struct ki_record *rec)
{
	return sizeof(*rec) + rec->words * sizeof(uint64_t);
}

/* The record at c->pos: 1; 0: there are no more; -EIO: what is there is none. */
static int load(const struct ki_ring_map *r, struct ring_cursor *c)
{
	while (c->pos < c->end) {
		copy_record(r, c);
		if (r->between)
			r->between(r->between_arg);
		if (r->newest) {
			uint64_t oldest;

			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			oldest = look(&head_of(r, c->cpu)->oldest);
			if (oldest > c->pos) {
				c->pos = oldest;
				continue;
			}
		}
		if (c->rec.words > KI_RECORD_WORDS || c->rec.zero ||
		    bytes_of(&c->rec) > c->end - c->pos)
			return -EIO;
		return 1;
	}
	return 0;
}

static bool is_before(const struct ring_cursor *a, const struct ring_cursor *b)
{
	return a->rec.tsc != b->rec.tsc ? a->rec.tsc < b->rec.tsc : a->cpu < b->cpu;
}

/* The one at i may be later than those below it. */
static void sift(struct ring_cursor **heap, unsigned int n, unsigned int i)
{
	for (;;) {
		unsigned int kid = 2 * i + 1;
		struct ring_cursor *c = heap[i];

		if (kid + 1 < n && is_before(heap[kid + 1], heap[kid]))
			kid++;
		if (kid >= n || !is_before(heap[kid], c))
			return;
		heap[i] = heap[kid];
		heap[kid] = c;
		i = kid;
	}
}

/* Where reading begins and ends; a tail that cannot be is the head. */
static void begin_cpu(struct ki_ring_map *r, struct ring_cursor *c, unsigned int cpu)
{
	const struct ki_ring_head *h = head_of(r, cpu);

	c->cpu = cpu;
	c->size = r->stride - RING_PAGE;
	c->pos = r->newest ? look(&h->oldest) : r->tails[cpu];
	c->end = look(&h->head);
	if (!r->newest && c->end - c->pos > c->size)
		c->pos = c->end;
}

static void give_back(struct ki_ring_map *r, unsigned int cpu, uint64_t pos)
{
	__atomic_store_n(&r->tails[cpu], pos, __ATOMIC_RELEASE);
}

/* Begin on all CPUs: how many have a record, in the heap; or -EIO. */
static int begin(struct ki_ring_map *r)
{
	int n = 0, ret = 0;

	for (unsigned int cpu = 0; cpu < r->cpus; cpu++)
		begin_cpu(r, &r->cursor[cpu], cpu);
	for (unsigned int cpu = 0; cpu < r->cpus && ret >= 0; cpu++) {
		ret = load(r, &r->cursor[cpu]);
		if (ret > 0)
			r->heap[n++] = &r->cursor[cpu];
	}
	for (unsigned int i = (unsigned int)n / 2; i--;)
		sift(r->heap, (unsigned int)n, i);
	return ret < 0 ? ret : n;
}

/* The first one of the heap to `f`, and its next one into the heap. */
static int step(struct ki_ring_map *r, unsigned int *n, ki_record_each *f, void *arg)
{
	struct ring_cursor *c = r->heap[0];
	int ret;

	c->pos += bytes_of(&c->rec);
	give_back(r, c->cpu, c->pos);
	ret = f(arg, &c->rec, c->values, c->cpu);
	if (ret)
		return ret;
	ret = load(r, c);
	if (ret < 0)
		return ret;
	if (!ret)
		r->heap[0] = r->heap[--*n];
	sift(r->heap, *n, 0);
	return 0;
}

int ki_ring_read(struct ki_ring_map *r, ki_record_each *f, void *arg)
{
	unsigned int n;
	int ret = begin(r);

	if (ret < 0)
		return ret;
	n = (unsigned int)ret;
	ret = 0;
	while (n && !ret)
		ret = step(r, &n, f, arg);
	return ret;
}

uint64_t ki_ring_lost(const struct ki_ring_map *r)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < r->cpus; cpu++)
		sum += look(&head_of(r, cpu)->lost);
	return sum;
}

uint64_t ki_ring_records(const struct ki_ring_map *r)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < r->cpus; cpu++)
		sum += look(&head_of(r, cpu)->records);
	return sum;
}
