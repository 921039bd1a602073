/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set-associative memory of keys, each with a datum; the least recently used of a set is
 * replaced. Caches, TLBs and branch target buffers are such.
 */
#ifndef KI_TEST_PLUGIN_LRU_H
#define KI_TEST_PLUGIN_LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ways in order of use, the last used first. */
struct lru {
	uint64_t *keys; /* 0: none */
	uint64_t *data;
	size_t sets, ways;
};

/* entries: a multiple of ways. Whether there is memory for it. */
static bool lru_new(struct lru *m, size_t entries, size_t ways)
{
	m->ways = ways;
	m->sets = entries / ways;
	m->keys = calloc(entries, sizeof(*m->keys));
	m->data = calloc(entries, sizeof(*m->data));
	return m->keys && m->data;
}

/* Is it there, with this datum? It is from now on. No key is ~0. */
static bool lru_use(struct lru *m, uint64_t key, uint64_t datum)
{
	size_t set = key % m->sets * m->ways, i;
	uint64_t *k = m->keys + set, *d = m->data + set;
	bool hit;

	key++; /* 0 is none */
	for (i = 0; i + 1 < m->ways && k[i] != key; i++)
		;
	hit = k[i] == key && d[i] == datum;
	memmove(k + 1, k, i * sizeof(*k));
	memmove(d + 1, d, i * sizeof(*d));
	k[0] = key;
	d[0] = datum;
	return hit;
}

#endif
