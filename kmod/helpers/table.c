// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TABLE: a row is looked for by its key, made if it is not there, and changed.
 *
 * It is called from anywhere, also in the middle of itself, by an interrupt or an NMI. Preemption
 * is off meanwhile. Like a record (record.c) it calls nothing that could be instrumented, is never
 * skipped, and is compiled with all registers kept. Each change that is asked for is done or
 * counted as lost.
 *
 * Where a key may be: KI_TABLE_PROBES places, at distances 0, 1, 3, 6 ... from what its digest
 * says. In a table of 2^n rows the first 2^n of these are all different. A free place ends the
 * search: a maker of a row further on has passed there when it was taken, and what was taken never
 * becomes free again. So each search ends, however full the table is.
 *
 * Banks of one CPU. Only this CPU writes, and what comes into the middle is over before what it
 * came into goes on.
 *  - A place is taken by one cmpxchg, so by one search. One that loses it finds there the row of
 *    another that has come and gone. That row is whole.
 *  - A search that meets a row that is being made (BUSY) has interrupted its maker, and cannot
 *    wait. It goes on; so one key may get a second row, which a reader adds to the first. From then
 *    on all find the first one of them.
 *  - What came last mostly comes again. So the place that was used last is looked at first, before
 *    anything is computed: if the row there is whole and has the key, it is one of the key's.
 *  - Values are changed by single instructions, or again if another came between. In the sum of
 *    squares the carry is added by a second one; a change that comes between adds its own, and the
 *    flags are kept for what was interrupted.
 *
 * Shared tables. A row is changed by its owner. That has made it BUSY with a locked cmpxchg, from
 * a state that it knows. Interrupts are off meanwhile, so only an NMI can come into the middle. The
 * state keeps the key's digest, so a search for another key passes by. A search for this one waits,
 * but not for ever: after some rounds its change is lost, and counted. An NMI waits shortly only:
 * it may have interrupted the owner.
 *  - With each owner the number in the state is another one. So if a cmpxchg succeeds, the row's
 *    key is still what was compared.
 *  - A deleted row (DEAD) may be taken for another key. Two that want to make the same key could
 *    then take different places, when one of these was not dead yet as the other passed. So each
 *    searches once more when it has taken a place. If it finds its key further on, or before: the
 *    place that is nearer to the beginning of the search stays, and the other one gives way. The
 *    nearer one waits until the other has noticed it, or was quicker and is READY; then it gives
 *    way itself. Each publishes its place before it searches, so not both can miss the other.
 *
 * Stores are seen in their order (x86); the compiler is held by barriers.
 */
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include <asm/processor.h>

#include "data/table.h"
#include "helpers/access.h"

#define KI_SPINS     4096 /* rounds until a change is lost */
#define KI_NMI_SPINS 32

#define KI_ROW_NEXT 4ull /* the next number in a state */
#define KI_ROW_TAG  (~0ull << 32)

/* By value, so that C finds them where the chunk has them: above the return address. */
struct ki_key_pushed {
	u64 v[KI_TABLE_KEYS];
};

struct ki_search {
	const struct ki_table_cpu *c;
	const u64 *key; /* the last word first */
	u64 hash;
	u64 *row;    /* found, or taken */
	u64 *vacant; /* the first place that could be taken, and its state */
	u64 vacant_state;
	bool fresh; /* the row has just been made */
};

enum ki_found { KI_OWNED, KI_ABSENT, KI_FULL, KI_AGAIN };

/* These are one instruction, so exact against what comes in between. */
static __always_inline void add(u64 *at, u64 x)
{
	asm volatile("addq %1, %0" : "+m"(*at) : "er"(x));
}

static __always_inline void count(u64 *at)
{
	asm volatile("incq %0" : "+m"(*at));
}

static __always_inline void add_shared(u64 *at, u64 x)
{
	asm volatile("lock addq %1, %0" : "+m"(*at) : "er"(x));
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

static __always_inline bool take_over_shared(u64 *at, u64 now, u64 then)
{
	bool done;

	asm volatile("lock cmpxchgq %3, %0"
		     : "+m"(*at), "+a"(now), "=@cce"(done)
		     : "r"(then)
		     : "memory");
	return done;
}

/* ---- keys ---- */

static __always_inline u64 digest(const u64 *key, u32 n)
{
	u64 h = n;

	while (n--) {
		h = (h ^ key[n]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h;
}

static __always_inline bool is_key(const struct ki_table_cpu *c, const u64 *key, const u64 *row)
{
	u64 n = c->keys;

	while (n--)
		if (READ_ONCE(*++row) != key[n])
			return false;
	return true;
}

static __always_inline u64 *row_at(const struct ki_table_cpu *c, u64 at)
{
	return c->rows + (at & c->mask) * c->words;
}

/* The key and the first values, of a row that is taken. */
static notrace noinline void fill(const struct ki_table_cpu *c, const u64 *key, u64 *row)
{
	u32 n = c->keys, i;

	while (n--)
		WRITE_ONCE(*++row, key[n]);
	for (i = 0; i < c->values; i++)
		WRITE_ONCE(*++row, c->init ? c->init[i] : 0);
}

static __always_inline void publish(u64 *row, u64 state)
{
	barrier();
	WRITE_ONCE(*row, state);
	barrier();
}

/* ---- values ---- */

/* Signed or unsigned, the smaller one or the larger one. */
static __always_inline void minmax(u64 *at, u64 x, bool sign, bool larger)
{
	u64 flip = sign ? 1ull << 63 : 0, old;

	do {
		old = READ_ONCE(*at);
		if (larger ? (x ^ flip) <= (old ^ flip) : (x ^ flip) >= (old ^ flip))
			return;
	} while (unlikely(!take_over(at, old, x)));
}

static __always_inline void add_square(u64 *at, u64 x)
{
	u64 low = (s64)x < 0 ? 0 - x : x, high;

	asm("mulq %2" : "=a"(low), "=d"(high) : "r"(low), "0"(low) : "cc");
	asm volatile("addq %2, %0\n\tadcq %3, %1"
		     : "+m"(at[0]), "+m"(at[1])
		     : "r"(low), "r"(high)
		     : "cc");
}

static __always_inline void add_stats(u64 *at, u64 x)
{
	count(&at[0]);
	add(&at[1], x);
	minmax(&at[2], x, true, false);
	minmax(&at[3], x, true, true);
	add_square(&at[4], x);
}

/* Not for 0: undefined then. */
static __always_inline u64 highest_bit(u64 x)
{
	u64 n;

	asm("bsrq %1, %0" : "=r"(n) : "r"(x) : "cc");
	return n;
}

static __always_inline void change(u64 *at, u32 op, u64 x)
{
	switch (op) {
	case KI_TABLE_SET:
		WRITE_ONCE(*at, x);
		break;
	case KI_TABLE_ADD:
		add(at, x);
		break;
	case KI_TABLE_MIN:
	case KI_TABLE_MAX:
		minmax(at, x, true, op == KI_TABLE_MAX);
		break;
	case KI_TABLE_UMIN:
	case KI_TABLE_UMAX:
		minmax(at, x, false, op == KI_TABLE_UMAX);
		break;
	case KI_TABLE_COUNT:
		count(at + x);
		break;
	case KI_TABLE_LOG2:
		count(at + (x ? 1 + highest_bit(x) : 0));
		break;
	case KI_TABLE_STATS:
		add_stats(at, x);
		break;
	}
}

/* ---- banks of one CPU ---- */

static __always_inline u64 *find_here(const struct ki_table_cpu *c, const u64 *key, u64 hash)
{
	u64 tag = hash & KI_ROW_TAG, i;
	u64 *row;

	for (i = 0; i < c->probes; hash += ++i) {
		row = row_at(c, hash);
		if (!READ_ONCE(*row) && likely(take_over(row, KI_ROW_FREE, tag | KI_ROW_BUSY))) {
			fill(c, key, row);
			publish(row, tag | KI_ROW_READY);
			count(&c->head->used);
			return row;
		}
		if (READ_ONCE(*row) == (tag | KI_ROW_READY) && likely(is_key(c, key, row)))
			return row;
	}
	return NULL;
}

/* ---- shared tables ---- */

static __always_inline u64 state_of(const struct ki_search *s, u64 before, u64 kind)
{
	return (s->hash & KI_ROW_TAG) | (((u32)before & ~3u) + (u32)KI_ROW_NEXT) | kind;
}

static __always_inline bool is_tag(const struct ki_search *s, u64 state)
{
	return !((state ^ s->hash) & KI_ROW_TAG);
}

/* A row with the key's digest: is it it, and can it be had? */
static __always_inline enum ki_found try_row(struct ki_search *s, u64 *row, u64 state)
{
	if (KI_ROW_KIND(state) == KI_ROW_BUSY)
		return KI_AGAIN;
	if (!is_key(s->c, s->key, row))
		return KI_ABSENT;
	if (!take_over_shared(row, state, state_of(s, state, KI_ROW_BUSY)))
		return KI_AGAIN;
	s->row = row;
	s->fresh = false;
	return KI_OWNED;
}

static __always_inline void note_vacant(struct ki_search *s, u64 *row, u64 state)
{
	if (s->vacant)
		return;
	s->vacant = row;
	s->vacant_state = state;
}

static notrace enum ki_found search(struct ki_search *s)
{
	u64 at = s->hash, state, i;
	enum ki_found found;
	u64 *row;

	s->vacant = NULL;
	for (i = 0; i < s->c->probes; at += ++i) {
		row = row_at(s->c, at);
		state = READ_ONCE(*row);
		if (state == KI_ROW_FREE || KI_ROW_KIND(state) == KI_ROW_DEAD) {
			note_vacant(s, row, state);
			if (state == KI_ROW_FREE)
				return KI_ABSENT;
		} else if (is_tag(s, state)) {
			found = try_row(s, row, state);
			if (found != KI_ABSENT)
				return found;
		}
	}
	return s->vacant ? KI_ABSENT : KI_FULL;
}

/* Until another one's row is not BUSY any more: its state then. */
static __always_inline u64 wait_for(const u64 *row, u32 *spins)
{
	u64 state = READ_ONCE(*row);

	while (KI_ROW_KIND(state) == KI_ROW_BUSY && *spins) {
		--*spins;
		cpu_relax();
		state = READ_ONCE(*row);
	}
	return state;
}

/* Does no other CPU make, or have, a row with the key of the one that has been taken? */
static notrace bool is_alone(const struct ki_search *s, u32 *spins)
{
	bool before = true;
	u64 at = s->hash, state, i;
	u64 *row;

	for (i = 0; i < s->c->probes; at += ++i) {
		row = row_at(s->c, at);
		if (row == s->row) {
			before = false;
			continue;
		}
		state = READ_ONCE(*row);
		if (!before && is_tag(s, state))
			state = wait_for(row, spins);
		if (state == KI_ROW_FREE)
			return true;
		if (!is_tag(s, state) || KI_ROW_KIND(state) == KI_ROW_DEAD)
			continue;
		if (KI_ROW_KIND(state) == KI_ROW_BUSY || is_key(s->c, s->key, row))
			return false;
	}
	return true;
}

/* Take the vacant place for the key. */
static notrace bool take_vacant(struct ki_search *s, u32 *spins)
{
	u64 state = state_of(s, s->vacant_state, KI_ROW_BUSY);

	if (!take_over_shared(s->vacant, s->vacant_state, state))
		return false;
	s->row = s->vacant;
	if (!is_alone(s, spins)) {
		publish(s->row, state_of(s, state, KI_ROW_DEAD));
		return false;
	}
	fill(s->c, s->key, s->row);
	s->fresh = true;
	return true;
}

/* The row becomes ours; or it is absent, if it is not to be made; FULL: it cannot be had. */
static notrace enum ki_found own(struct ki_search *s, bool make)
{
	u32 spins = in_nmi() ? KI_NMI_SPINS : KI_SPINS;
	enum ki_found found;

	for (; spins; spins--) {
		found = search(s);
		if (found == KI_OWNED || (!make && found != KI_AGAIN))
			return found;
		if (found == KI_FULL)
			return found;
		if (found == KI_ABSENT && take_vacant(s, &spins))
			return KI_OWNED;
		if (!spins)
			break;
		cpu_relax();
	}
	return KI_AGAIN;
}

static __always_inline u64 work_on(struct ki_search *s, u32 op, u32 index, u64 x)
{
	u64 *value = s->row + 1 + s->c->keys + index, state = *s->row, r = 1;
	bool gone = op == KI_TABLE_DELETE;

	if (op == KI_TABLE_GET)
		r = *value;
	else if (!gone)
		change(value, op, x);
	if (s->fresh && !gone)
		add_shared(&s->c->head->used, 1); /* others may take it away once it is there */
	publish(s->row, state_of(s, state, gone ? KI_ROW_DEAD : KI_ROW_READY));
	if (gone)
		add_shared(&s->c->head->used, -1);
	return r;
}

struct ki_ask {
	u32 op, index;
	u64 x, hash;
};

static notrace noinline u64 do_shared(const struct ki_table_cpu *c, const u64 *key,
				      const struct ki_ask *a)
{
	bool make = a->op != KI_TABLE_GET && a->op != KI_TABLE_DELETE;
	struct ki_search s;
	unsigned long flags;
	enum ki_found found;
	u64 r = 0;

	s.c = c;
	s.key = key;
	s.hash = a->hash;
	raw_local_irq_save(flags);
	found = own(&s, make);
	if (found == KI_OWNED)
		r = work_on(&s, a->op, a->index, a->x);
	else if (make || found == KI_AGAIN)
		add_shared(&c->head->lost, 1);
	else
		r = a->op == KI_TABLE_DELETE;
	raw_local_irq_restore(flags);
	return r;
}

/* ---- the helper ---- */

static notrace noinline u64 lose(const struct ki_table_cpu *c)
{
	if (c->shared)
		add_shared(&c->head->lost, 1);
	else
		count(&c->head->lost);
	return 0;
}

static __always_inline u64 do_here(struct ki_table_cpu *c, const u64 *key, const struct ki_ask *a)
{
	u64 *row = find_here(c, key, a->hash);

	if (unlikely(!row))
		return lose(c);
	c->last = row - c->rows;
	change(row + 1 + c->keys + a->index, a->op, a->x);
	return 1;
}

static notrace noinline u64 do_ask(u32 what, u64 x, struct ki_table_cpu *c, const u64 *key)
{
	struct ki_ask a = {.op = what >> 16 & 15, .index = (u16)what, .x = x};

	a.hash = digest(key, c->keys);
	if (unlikely(a.op == KI_TABLE_COUNT && x >= c->values - a.index))
		return lose(c);
	return unlikely(c->shared) ? do_shared(c, key, &a) : do_here(c, key, &a);
}

u64 ki_helper_TABLE(u32 what, u64 x, const struct ki_key_pushed key);
/* First what is frequent, with few registers, since all are kept: to add to the last row again. */
notrace u64 ki_helper_TABLE(u32 what, u64 x, const struct ki_key_pushed key)
{
	struct ki_table_cpu *c;
	u64 *row, n, r = 1;

	preempt_disable_notrace();
	c = raw_cpu_ptr(ki_table_cpus[what >> 20]);
	if (unlikely((what & 15 << 16) != KI_TABLE_ADD << 16 || c->shared))
		goto ask;
	row = c->rows + c->last;
	if (unlikely(KI_ROW_KIND((u32)READ_ONCE(*row)) != KI_ROW_READY))
		goto ask;
	n = c->keys;
	do {
		if (unlikely(READ_ONCE(*++row) != key.v[n - 1]))
			goto ask;
		OPTIMIZER_HIDE_VAR(n); /* one register less than pointers into both */
	} while (--n);
	n = (u16)what;
	OPTIMIZER_HIDE_VAR(n);
	add(row + 1 + n, x);
	goto done;
ask:
	r = do_ask(what, x, c, key.v);
done:
	ki_preempt_enable();
	return r;
}
