/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The table of symbols: built once, searched by address and by name.
 */
#include "target/priv.h"

#include <string.h>

#include <xxhash.h>

#include "util/sort.h"
#include "util/search.h"

int ki_symbol_list_string(struct ki_symbol_list *l, const char *s, size_t len, uint32_t *off)
{
	size_t at = l->strings.n;

	if (at + len >= UINT32_MAX)
		return -EOVERFLOW;
	if (ki_vec_reserve(&l->strings, len + 1))
		return -ENOMEM;
	memcpy(l->strings.v + at, s, len);
	l->strings.v[at + len] = 0;
	l->strings.n += len + 1;
	*off = (uint32_t)at;
	return 0;
}

int ki_symbol_list_add(struct ki_symbol_list *l, uint64_t addr, const char *name, size_t len,
		       uint32_t module)
{
	struct ki_raw_symbol raw = {.addr = addr, .module = module};
	int ret = ki_symbol_list_string(l, name, len, &raw.name);

	if (ret)
		return ret;
	return ki_vec_push(&l->raw, raw);
}

void ki_symbol_list_free(struct ki_symbol_list *l)
{
	ki_vec_free(&l->raw);
	ki_vec_free(&l->strings);
}

static int by_start(const void *a, const void *b)
{
	const struct ki_text_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Order of address, no two of them overlapping, none of them empty. */
static void order_ranges(struct ki_target *t)
{
	struct ki_text_range *r = t->ranges.v;
	size_t n = 0;

	if (t->ranges.n)
		qsort(r, t->ranges.n, sizeof(*r), by_start);
	for (size_t i = 0; i < t->ranges.n; i++) {
		if (i + 1 < t->ranges.n && r[i].end > r[i + 1].start)
			r[i].end = r[i + 1].start;
		if (r[i].start < r[i].end)
			r[n++] = r[i];
	}
	t->ranges.n = n;
}

static bool is_external(const struct ki_target *t, uint64_t addr)
{
	return t->externals_at && addr >= t->externals_at;
}

/* Sort the raw symbols that lie in a range: items hold their addresses and numbers. */
static int sort_raw(const struct ki_target *t, const struct ki_symbol_list *l,
		    struct ki_sort_item **out, size_t *count)
{
	struct ki_sort_item *items = malloc((l->raw.n + 1) * sizeof(*items));
	size_t n = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < l->raw.n; i++)
		if (ki_target_range_at(t, l->raw.v[i].addr) || is_external(t, l->raw.v[i].addr))
			items[n++] = (struct ki_sort_item){l->raw.v[i].addr, i};
	if (n >= UINT32_MAX || ki_sort(items, n)) {
		free(items);
		return -ENOMEM;
	}
	*out = items;
	*count = n;
	return 0;
}

static void set_sizes(struct ki_target *t)
{
	for (size_t i = t->nsymbols; i-- > 0;) {
		struct ki_symbol *s = &t->symbols[i];
		const struct ki_text_range *r = ki_target_range_at(t, s->addr);
		bool last = i + 1 == t->nsymbols;
		uint64_t next = last ? UINT64_MAX : s[1].addr;

		if (!last && s->addr == next) {
			s->size = s[1].size;
			s[1].alias = true;
			continue;
		}
		s->size = (next < r->end ? next : r->end) - s->addr;
	}
}

static uint32_t hash(const char *name)
{
	return (uint32_t)XXH3_64bits(name, strlen(name));
}

static int index_names(struct ki_target *t)
{
	struct ki_name_index *x = &t->names;
	size_t buckets = 16;

	while (buckets < t->nsymbols)
		buckets *= 2;
	x->mask = (uint32_t)(buckets - 1);
	x->head = calloc(buckets, sizeof(*x->head));
	x->next = calloc(t->nsymbols + 1, sizeof(*x->next));
	if (!x->head || !x->next)
		return -ENOMEM;
	for (size_t i = t->nsymbols; i-- > 0;) {
		uint32_t *head = &x->head[hash(t->symbols[i].name) & x->mask];

		x->next[i] = *head;
		*head = (uint32_t)i + 1;
	}
	return 0;
}

static int build(struct ki_target *t, const struct ki_symbol_list *l)
{
	struct ki_sort_item *items;
	size_t n;

	if (sort_raw(t, l, &items, &n))
		return -ENOMEM;
	t->symbols = calloc(n + 1, sizeof(*t->symbols));
	if (!t->symbols) {
		free(items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ki_raw_symbol *raw = &l->raw.v[items[i].value];

		t->symbols[i].addr = raw->addr;
		t->symbols[i].name = t->strings + raw->name;
		t->symbols[i].module = t->strings + raw->module;
		t->symbols[i].local = raw->local;
	}
	for (t->nsymbols = n; t->nsymbols; t->nsymbols--)
		if (!is_external(t, t->symbols[t->nsymbols - 1].addr))
			break;
	t->nexternals = n - t->nsymbols;
	for (size_t i = t->nsymbols; i < n; i++)
		t->symbols[i].size = 1;
	free(items);
	set_sizes(t);
	return index_names(t);
}

int ki_target_finish(struct ki_target *t, struct ki_symbol_list *l, const uint32_t *modules,
		     struct ki_err *err)
{
	int ret;

	t->strings = l->strings.v;
	l->strings.v = NULL;
	for (size_t i = 0; modules && i < t->ranges.n; i++)
		t->ranges.v[i].module = t->strings + modules[i];
	order_ranges(t);
	ret = build(t, l);
	ki_symbol_list_free(l);
	if (ret)
		return ki_err_set(err, ret, 0, "out of memory for the symbols");
	return 0;
}

/* The first of the symbols from number lo to hi with an address above addr. */
static size_t search(const struct ki_target *t, size_t lo, size_t hi, uint64_t addr)
{
	return lo + KI_FIRST(i, hi - lo, t->symbols[lo + i].addr > addr);
}

size_t ki_target_symbol_after(const struct ki_target *t, uint64_t addr)
{
	return search(t, 0, t->nsymbols, addr);
}

static const struct ki_symbol *external_at(const struct ki_target *t, uint64_t addr)
{
	size_t i = search(t, t->nsymbols, t->nsymbols + t->nexternals, addr);

	return i > t->nsymbols && t->symbols[i - 1].addr == addr ? &t->symbols[i - 1] : NULL;
}

const struct ki_symbol *ki_target_symbol_at(const struct ki_target *t, uint64_t addr)
{
	size_t after;
	const struct ki_symbol *s;

	if (is_external(t, addr))
		return external_at(t, addr);
	after = ki_target_symbol_after(t, addr);
	if (!after)
		return NULL;
	s = &t->symbols[after - 1];
	if (addr - s->addr >= s->size)
		return NULL;
	if (s->alias)
		s = s->addr ? &t->symbols[ki_target_symbol_after(t, s->addr - 1)] : t->symbols;
	return s;
}

const struct ki_symbol *ki_target_symbol_named(const struct ki_target *t, const char *module,
					       const char *name, const struct ki_symbol *after)
{
	const struct ki_name_index *x = &t->names;
	uint32_t i;

	/* Externals are found by address only. */
	if (after && (size_t)(after - t->symbols) >= t->nsymbols)
		return NULL;
	i = after ? x->next[after - t->symbols] : x->head[hash(name) & x->mask];

	for (; i; i = x->next[i - 1]) {
		const struct ki_symbol *s = &t->symbols[i - 1];

		if (strcmp(s->name, name) == 0 && (!module || strcmp(s->module, module) == 0))
			return s;
	}
	return NULL;
}
