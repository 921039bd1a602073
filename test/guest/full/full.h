/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * full: what becomes of a session that ends when the heap has no room for what it leaves. Files:
 * main.c, filling.c (the heap), places.c (windows that anybody may use), cheap.c (sessions without
 * a library after them), state.c (what the driver says, and what it must say), shared.c (one of
 * several sessions is killed), random.c (many random ones are).
 */
#ifndef TEST_FULL_H
#define TEST_FULL_H

#include "common/common.h"

#define UNIT	   9   /* bytes of one instruction that counts, where no flags are live */
#define UNITS_MOST 900 /* of one chunk */
#define ROUND	   16  /* patches take the heap in steps of that */

/* ---- a random number ---- */

struct rng {
	uint64_t s;
};
static inline uint64_t rng_next(struct rng *r)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return r->s * 0x2545f4914f6cdd1dull >> 11;
}
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(rng_next(r) % n);
}

/* A window of its own, or of a group. */
struct place {
	struct ki_window w;
	struct ki_copy copies[KI_WINDOW_INSNS];
	uint32_t fn;   /* of the function */
	uint32_t host; /* KI_NONE, or the place in whose tail it bounces */
	uint32_t bare; /* bytes of its patch without a chunk */
	bool flags_live;
};

struct function {
	char name[64];
	uint64_t start, end;
	uint8_t *text; /* as nobody has changed it */
	uint32_t first, n;
};

struct places {
	struct ki_target *t;
	struct place *v;
	struct function *fn;
	uint32_t n, nfn;
};

void places_open(struct places *p);
/* False: it has none. grouped: all its windows are one group. */
bool places_add(struct places *p, const struct ki_symbol *sym, bool grouped);
void places_named(struct places *p, const char *name, bool grouped);
void places_sort(struct places *p); /* by address, as requests must have them */
const struct function *places_find(const struct places *p, const char *name);
/* Of functions of the kernel, a random one in `stride`, as many as give `most` windows; sorted. */
void places_random(struct places *p, struct rng *r, uint32_t stride, uint32_t most);

/* ---- cheap.c ---- */

/* So many units at the place's first instruction; where flags are live always one. */
struct want {
	uint32_t place, units;
};

struct cheap {
	int fd;
	uint32_t first, n; /* its counters: one for each want */
};

void cheap_open(struct cheap *s, uint32_t counters); /* 0: none are taken */
/* In one request, in order of places. The reason: KI_R_OK. Counters from `at` on. */
uint32_t cheap_put(struct cheap *s, const struct places *p, const struct want *w, uint32_t n,
		   uint32_t at);
uint32_t cheap_replace(struct cheap *s, const struct places *p, uint32_t place, uint64_t target);
/* One unit where the function has returned that the place's last instruction jumps to. */
uint32_t cheap_returned(struct cheap *s, const struct places *p, uint32_t place, uint32_t at);
uint32_t cheap_take_out(struct cheap *s); /* all */
void cheap_close(struct cheap *s);
uint32_t want_bytes(const struct places *p, const struct want *w); /* of its chunk */
uint32_t want_units(const struct places *p, const struct want *w); /* that it really has */

/* ---- state.c ---- */

void state_open(void);
struct ki_info state_info(void); /* by a session of its own: it waits for those that end */
uint64_t state_count(uint32_t counter);
/* How many things are held, of each kind; *last: the last of them. */
void state_held(uint32_t n[KI_HELD_KINDS], struct ki_held *last);
uint32_t state_muted(void);
double now_s(void);
/* Until it is true; the seconds that took, or -1 after `most`. */
double state_until(bool (*is)(void *arg), void *arg, double most);

/* ---- filling.c ---- */

struct filling;
/* Sessions of random sizes until the heap is full; then every other one goes. */
struct filling *fill_and_break_up(struct rng *r);
void empty_heap(struct filling *f);

void shared(struct rng *r);
void replaced(struct rng *r);
void returned(struct rng *r);
void probed(struct rng *r);
void random_sessions(struct rng *r, unsigned int sessions);

#endif
