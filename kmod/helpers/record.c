// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper RECORD: writing a record into this CPU's buffer of a ring.
 *
 * It is called from anywhere, also in the middle of itself: by an interrupt, by an NMI. What comes
 * into the middle is over before what it came into goes on, because preemption is off. So the
 * records that are being written on a CPU at any moment are a stack, and:
 *
 *  - Room is reserved by one cmpxchg, so two records never share any. `reserved` only grows.
 *  - `nest` says how many are being written: a record that comes in between leaves it as it was.
 *  - Only who brings it back to 0 (the outermost) publishes, when its own record is whole: it moves
 *    the head to `reserved`. All that was reserved before it read `reserved` is whole: its own, and
 *    those that came into the middle of it and are over. So nothing is ever seen half-written.
 *  - Nothing stays unpublished: who came before `nest` was 0 is below `reserved` as it is read
 *    then; who comes later is outermost, and publishes all there is. If one of these comes between
 *    reading the head and moving it, the cmpxchg sees a head that has grown, and leaves it.
 *  - Of each record that is asked for, exactly one of two numbers grows, by one instruction. There
 *    is no third possibility. Nothing is called here that could be instrumented (but for waking,
 *    where it does no harm). So a record is not a helper that guards against itself, and is never
 *    `skipped`.
 *  - The time is read between reading `reserved` and the cmpxchg. Had another come between, that
 *    would have failed, and the time be read again. So in a buffer times never go back.
 *
 * The tail is user space's. It is only compared, once, with what is reserved; positions are taken
 * modulo the size. So a wrong one makes records lost, or overwritten, and nothing else.
 *
 * In a ring that keeps the newest, records after `oldest` are given up. It goes over whole
 * records, whose length it reads from the data. It never goes beyond the head, so it finds none
 * that is being written, and overwrites none of these. If so much comes into the middle of one
 * that this would be necessary, the record is lost. It moves by cmpxchg: if another has come in
 * between and overwritten the record whose length was read, it has moved it before. The loop ends:
 * each round gives up 16 bytes or more, and 144 are asked for.
 *
 * Stores are seen in their order (x86); the compiler is held by the cmpxchg. For a reader: data
 * before the head, and `oldest` before the data that overwrite what it gives up.
 *
 * Short: this file is compiled with all registers kept by the function that is called (Kbuild), as
 * helpers must. So chunks call it as it is, and it saves only what it uses. What it calls keeps
 * them too (helpers_entry.S).
 *
 * Waking: a reader that polls enters the queue and then looks at the heads; here the head is moved
 * and then the tail is looked at, with a locked instruction in between. So one sees the other.
 */
#include <linux/compiler.h>
#include <linux/preempt.h>

#include <asm/cmpxchg.h>

#include "data/ring.h"
#include "helpers/access.h"

struct ki_tsc {
	u32 low, high;
};

/* These are one instruction, so exact against what comes in between. */
static __always_inline void count(u64 *n)
{
	asm volatile("incq %0" : "+m"(*n));
}

static __always_inline void enter(u32 *nest)
{
	asm volatile("incl %0" : "+m"(*nest) : : "memory");
}

/* Is it the outermost that leaves? */
static __always_inline bool leave(u32 *nest)
{
	bool outermost;

	asm volatile("decl %0" : "+m"(*nest), "=@cce"(outermost) : : "memory");
	return outermost;
}

/* If it is `now`, make it `then`. */
static __always_inline bool take_over(u64 *at, u64 now, u64 then)
{
	bool done;

	asm volatile("cmpxchgq %3, %0"
		     : "+m"(*at), "+a"(now), "=@cce"(done)
		     : "r"(then)
		     : "memory");
	return done;
}

static __always_inline struct ki_tsc read_time(void)
{
	struct ki_tsc t;

	asm volatile("rdtsc" : "=a"(t.low), "=d"(t.high) : : "memory");
	return t;
}

/* A number of which the compiler knows nothing: else it counts the rounds before they begin, and
   keeps what it was made of, which takes longer than the rounds. */
static __always_inline u64 opaque(u64 n)
{
	OPTIMIZER_HIDE_VAR(n);
	return n;
}

static __always_inline struct ki_record *record_at(const struct ki_ring_cpu *c, u64 pos)
{
	return (struct ki_record *)(c->data + (pos & c->mask));
}

/* Room for len bytes, at *pos, and the time; false: there is none. */
static __always_inline bool reserve(struct ki_ring_cpu *c, u64 len, u64 *pos, struct ki_tsc *time)
{
	u64 at;

	do {
		at = READ_ONCE(c->reserved);
		if (unlikely(at + len - READ_ONCE(*c->keep) > c->size))
			return false;
		*time = read_time();
	} while (unlikely(!take_over(&c->reserved, at, at + len)));
	*pos = at;
	return true;
}

static __always_inline bool is_full(const struct ki_ring_cpu *c, u64 end)
{
	return end - READ_ONCE(c->head->oldest) > c->size;
}

/* Give up what is older than the last `size` bytes before the end. */
static notrace noinline void make_room(struct ki_ring_cpu *c, u64 end)
{
	u64 *oldest = &c->head->oldest, at, len;

	while (at = READ_ONCE(*oldest), end - at > c->size) {
		len = sizeof(struct ki_record) + READ_ONCE(record_at(c, at)->words) * sizeof(u64);
		if (take_over(oldest, at, at + len))
			count(&c->head->lost);
	}
}

static __always_inline void publish(struct ki_ring_cpu *c)
{
	u64 *head = &c->head->head, before = READ_ONCE(*head), end = READ_ONCE(c->reserved), tail;

	cmpxchg(head, before, end);
	tail = READ_ONCE(*c->tail);
	if (unlikely(end - tail >= c->wake && tail != c->woken))
		ki_ring_wake(c, tail);
}

static __always_inline void fill_head(struct ki_record *r, u32 id, u32 n, struct ki_tsc time)
{
	r->id = id;
	*(u32 *)&r->words = n; /* and `zero` */
	*(struct ki_tsc *)&r->tsc = time;
}

/* reversed: the last word is at words[0], as a chunk pushes them. Four at once where there are. */
static __always_inline void fill(struct ki_record *r, u32 id, u64 n, struct ki_tsc time,
				 const u64 *words, bool reversed)
{
	const long step = reversed ? -1 : 1;
	const u64 *from = reversed ? words + n - 1 : words;
	u64 *to = (u64 *)(r + 1);

	fill_head(r, id, (u32)n, time);
	for (n = opaque(n); n >= 4; n = opaque(n - 4), from += 4 * step, to += 4)
		for (long i = 0; i < 4; i++)
			to[i] = from[i * step];
	for (; n; n = opaque(n - 1), from += step)
		*to++ = *from;
}

/* false: it is lost */
static __always_inline bool write_record(u32 ring, u32 id, const u64 *words, u64 n, bool reversed)
{
	u64 len = sizeof(struct ki_record) + n * sizeof(u64), pos;
	struct ki_ring_cpu *c;
	struct ki_tsc time;
	bool room;

	preempt_disable_notrace();
	c = raw_cpu_ptr(ki_ring_cpus[ring]);
	enter(&c->nest);
	room = reserve(c, len, &pos, &time);
	if (likely(room)) {
		if (c->newest && unlikely(is_full(c, pos + len)))
			make_room(c, pos + len);
		fill(record_at(c, pos), id, n, time, words, reversed);
		count(&c->head->records);
	} else {
		count(&c->head->lost);
	}
	if (likely(leave(&c->nest)))
		publish(c);
	ki_preempt_enable();
	return room;
}

/* By value, so that C finds them where the chunk has them: above the return address. */
struct ki_words_pushed {
	u64 v[KI_RECORD_WORDS];
};

void ki_helper_RECORD(u32 what, u32 id, const struct ki_words_pushed words);
notrace void ki_helper_RECORD(u32 what, u32 id, const struct ki_words_pushed words)
{
	write_record(what >> 8, id, words.v, opaque((u8)what), true);
}

notrace bool ki_record_put(u32 ring, u32 id, const u64 *words, u32 n)
{
	return write_record(ring, id, words, n, false);
}
