// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reading a table: rows of all banks are copied, put in order of their keys, and those of one key
 * merged.
 *
 * A row of a CPU's bank has its key from the moment at which its state says READY, for ever. A row
 * of a shared table may be given to another key while it is copied; its state has a number that
 * changes with each owner, so the copy is good if the state is the same before and after it.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "table/map.h"
#include "util/vec.h"

#define TRIES 1000000
#define AGAIN 16

typedef ki_vec(uint64_t) words;

static uint64_t look(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void copy(uint64_t *to, const uint64_t *from, uint32_t n)
{
	while (n--)
		*to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
}

static bool same(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	while (n && *a == __atomic_load_n(b, __ATOMIC_RELAXED))
		a++, b++, n--;
	return !n;
}

/*
 * 1: it is there, 0: it is not. Its CPU does not say when it writes: what is twice the same was not
 * seen in the middle of a sum of two words. One that is hit all the time is taken as it comes.
 */
static int copy_own(const struct ki_table_map *m, const uint64_t *row, uint64_t *to, uint32_t n)
{
	if (KI_ROW_KIND(look(row)) != KI_ROW_READY)
		return 0;
	for (unsigned int i = 0; i < AGAIN; i++) {
		copy(to, row + 1, n);
		if (m->between)
			m->between(m->between_arg);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (same(to, row + 1, n))
			break;
	}
	return 1;
}

static int copy_shared(const struct ki_table_map *m, const uint64_t *row, uint64_t *to, uint32_t n)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t state = look(row);

		if (KI_ROW_KIND(state) == KI_ROW_FREE || KI_ROW_KIND(state) == KI_ROW_DEAD)
			return 0;
		copy(to, row + 1, n);
		if (m->between)
			m->between(m->between_arg);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (KI_ROW_KIND(state) == KI_ROW_READY && look(row) == state)
			return 1;
		if (i % 64 == 63)
			sched_yield();
	}
	return -EAGAIN;
}

static int collect(const struct ki_table_map *m, uint32_t first, uint32_t banks, words *all)
{
	uint32_t n = m->keys + m->values;
	int ret = 0;

	for (uint32_t b = first; b < first + banks; b++)
		for (uint32_t i = 0; i < m->rows; i++) {
			const uint64_t *row = ki_table_row_of(m, b, i);

			if (!look(row))
				continue;
			if (ki_vec_reserve(all, n))
				return -ENOMEM;
			ret = m->shared ? copy_shared(m, row, all->v + all->n, n)
					: copy_own(m, row, all->v + all->n, n);
			if (ret < 0)
				return ret;
			all->n += ret ? n : 0;
		}
	return 0;
}

static int by_key(const void *a, const void *b, void *keys)
{
	const uint64_t *x = a, *y = b;

	for (uint32_t i = 0; i < *(const uint32_t *)keys; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static bool is_better(uint8_t merge, uint64_t new, uint64_t old)
{
	switch (merge) {
	case KI_MERGE_MIN:
		return (int64_t) new < (int64_t)old;
	case KI_MERGE_MAX:
		return (int64_t) new > (int64_t)old;
	case KI_MERGE_UMIN:
		return new < old;
	default:
		return new > old;
	}
}

static void merge_row(const struct ki_table_map *m, uint64_t *into, const uint64_t *from)
{
	uint64_t carry = 0;

	for (uint32_t i = 0; i < m->values; i++) {
		if (m->merge[i] == KI_MERGE_SUM) {
			into[i] += from[i];
			carry = into[i] < from[i];
		} else if (m->merge[i] == KI_MERGE_CARRY) {
			into[i] += from[i] + carry;
		} else if (is_better(m->merge[i], from[i], into[i])) {
			into[i] = from[i];
		}
	}
}

/* Where rows are, to be put in order of their keys; those of one key stay as they came. */
struct rows {
	const uint64_t *v;
	uint32_t n, keys; /* words of a row; of its key */
};

static int by_key_and_place(const void *a, const void *b, void *arg)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	struct rows *r = arg;
	int order = by_key(r->v + x * r->n, r->v + y * r->n, &r->keys);

	return order ? order : (x > y) - (x < y);
}

/*
 * Rows in order to `to`; how many there are. If a shared table has two of one key, the row was
 * deleted after the first and made again: the last one is the later one.
 */
static size_t merge_all(const struct ki_table_map *m, const struct rows *r, const size_t *order,
			size_t rows, uint64_t *to)
{
	uint32_t keys = m->keys;
	size_t n = 0;

	for (size_t i = 0; i < rows; i++) {
		const uint64_t *row = r->v + order[i] * r->n;
		uint64_t *last = n ? to + (n - 1) * r->n : NULL;
		bool same = last && !by_key(last, row, &keys);

		if (same && !m->shared) {
			merge_row(m, last + keys, row + keys);
			continue;
		}
		n += !same;
		memcpy(to + (n - 1) * r->n, row, r->n * sizeof(*to));
	}
	return n;
}

static int merged(const struct ki_table_map *m, const words *all, struct ki_table_reading *out)
{
	struct rows r = {all->v, m->keys + m->values, m->keys};
	size_t rows = all->n / r.n, *order = calloc(rows + 1, sizeof(*order));
	uint64_t *to = calloc(all->n + 1, sizeof(*to));

	if (!order || !to) {
		free(order);
		free(to);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rows; i++)
		order[i] = i;
	qsort_r(order, rows, sizeof(*order), by_key_and_place, &r);
	*out = (struct ki_table_reading){.n = merge_all(m, &r, order, rows, to),
					 .keys = m->keys,
					 .values = m->values,
					 .words = to,
					 .lost = ki_table_lost(m)};
	free(order);
	return 0;
}

int ki_table_regroup(const struct ki_table_map *m, struct ki_table_reading *r)
{
	words all = {.v = r->words, .n = r->n * (r->keys + r->values)};
	const uint64_t lost = r->lost;
	int ret = merged(m, &all, r);

	if (ret)
		return ret;
	free(all.v);
	r->lost = lost;
	return 0;
}

static int read_banks(const struct ki_table_map *m, uint32_t first, uint32_t banks,
		      struct ki_table_reading **out, struct ki_err *err)
{
	struct ki_table_reading *r = calloc(1, sizeof(*r));
	words all = {0};
	int ret = r ? collect(m, first, banks, &all) : -ENOMEM;

	if (!ret)
		ret = merged(m, &all, r);
	ki_vec_free(&all);
	if (ret) {
		free(r);
		return ki_err_set(err, ret, 0, "reading a table: %s", strerror(-ret));
	}
	*out = r;
	return 0;
}

int ki_table_read(const struct ki_table_map *m, struct ki_table_reading **out, struct ki_err *err)
{
	return read_banks(m, 0, m->banks, out, err);
}

int ki_table_read_cpu(const struct ki_table_map *m, uint32_t cpu, struct ki_table_reading **out,
		      struct ki_err *err)
{
	return read_banks(m, cpu, cpu < m->banks ? 1 : 0, out, err);
}

void ki_table_reading_free(struct ki_table_reading *r)
{
	if (r)
		free(r->words);
	free(r);
}

const uint64_t *ki_table_key(const struct ki_table_reading *r, size_t row)
{
	return r->words + row * (r->keys + r->values);
}

const uint64_t *ki_table_values(const struct ki_table_reading *r, size_t row)
{
	return ki_table_key(r, row) + r->keys;
}

const uint64_t *ki_table_find(const struct ki_table_reading *r, const uint64_t *key)
{
	uint32_t keys = r->keys;
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = by_key(ki_table_key(r, mid), key, &keys);

		if (!order)
			return ki_table_values(r, mid);
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* ---- by value ---- */

struct order {
	uint32_t keys, value;
	uint64_t flip; /* makes signed numbers unsigned ones of the same order */
};

static int by_value(const void *a, const void *b, void *arg)
{
	const uint64_t *x = a, *y = b;
	struct order *o = arg;
	uint64_t v = x[o->keys + o->value] ^ o->flip, w = y[o->keys + o->value] ^ o->flip;

	if (v != w)
		return v > w ? -1 : 1;
	return by_key(a, b, &o->keys);
}

void ki_table_sort(struct ki_table_reading *r, uint32_t value, bool sign)
{
	struct order o = {r->keys, value, sign ? 1ull << 63 : 0};

	if (r->n && value < r->values)
		qsort_r(r->words, r->n, (r->keys + r->values) * sizeof(*r->words), by_value, &o);
}

double ki_table_mean(const uint64_t *stats)
{
	return stats[0] ? (double)(int64_t)stats[1] / (double)stats[0] : 0;
}

/* In 80 bits: of many numbers that are nearly equal the difference is small. */
double ki_table_deviation(const uint64_t *stats)
{
	long double n = (long double)stats[0], mean, squares;

	if (!stats[0])
		return 0;
	mean = (long double)(int64_t)stats[1] / n;
	squares = ((long double)stats[5] * 18446744073709551616.0L + (long double)stats[4]) / n;
	return squares > mean * mean ? (double)sqrtl(squares - mean * mean) : 0;
}
