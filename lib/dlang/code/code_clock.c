// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clocks. timestamp is half of what measuring programs do, so it must cost little: it is the time
 * stamp counter in nanoseconds, where the kernel itself takes that counter for its clock, which it
 * does only if the counters of all CPUs agree and never rest. Else the kernel is asked, by a helper
 * of some 120 instructions.
 *
 * Ticks become nanoseconds by a factor of 31 binary places, B: ticks * B >> 31 is more than 64 bits
 * on its way, so the ticks' halves are multiplied one by one,
 *
 *	(ticks >> 31) * B + ((ticks & 0x7fffffff) * B >> 31)
 *
 * which is exact but for the last bit, and never overflows, as B is at most 2^33: the counter
 * goes at 250 MHz or faster. What the kernel does to its clock to keep it with the world's (some
 * millionths) is in walltimestamp, which asks the kernel, and not in timestamp.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "dlang/code/locals.h"

#define PLACES	  31
#define LOW	  ((UINT64_C(1) << PLACES) - 1)
#define KHZ_LEAST 250000 /* B is at most 2^33 */
#define SOURCE	  "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static struct ki_node *op(struct ki_d_gen *g, enum ki_binary which, struct ki_node *a, uint64_t b)
{
	return ki_expr_binary(g->s, which, a, number(g, b));
}

static bool is_kernels_clock(void)
{
	FILE *f = fopen(SOURCE, "re");
	char name[16] = "";
	bool is = f && fgets(name, sizeof(name), f) && !strcmp(name, "tsc\n");

	if (f)
		fclose(f);
	return is;
}

static uint64_t in_nanoseconds(uint64_t ticks, uint64_t factor)
{
	return (ticks >> PLACES) * factor + ((ticks & LOW) * factor >> PLACES);
}

void ki_d_clock_find(struct ki_d_clock *c, uint64_t khz)
{
	struct timespec now;

	*c = (struct ki_d_clock){.khz = khz};
	if (khz < KHZ_LEAST)
		return;
	c->factor = (UINT64_C(1000000) << PLACES) / khz;
	c->from_tsc = is_kernels_clock();
	clock_gettime(CLOCK_MONOTONIC, &now);
	c->base = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec -
		  in_nanoseconds(__rdtsc(), c->factor);
}

/* Of a clock that counts ticks. */
static struct ki_node *nanoseconds(struct ki_d_gen *g, enum ki_fact clock)
{
	const uint64_t factor = g->d->run->clock.factor;
	struct ki_node *ticks = ki_d_gen_set_temp(g, ki_expr_fact(g->s, clock));
	struct ki_node *high = op(g, KI_MUL, op(g, KI_SHR, ki_d_gen_temp(g), PLACES), factor);
	struct ki_node *low = op(g, KI_AND, ki_d_gen_temp(g), LOW);

	low = op(g, KI_SHR, op(g, KI_MUL, low, factor), PLACES);
	return ki_expr_behind(g->s, ticks, ki_expr_binary(g->s, KI_ADD, low, high));
}

/* The same of a counter that goes more slowly than B allows. */
static struct ki_node *divided(struct ki_d_gen *g, enum ki_fact clock)
{
	const uint64_t khz = g->d->run->clock.khz;
	struct ki_node *ms = op(g, KI_DIV, ki_expr_fact(g->s, clock), khz);
	struct ki_node *rest = op(g, KI_MOD, ki_expr_fact(g->s, clock), khz);

	return ki_expr_binary(g->s, KI_ADD, op(g, KI_MUL, ms, 1000000),
			      op(g, KI_DIV, op(g, KI_MUL, rest, 1000000), khz));
}

struct ki_node *ki_d_gen_timestamp(struct ki_d_gen *g)
{
	const struct ki_d_clock *c = &g->d->run->clock;

	if (!c->from_tsc)
		return ki_expr_fact(g->s, KI_FACT_NANOTIME);
	return op(g, KI_ADD, nanoseconds(g, KI_FACT_TSC), c->base);
}

/*
 * A clause that names timestamp more than once has the same time each time, as the reference has
 * it: this->t = timestamp; ... timestamp - this->t is 0.
 */
unsigned int ki_d_timestamps(const struct ki_d_node *list)
{
	unsigned int n = 0;

	for (; list; list = list->next) {
		n += list->kind == KI_D_NAME && list->is_builtin &&
		     list->sym.builtin->kind == KI_D_B_TIME;
		for (unsigned int i = 0; i < 3; i++)
			n += ki_d_timestamps(list->kid[i]);
	}
	return n;
}

struct ki_node *ki_d_gen_keep_time(struct ki_d_gen *g)
{
	return set(g, NOW, ki_d_gen_timestamp(g));
}

struct ki_node *ki_d_gen_time(struct ki_d_gen *g)
{
	return ki_expr_cast(g->s, KI_I64, g->one_time ? get(g, NOW) : ki_d_gen_timestamp(g));
}

struct ki_node *ki_d_gen_walltimestamp(struct ki_d_gen *g)
{
	return op(g, KI_ADD, ki_expr_fact(g->s, KI_FACT_NANOTIME), (uint64_t)g->d->run->wall);
}

struct ki_node *ki_d_gen_vtimestamp(struct ki_d_gen *g)
{
	return g->d->run->clock.factor ? nanoseconds(g, KI_FACT_CLOCK) : divided(g, KI_FACT_CLOCK);
}

/*
 * Two clocks, well mixed: a bit of theirs changes each bit of the result in half of all cases. The
 * multipliers are those of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, 2014).
 */
struct ki_node *ki_d_gen_random(struct ki_d_gen *g)
{
	static const struct {
		uint64_t odd;
		unsigned int shift;
	} rounds[] = {{0xbf58476d1ce4e5b9, 27}, {0x94d049bb133111eb, 31}};
	struct ki_node *x = op(g, KI_MUL, ki_expr_fact(g->s, KI_FACT_NANOTIME), 0x9e3779b97f4a7c15);
	struct ki_node *first;

	x = ki_expr_binary(g->s, KI_XOR, x, ki_expr_fact(g->s, KI_FACT_TSC));
	for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); i++) {
		x = op(g, KI_MUL, x, rounds[i].odd);
		first = ki_d_gen_set_temp(g, x);
		x = ki_expr_binary(g->s, KI_XOR, ki_d_gen_temp(g),
				   op(g, KI_SHR, ki_d_gen_temp(g), rounds[i].shift));
		x = ki_expr_behind(g->s, first, x);
	}
	return ki_expr_cast(g->s, KI_I32, x);
}
