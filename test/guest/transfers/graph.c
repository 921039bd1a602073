// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the file of a graph, and answers questions about it.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

void test_die(const char *what, const char *more)
{
	fprintf(stderr, "check_transfers: %s%s%s\n", what, *more ? ": " : "", more);
	exit(2);
}

void *test_need(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		test_die("out of memory", "");
	return p;
}

static void *take(FILE *f, const char *path, size_t n, size_t size)
{
	void *p = test_need(n, size);

	if (n && fread(p, size, n, f) != n)
		test_die(path, "too short");
	return p;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A call, and not to a function that is said not to return. A static call may be rewritten. */
static bool comes_back(const struct graph *g, const struct graph_edge *e)
{
	if (e->kind == KI_EDGE_CALL_INDIRECT)
		return true;
	return e->kind == KI_EDGE_CALL &&
	       (!graph_is_function(g, e->to) || !graph_is_noreturn(g, e->to) ||
		graph_row_at(g, e->from, KI_R_STATIC_CALL));
}

/* A thunk that ends in a jump to the return thunk, not in a return. */
static bool is_chained(const struct graph *g, const struct graph_edge *e)
{
	return e->kind == KI_EDGE_RETURN && graph_insn_end(g, e->from) - e->from > 1 &&
	       !strncmp(graph_function(g, e->from), GRAPH_THUNK, strlen(GRAPH_THUNK));
}

/* What follows from the rest: where calls come back to, and where exceptions may. */
static void derive(struct graph *g)
{
	g->returns = test_need(g->h.nedges, sizeof(*g->returns));
	g->fixups = test_need(g->h.nedges + g->h.nrows, sizeof(*g->fixups));
	for (size_t i = 0; i < g->h.nedges; i++) {
		const struct graph_edge *e = &g->edges[i];

		if (is_chained(g, e))
			g->chained = true;
		if (comes_back(g, e))
			g->returns[g->nreturns++] = graph_insn_end(g, e->from);
		if (e->kind == KI_EDGE_FIXUP)
			g->fixups[g->nfixups++] = e->to;
	}
	for (size_t i = 0; i < g->h.nrows; i++)
		if (g->rows[i].reason == KI_R_EXTABLE && g->rows[i].target)
			g->fixups[g->nfixups++] = g->rows[i].target;
	qsort(g->returns, g->nreturns, sizeof(*g->returns), by_value);
	qsort(g->fixups, g->nfixups, sizeof(*g->fixups), by_value);
}

struct graph *graph_load(const char *path)
{
	FILE *f = fopen(path, "r");
	struct graph *g = test_need(1, sizeof(*g));

	if (!f || fread(&g->h, sizeof(g->h), 1, f) != 1 || g->h.magic != GRAPH_MAGIC)
		test_die(path, "not a graph");
	g->ranges = take(f, path, g->h.nranges, sizeof(*g->ranges));
	for (size_t i = 0; i < g->h.nranges; i++)
		g->ranges[i].marks = take(f, path, g->ranges[i].end - g->ranges[i].start + 1, 1);
	g->symbols = take(f, path, g->h.nsymbols, sizeof(*g->symbols));
	g->edges = take(f, path, g->h.nedges, sizeof(*g->edges));
	g->rows = take(f, path, g->h.nrows, sizeof(*g->rows));
	g->names = take(f, path, g->h.names, 1);
	fclose(f);
	derive(g);
	return g;
}

void graph_free(struct graph *g)
{
	for (size_t i = 0; i < g->h.nranges; i++)
		free(g->ranges[i].marks);
	free(g->ranges);
	free(g->symbols);
	free(g->edges);
	free(g->rows);
	free(g->names);
	free(g->returns);
	free(g->fixups);
	free(g);
}

uint8_t *graph_mark_at(const struct graph *g, uint32_t addr)
{
	for (size_t i = 0; i < g->h.nranges; i++)
		if (addr >= g->ranges[i].start && addr < g->ranges[i].end)
			return &g->ranges[i].marks[addr - g->ranges[i].start];
	return NULL;
}

int graph_marks(const struct graph *g, uint32_t addr)
{
	const uint8_t *m = graph_mark_at(g, addr);

	return m ? *m : -1;
}

uint32_t graph_insn_end(const struct graph *g, uint32_t addr)
{
	const uint8_t *m = graph_mark_at(g, addr);
	uint32_t len = 1;

	if (!m || !(*m & MARK_INSN))
		return 0;
	while (len < 16 && !(m[len] & (MARK_INSN | MARK_END)))
		len++;
	return addr + len;
}

/* How many of n items of `size` bytes, that begin with an address, are below addr. */
static size_t below(const void *items, size_t n, size_t size, uint64_t addr)
{
	const char *v = items;
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		uint32_t at;

		memcpy(&at, v + mid * size, sizeof(at));
		if (at < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct graph_edge *graph_edges(const struct graph *g, uint32_t from, size_t *n)
{
	size_t first = below(g->edges, g->h.nedges, sizeof(*g->edges), from);

	*n = below(g->edges, g->h.nedges, sizeof(*g->edges), from + 1ull) - first;
	return g->edges + first;
}

const struct graph_row *graph_row_at(const struct graph *g, uint32_t addr, uint32_t reason)
{
	size_t i = below(g->rows, g->h.nrows, sizeof(*g->rows), addr + 1ull);

	/* Rows that cover others are long: those asked for here are not. */
	while (i-- && addr - g->rows[i].addr < 16)
		if (g->rows[i].reason == reason && addr - g->rows[i].addr < g->rows[i].len)
			return &g->rows[i];
	return NULL;
}

const struct graph_symbol *graph_symbol_at(const struct graph *g, uint32_t addr)
{
	size_t i = below(g->symbols, g->h.nsymbols, sizeof(*g->symbols), addr + 1ull);

	if (!i)
		return NULL;
	while (i > 1 && g->symbols[i - 2].addr == g->symbols[i - 1].addr)
		i--;
	return &g->symbols[i - 1];
}

static bool holds(const uint32_t *v, size_t n, uint32_t addr)
{
	size_t i = below(v, n, sizeof(*v), addr);

	return i < n && v[i] == addr;
}

bool graph_is_function(const struct graph *g, uint32_t addr)
{
	const struct graph_symbol *s = graph_symbol_at(g, addr);

	return s && s->addr == addr;
}

bool graph_is_noreturn(const struct graph *g, uint32_t addr)
{
	const struct graph_symbol *s = graph_symbol_at(g, addr);

	return s && s->flags & KI_FUNCTION_NORETURN;
}

bool graph_is_return(const struct graph *g, uint32_t addr)
{
	return addr && holds(g->returns, g->nreturns, addr);
}

bool graph_is_fixup(const struct graph *g, uint32_t addr)
{
	return holds(g->fixups, g->nfixups, addr);
}

const char *graph_function(const struct graph *g, uint32_t addr)
{
	const struct graph_symbol *s = graph_symbol_at(g, addr);

	if (!addr)
		return "outside";
	return s && graph_marks(g, addr) >= 0 ? g->names + s->name : "";
}

char *graph_name(const struct graph *g, uint32_t addr, char *buf, size_t len)
{
	const struct graph_symbol *s = graph_symbol_at(g, addr);

	if (!addr)
		snprintf(buf, len, "outside");
	else if (!s || graph_marks(g, addr) < 0)
		snprintf(buf, len, "0xffffffff%08x", addr);
	else if (s->addr == addr)
		snprintf(buf, len, "%s", g->names + s->name);
	else
		snprintf(buf, len, "%s+0x%x", g->names + s->name, addr - s->addr);
	return buf;
}
