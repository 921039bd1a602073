/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's tables (kmod/helpers/table.c, compiled in here), and what calls of the helper must
 * make of one, computed in another way. One table, number 1.
 */
#ifndef TABLE_FIXTURE_H
#define TABLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/* as the kernel is built */
#pragma GCC optimize("no-strict-aliasing")
#include "../../../kmod/helpers/table.c"

#define KEYS   2 /* words of a key */
#define LEVELS 3
#define OWN    8 /* this key and those after it belong to a level, or a thread */
#define MODELS (OWN + 400)
#define ROWS   4096

/* What the values are for. */
enum {
	V_STATS,
	V_SUM = V_STATS + KI_TABLE_STATS_WORDS,
	V_UMIN,
	V_UMAX,
	V_COUNT,
	V_SET = V_COUNT + 3,
	VALUES
};
#define WORDS (1 + KEYS + VALUES)

struct ki_table_cpu __percpu *ki_table_cpus[KI_TABLES];
bool shim_in_nmi;

static struct ki_table_cpu cpu;
static struct ki_table_head head;
static u64 rows[ROWS * WORDS], init[VALUES];
static uint64_t models[MODELS][VALUES];
static bool exists[MODELS];
static unsigned int refused;

static const char *problem;

/* ---- a call, and what it must do ---- */

static inline void key_of(uint64_t id, uint64_t *key)
{
	key[0] = id;
	key[1] = id % 3 ? 0x6b776f726b6572ull : ~id;
}

static inline uint64_t ask(uint32_t op, uint32_t index, uint64_t id, uint64_t x)
{
	struct ki_key_pushed pushed;
	uint64_t key[KEYS];

	key_of(id, key);
	for (unsigned int i = 0; i < KEYS; i++)
		pushed.v[KEYS - 1 - i] = key[i];
	return ki_helper_TABLE(KI_TABLE_OP(1u, op, index), x, pushed);
}

static inline void model_stats(uint64_t *v, int64_t x)
{
	unsigned __int128 squares = (unsigned __int128)v[5] << 64 | v[4];

	squares += (unsigned __int128)((__int128)x * x);
	v[0]++;
	v[1] += (uint64_t)x;
	v[2] = (uint64_t)(x < (int64_t)v[2] ? x : (int64_t)v[2]);
	v[3] = (uint64_t)(x > (int64_t)v[3] ? x : (int64_t)v[3]);
	v[4] = (uint64_t)squares;
	v[5] = (uint64_t)(squares >> 64);
}

static inline void model(uint32_t op, uint64_t id, uint64_t x)
{
	uint64_t *v = models[id];

	if (!exists[id])
		memcpy(v, init, sizeof(init));
	exists[id] = op != KI_TABLE_DELETE;
	if (op == KI_TABLE_STATS)
		model_stats(v + V_STATS, (int64_t)x);
	else if (op == KI_TABLE_ADD)
		v[V_SUM] += x;
	else if (op == KI_TABLE_UMIN)
		v[V_UMIN] = x < v[V_UMIN] ? x : v[V_UMIN];
	else if (op == KI_TABLE_UMAX)
		v[V_UMAX] = x > v[V_UMAX] ? x : v[V_UMAX];
	else if (op == KI_TABLE_COUNT)
		v[V_COUNT + x]++;
	else if (op == KI_TABLE_SET)
		v[V_SET] = x;
}

static inline uint64_t mixed(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15;
	return x ^ x >> 29;
}

/* The next call, if it is another way. */
static uint64_t (*asks)(uint32_t op, uint32_t index, uint64_t id, uint64_t x) = ask;

static inline void do_one(uint32_t op, uint32_t index, uint64_t id, uint64_t x)
{
	uint64_t (*how)(uint32_t, uint32_t, uint64_t, uint64_t) = asks;

	asks = ask; /* whoever comes between */
	if (how(op, index, id, x))
		model(op, id, x);
	else
		refused++;
}

/* ---- what is there ---- */

static inline void is_wrong(const char *what)
{
	if (!problem)
		problem = what;
}

static inline bool is_whole(const u64 *row)
{
	uint64_t key[KEYS];

	key_of(row[1], key);
	return row[1] < MODELS && !memcmp(key, row + 1, sizeof(key));
}

static inline void look(void)
{
	for (uint64_t i = 0; i <= cpu.mask; i++) {
		const u64 *row = rows + i * WORDS;

		if (KI_ROW_KIND(row[0]) == KI_ROW_READY && !is_whole(row))
			is_wrong("a key is not whole");
	}
}

static inline void merge(uint64_t *into, const u64 *v)
{
	unsigned __int128 squares = (unsigned __int128)into[5] << 64 | into[4];
	uint64_t before[VALUES];

	memcpy(before, into, sizeof(before));
	for (unsigned int i = 0; i < VALUES; i++)
		into[i] += v[i];
	squares += (unsigned __int128)v[5] << 64 | v[4];
	into[2] = (int64_t)v[2] < (int64_t)before[2] ? v[2] : before[2];
	into[3] = (int64_t)v[3] > (int64_t)before[3] ? v[3] : before[3];
	into[4] = (uint64_t)squares;
	into[5] = (uint64_t)(squares >> 64);
	into[V_SET] = v[V_SET];
	into[V_UMIN] = v[V_UMIN] < before[V_UMIN] ? v[V_UMIN] : before[V_UMIN];
	into[V_UMAX] = v[V_UMAX] > before[V_UMAX] ? v[V_UMAX] : before[V_UMAX];
}

static inline void compare(uint64_t (*sums)[VALUES], const unsigned int *found)
{
	for (unsigned int k = 0; k < MODELS; k++) {
		if (found[k] > (cpu.shared ? 1 : LEVELS))
			is_wrong("too many rows of a key");
		if (exists[k] != (found[k] != 0))
			is_wrong("a row that should not be there, or is not there");
		if (exists[k] && memcmp(sums[k], models[k], sizeof(models[k])) != 0)
			is_wrong("a value");
	}
}

static inline bool end(void)
{
	static uint64_t sums[MODELS][VALUES];
	unsigned int found[MODELS] = {0}, used = 0;

	look();
	for (uint64_t i = 0; i <= cpu.mask && !problem; i++) {
		const u64 *row = rows + i * WORDS;

		if (KI_ROW_KIND(row[0]) == KI_ROW_BUSY)
			is_wrong("a row that nobody finishes");
		if (KI_ROW_KIND(row[0]) != KI_ROW_READY)
			continue;
		used++;
		if (!found[row[1]]++)
			memcpy(sums[row[1]], init, sizeof(init));
		merge(sums[row[1]], row + 1 + KEYS);
	}
	if (used != head.used)
		is_wrong("rows used");
	if (refused != head.lost)
		is_wrong("changes lost");
	compare(sums, found);
	return !problem;
}

/* ---- runs ---- */

struct start {
	bool shared;
	uint32_t rows;
	unsigned int before; /* calls that have been made already */
	unsigned int first;  /* the call that is interrupted */
	bool again;	     /* and is the last one of those before, too */
};

static inline void begin(const struct start *s)
{
	memset(rows, 0, s->rows * WORDS * sizeof(*rows));
	memset(exists, 0, sizeof(exists));
	memset(&head, 0, sizeof(head));
	init[2] = INT64_MAX;
	init[3] = (uint64_t)INT64_MIN;
	init[V_UMIN] = UINT64_MAX;
	init[V_SET] = 0x5e7;
	refused = 0;
	problem = NULL;
	cpu = (struct ki_table_cpu){.rows = rows,
				    .head = &head,
				    .init = init,
				    .mask = s->rows - 1,
				    .probes = s->rows < KI_TABLE_PROBES ? s->rows : KI_TABLE_PROBES,
				    .words = WORDS,
				    .keys = KEYS,
				    .values = VALUES,
				    .shared = s->shared};
	ki_table_cpus[1] = &cpu;
}

#endif
