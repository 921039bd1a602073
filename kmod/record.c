// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper RECORD: writing a record into this CPU's buffer of a ring.
 *
 * It is called from anywhere, also in the middle of itself: by an interrupt, by an NMI. What comes
 * into the middle is over before what it came into goes on, because preemption is off. So the
 * records that are being written on a CPU at any moment are a stack, and:
 *
 *  - Room is reserved by one cmpxchg, so two records never share any. `reserved` only grows.
 *  - `nest` says how many are being written. Plain reads and writes do: whoever comes in between
 *    leaves it as it was.
 *  - Only who found it 0 (the outermost) publishes, when its own record is whole and `nest` is 0
 *    again: it moves the head to `reserved`. All that was reserved before it read `reserved` is
 *    whole: its own, and those that came into the middle of it and are over. So nothing is ever
 *    seen half-written.
 *  - Nothing stays unpublished: who came before `nest` was 0 is below `reserved` as it is read
 *    then; who comes later is outermost, and publishes all there is. If one of these comes between
 *    reading the head and moving it, the cmpxchg sees a head that has grown, and leaves it.
 *  - Of each record that is asked for, exactly one of two numbers grows, by one instruction. There
 *    is no third possibility: nothing is called here that could be instrumented (but for waking,
 *    where it does no harm), so a record is not a helper that guards against itself, and is never
 *    `skipped`.
 *  - The time is read between reading `reserved` and the cmpxchg. Had somebody come between, that
 *    would have failed, and the time be read again. So in a buffer times never go back.
 *
 * The tail is user space's. It is only compared, once, with what is reserved; positions are taken
 * modulo the size. So a wrong one makes records lost, or overwritten, and nothing else.
 *
 * In a ring that keeps the newest, records behind `oldest` are given up. It goes over whole
 * records, whose length it reads from the data; it never goes beyond the head, so it finds none
 * that is being written, and none of these is overwritten: if so much comes into the middle of one
 * that this would be necessary, it is lost. It moves by cmpxchg: if somebody has come in between
 * and overwritten the record whose length was read, he has moved it before. The loop ends: each
 * round gives up 16 bytes or more, and 144 are asked for.
 *
 * Stores are seen in their order (x86); the compiler is held by the cmpxchg. For a reader: data
 * before the head, and `oldest` before the data that overwrite what it gives up.
 *
 * Waking: who polls puts himself into the queue and then looks at the heads; here the head is moved
 * and then the tail is looked at, with a locked instruction in between. So one sees the other.
 */
#include <linux/compiler.h>
#include <linux/preempt.h>

#include <asm/cmpxchg.h>
#include <asm/msr.h>

#include "ring.h"

/* One instruction, so exact against what comes in between. */
static __always_inline void count(u64 *n)
{
	asm volatile("incq %0" : "+m"(*n));
}

static __always_inline struct ki_record *record_at(const struct ki_ring_cpu *c, u64 pos)
{
	return (struct ki_record *)(c->data + (pos & (c->size - 1)));
}

/* Room for len bytes, at *pos, and the time; false: there is none. */
static __always_inline bool reserve(struct ki_ring_cpu *c, u64 len, u64 *pos, u64 *tsc)
{
	u64 at;

	do {
		at = READ_ONCE(c->reserved);
		if (unlikely(at + len - READ_ONCE(*c->keep) > c->size))
			return false;
		*tsc = rdtsc();
	} while (unlikely(cmpxchg_local(&c->reserved, at, at + len) != at));
	*pos = at;
	return true;
}

/* Give up what is older than the last `size` bytes before the end. */
static notrace noinline void make_room(struct ki_ring_cpu *c, u64 end)
{
	u64 *oldest = &c->head->oldest, at, len;

	while (at = READ_ONCE(*oldest), end - at > c->size) {
		len = sizeof(struct ki_record) + READ_ONCE(record_at(c, at)->words) * sizeof(u64);
		if (cmpxchg_local(oldest, at, at + len) == at)
			count(&c->head->lost);
	}
}

/* What is called here may be instrumented; at one level it does not come into itself. */
static notrace noinline void wake(struct ki_ring_cpu *c, u64 tail)
{
	bool *waking = &c->waking[interrupt_context_level()];

	if (*waking)
		return;
	*waking = true;
	barrier();
	c->woken = tail;
	irq_work_queue(&c->work);
	barrier();
	*waking = false;
}

static __always_inline void publish(struct ki_ring_cpu *c)
{
	u64 *head = &c->head->head, before = READ_ONCE(*head), end = READ_ONCE(c->reserved), tail;

	cmpxchg(head, before, end);
	tail = READ_ONCE(*c->tail);
	if (unlikely(end - tail >= c->wake && tail != c->woken))
		wake(c, tail);
}

/* The last word is at words[0]. */
static __always_inline void fill(struct ki_record *r, u32 id, u32 n, u64 tsc, const u64 *words)
{
	u64 *to = (u64 *)(r + 1);

	*(u64 *)r = (u64)n << 32 | id;
	r->tsc = tsc;
	while (n--)
		*to++ = words[n];
}

u64 ki_do_RECORD(u32 what, u32 id, const u64 *words);
notrace u64 ki_do_RECORD(u32 what, u32 id, const u64 *words)
{
	u32 n = (u8)what, nest;
	struct ki_ring_cpu *c;
	u64 len = sizeof(struct ki_record) + n * sizeof(u64), pos, tsc;
	bool room;

	preempt_disable_notrace();
	c = this_cpu_ptr(ki_ring_cpus[what >> 8]);
	nest = c->nest;
	WRITE_ONCE(c->nest, nest + 1);
	barrier();
	room = reserve(c, len, &pos, &tsc);
	if (likely(room)) {
		if (c->newest)
			make_room(c, pos + len);
		fill(record_at(c, pos), id, n, tsc, words);
		count(&c->head->records);
	} else {
		count(&c->head->lost);
	}
	barrier();
	WRITE_ONCE(c->nest, nest);
	barrier();
	if (likely(!nest))
		publish(c);
	preempt_enable_notrace();
	return room;
}
