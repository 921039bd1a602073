// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a program's graph to a file.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct dump {
	struct ki_target *t;
	struct ki_program *p;
	struct graph_header h;
	struct graph_range *ranges;
	uint8_t **text;
	struct graph_edge *edges;
	size_t room;
};

static void die(const char *what, const struct ki_err *err)
{
	test_die(what, err->msg);
}

static void read_ranges(struct dump *d)
{
	const struct ki_text_range *r;
	struct ki_err err = {0};
	size_t n;

	r = ki_target_ranges(d->t, &n);
	d->h.nranges = n;
	d->ranges = test_need(n, sizeof(*d->ranges));
	d->text = test_need(n, sizeof(*d->text));
	for (size_t i = 0; i < n; i++) {
		size_t len = r[i].end - r[i].start;

		d->ranges[i].start = (uint32_t)r[i].start;
		d->ranges[i].end = (uint32_t)r[i].end;
		snprintf(d->ranges[i].module, sizeof(d->ranges[i].module), "%s", r[i].module);
		d->ranges[i].marks = test_need(len + 1, 1);
		d->text[i] = test_need(len + 16, 1);
		if (ki_target_read(d->t, r[i].start, d->text[i], len, KI_VIEW_ORIG, &err))
			die(r[i].module, &err);
	}
}

static size_t range_of(const struct dump *d, uint32_t addr)
{
	for (size_t i = 0; i < d->h.nranges; i++)
		if (addr >= d->ranges[i].start && addr < d->ranges[i].end)
			return i;
	test_die("a block outside all text", "");
}

/* iret, sysret and sysexit in their forms. */
static bool leaves_kernel(const struct dump *d, uint32_t addr)
{
	static const struct {
		uint8_t len, bytes[3];
	} forms[] = {
		{2, {0x48, 0xcf}}, {1, {0xcf}},	      {3, {0x48, 0x0f, 0x07}},
		{2, {0x0f, 0x07}}, {2, {0x0f, 0x35}}, {3, {0x48, 0x0f, 0x35}},
	};
	size_t r = range_of(d, addr);
	const uint8_t *p = d->text[r] + (addr - d->ranges[r].start);

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!memcmp(p, forms[i].bytes, forms[i].len))
			return true;
	return false;
}

static void add_edge(struct dump *d, uint64_t from, uint64_t to, uint32_t kind)
{
	if (d->h.nedges == d->room) {
		d->room = d->room ? d->room * 2 : 1 << 20;
		d->edges = realloc(d->edges, d->room * sizeof(*d->edges));
		if (!d->edges)
			test_die("out of memory", "");
	}
	if (kind == KI_EDGE_RETURN && leaves_kernel(d, (uint32_t)from))
		kind = GRAPH_IRET;
	d->edges[d->h.nedges++] = (struct graph_edge){(uint32_t)from, (uint32_t)to, kind};
}

static void add_block(struct dump *d, const struct ki_program_block *b)
{
	size_t r = range_of(d, (uint32_t)b->start);
	uint8_t *marks = d->ranges[r].marks + ((uint32_t)b->start - d->ranges[r].start);
	struct ki_program_edge e;

	marks[0] |= MARK_BLOCK;
	marks[b->end - b->start] |= MARK_END;
	for (uint64_t a = b->start; a < b->end; a++)
		if (ki_program_insn_at(d->p, a))
			marks[a - b->start] |= MARK_INSN;
	for (uint32_t i = 0; i < b->nedges; i++) {
		if (ki_program_edge(d->p, b->first_edge + i, &e))
			test_die("an edge is missing", "");
		add_edge(d, e.from, e.to, e.kind);
	}
}

static void add_calls(struct dump *d)
{
	const struct ki_program_function *fns;
	struct ki_program_call c;
	uint32_t n;

	fns = ki_program_functions(d->p, &n);
	for (uint32_t f = 0; f < n; f++)
		for (uint32_t i = 0; i < fns[f].ncalls; i++) {
			if (ki_program_call(d->p, fns[f].first_call + i, &c))
				test_die("a call is missing", "");
			add_edge(d, c.from, c.to, c.kind);
		}
}

static int by_addresses(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static void put(FILE *f, const void *data, size_t n)
{
	if (n && fwrite(data, n, 1, f) != 1)
		test_die("cannot write", "");
}

static void put_symbols(const struct dump *d, FILE *f, const struct ki_symbol *s)
{
	const struct ki_program_function *fns;
	uint32_t name = 0, n, next = 0;

	fns = ki_program_functions(d->p, &n);
	for (size_t i = 0; i < d->h.nsymbols; i++) {
		struct graph_symbol out = {(uint32_t)s[i].addr, name, 0};

		while (next < n && fns[next].symbol->addr < s[i].addr)
			next++;
		if (next < n && fns[next].symbol->addr == s[i].addr)
			out.flags = fns[next].flags;
		name += strlen(s[i].name) + 1;
		put(f, &out, sizeof(out));
	}
}

static void put_rows(const struct dump *d, FILE *f, const struct ki_reserved_row *rows)
{
	for (size_t i = 0; i < d->h.nrows; i++) {
		struct graph_row out = {(uint32_t)rows[i].addr, rows[i].len, rows[i].reason,
					(uint32_t)rows[i].target};

		put(f, &out, sizeof(out));
	}
}

static void write_file(struct dump *d, FILE *f)
{
	const struct ki_reserved_row *rows;
	const struct ki_symbol *s;
	struct ki_err err = {0};
	size_t nsymbols, nrows;

	s = ki_target_symbols(d->t, &nsymbols);
	if (ki_target_reserved(d->t, 0, UINT64_MAX, &rows, &nrows, &err))
		die("reserved text", &err);
	d->h.magic = GRAPH_MAGIC;
	d->h.nsymbols = nsymbols;
	d->h.nrows = nrows;
	for (size_t i = 0; i < nsymbols; i++)
		d->h.names += strlen(s[i].name) + 1;
	put(f, &d->h, sizeof(d->h));
	for (size_t i = 0; i < d->h.nranges; i++) {
		struct graph_range r = d->ranges[i];

		r.marks = NULL;
		put(f, &r, sizeof(r));
	}
	for (size_t i = 0; i < d->h.nranges; i++)
		put(f, d->ranges[i].marks, d->ranges[i].end - d->ranges[i].start + 1);
	put_symbols(d, f, s);
	put(f, d->edges, d->h.nedges * sizeof(*d->edges));
	put_rows(d, f, rows);
	for (size_t i = 0; i < nsymbols; i++)
		put(f, s[i].name, strlen(s[i].name) + 1);
}

void graph_dump(struct ki_target *t, const char *image, FILE *f)
{
	struct ki_program_options o = {.size = sizeof(o), .no_liveness = true};
	struct ki_program_block b;
	struct dump d = {.t = t};
	struct ki_err err = {0};

	if (ki_program_new(t, &o, &d.p, &err))
		die("the program", &err);
	read_ranges(&d);
	for (uint32_t n = 0; !ki_program_block(d.p, n, &b); n++)
		add_block(&d, &b);
	add_calls(&d);
	if (image && !sites_mark(image, d.ranges, d.h.nranges))
		test_die(image, "no table of what is rewritten");
	qsort(d.edges, d.h.nedges, sizeof(*d.edges), by_addresses);
	write_file(&d, f);
	for (size_t i = 0; i < d.h.nranges; i++) {
		free(d.ranges[i].marks);
		free(d.text[i]);
	}
	free(d.ranges);
	free(d.text);
	free(d.edges);
	ki_program_free(d.p);
}
