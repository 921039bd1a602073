// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which functions of a layout stand aside.
 *
 * Hot blocks that together are larger than the first-level cache, and are executed one after the
 * other, again and again, find nothing of themselves there: of all lines the next one is that which
 * was used longest ago. So most of them take turns in an eighth of the sets, the last bytes of
 * pages. Of the others there are as many as the rest of the cache keeps beside what is executed in
 * the text and in programs. What is executed most often, byte for byte, is kept.
 *
 * Of code that is many times larger than the cache little would be kept. The rest has loops of its
 * own, which would have an eighth of the cache. So there nothing stands aside.
 */
#include <stdio.h>
#include <string.h>

#include "evolve/inside.h"

/* Of the sets that are not aside, so many ways of 8 are for the layout. */
#define KEPT 5
#define WAYS 8

#define USUAL 32 /* KiB */
#define KIB   1024
#define PAGE  4096

/* Bytes that a layout may have without one that stands aside. */
static size_t fits(size_t cache)
{
	return cache * KIB * 3 / 4;
}

/* Of more nothing stands aside. */
static size_t most(size_t cache)
{
	return cache * KIB * 2;
}

/* Bytes of those that do not stand aside. */
static size_t kept(size_t cache)
{
	return cache * KIB * (PAGE - KI_ASIDE) / PAGE * KEPT / WAYS;
}

void ki_evolve_part(struct ki_evolve *e)
{
	uint64_t all = 0, before;

	for (size_t i = 0; i < e->v.n; i++) {
		e->v.v[i].l.aside = false;
		if (ki_evolve_joins(&e->v.v[i]))
			all += e->v.v[i].size.size;
	}
	if (!e->o.cache || all <= fits(e->o.cache) || all > most(e->o.cache))
		return;
	for (size_t i = 0; i < e->v.n; i++) {
		struct ki_evolved *f = &e->v.v[i];

		before = 0;
		for (size_t k = 0; k < e->v.n; k++)
			if (ki_evolve_joins(&e->v.v[k]) && e->v.v[k].l.turn < f->l.turn)
				before += e->v.v[k].size.size;
		f->l.aside = ki_evolve_joins(f) && before + f->size.size > kept(e->o.cache);
	}
}

bool ki_evolve_is_aside(const struct ki_evolve *e, size_t n, const struct ki_symbol **sym)
{
	*sym = n < e->v.n ? e->v.v[n].fn->symbol : NULL;
	return *sym && e->v.v[n].l.aside;
}

static bool read_word(int index, const char *what, char word[32])
{
	char path[96];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, what);
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fscanf(f, "%31s", word) == 1;
	fclose(f);
	return ok;
}

size_t ki_evolve_code_cache(void)
{
	char word[32];
	size_t kib;

	for (int i = 0; read_word(i, "level", word); i++) {
		if (strcmp(word, "1") || !read_word(i, "type", word) || strcmp(word, "Instruction"))
			continue;
		if (read_word(i, "size", word) && sscanf(word, "%zuK", &kib) == 1)
			return kib;
	}
	return USUAL;
}
