// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A function's graph in heat colours, to stand in a page of the report, whose rules it is drawn by.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/cover_html.h"
#include "kerninst/cfg.h"
#include "out/layered.h"

#define CHAR	   6.63 /* width of a character of the rule's font */
#define LINE	   14.0
#define PAD	   7.0
#define LINES_MAX  14 /* of a block; of a longer one these: */
#define LINES_HEAD 9
#define LINES_TAIL 4
#define TEXT_MAX   56

struct arc {
	uint32_t from, to;
	uint64_t count;
	uint8_t kind;
	bool known; /* its count */
};

struct picture {
	const struct html_graph *g;
	FILE *out;
	struct arc *arcs;
	uint32_t narcs;
	struct ki_layered l;
};

static const struct ki_cover_block *block(const struct picture *p, uint32_t b)
{
	return &p->g->c->blocks[p->g->f->first_block + b];
}

static int arc_order(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static bool is_inner(unsigned int kind, uint32_t to)
{
	return kind <= KI_EDGE_FIXUP && to != KI_NONE;
}

/* One for each pair of blocks; a table may lead from one to the other several times. */
static void join_arcs(struct picture *p)
{
	uint32_t n = 0;

	qsort(p->arcs, p->narcs, sizeof(*p->arcs), arc_order);
	for (uint32_t i = 0; i < p->narcs; i++) {
		if (n && !arc_order(&p->arcs[n - 1], &p->arcs[i]))
			p->arcs[n - 1].count += p->arcs[i].count;
		else
			p->arcs[n++] = p->arcs[i];
	}
	p->narcs = n;
}

/* The coverage's own edges, else those of the code. */
static int list_arcs(struct picture *p)
{
	const struct ki_cover_function *f = p->g->f;
	const struct ki_cover_edge *e = p->g->c->edges + f->first_edge;
	const struct ki_function *fn = p->g->fn;
	uint32_t n = f->nedges ? f->nedges : fn ? fn->nedges : 0;

	if (!n)
		return -ENODATA;
	p->arcs = calloc(n, sizeof(*p->arcs));
	if (!p->arcs)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct arc a = {0};

		if (f->nedges)
			a = (struct arc){.from = e[i].from,
					 .to = e[i].to,
					 .kind = e[i].kind,
					 .count = e[i].count,
					 .known = p->g->c->mode == KI_COVER_EDGES &&
						  e[i].how != KI_COVER_UNKNOWN};
		else
			a = (struct arc){.from = fn->edges[i].block,
					 .to = fn->edges[i].to_block,
					 .kind = fn->edges[i].kind};
		if (is_inner(a.kind, a.to))
			p->arcs[p->narcs++] = a;
	}
	join_arcs(p);
	return 0;
}

/* Which arcs go back: to a block that the way from the entry goes through at the moment. */
struct walk {
	uint32_t *first, *next, *stack; /* arcs of each block; the one to look at; the way */
	uint8_t *state;			/* 0 not seen, 1 on the way, 2 done */
};

static void go(struct picture *p, struct walk *w, uint32_t from)
{
	uint32_t depth = 1;

	w->stack[0] = from;
	w->state[from] = 1;
	while (depth) {
		uint32_t b = w->stack[depth - 1], i = w->next[b], to;

		if (i == w->first[b + 1]) {
			w->state[b] = 2;
			depth--;
			continue;
		}
		w->next[b]++;
		to = p->arcs[i].to;
		p->l.lines[i].back = w->state[to] == 1;
		if (!w->state[to]) {
			w->state[to] = 1;
			w->stack[depth++] = to;
		}
	}
}

static int find_back(struct picture *p)
{
	uint32_t n = p->g->f->nblocks, i = 0;
	struct walk w = {.first = calloc((size_t)n + 1, sizeof(*w.first)),
			 .next = calloc((size_t)n + 1, sizeof(*w.next)),
			 .stack = calloc((size_t)n + 1, sizeof(*w.stack)),
			 .state = calloc((size_t)n + 1, 1)};
	int ret = w.first && w.next && w.stack && w.state ? 0 : -ENOMEM;

	for (uint32_t b = 0; b <= n && !ret; b++) {
		while (i < p->narcs && p->arcs[i].from < b)
			i++;
		w.first[b] = w.next[b] = i;
	}
	for (uint32_t b = 0; b < n && !ret; b++)
		if (!w.state[b])
			go(p, &w, b);
	free(w.first);
	free(w.next);
	free(w.stack);
	free(w.state);
	return ret;
}

static void insn_text(const struct picture *p, uint32_t i, char buf[TEXT_MAX + 1])
{
	char full[200];

	ki_insn_format(p->g->fn, &p->g->fn->insns[i], full, sizeof(full));
	if (strlen(full) > TEXT_MAX)
		strcpy(full + TEXT_MAX - 3, "...");
	memcpy(buf, full, strlen(full) + 1);
}

/* Lines of instructions that are shown; *skip: instead of this one "n more". */
static uint32_t lines_of(const struct picture *p, uint32_t b, uint32_t *skip)
{
	uint32_t n = p->g->fn ? p->g->fn->blocks[b].count : 0;

	*skip = KI_NONE;
	if (n <= LINES_MAX)
		return n;
	*skip = LINES_HEAD;
	return LINES_HEAD + 1 + LINES_TAIL;
}

/* The instruction of a line. */
static uint32_t insn_of(const struct picture *p, uint32_t b, uint32_t line, uint32_t skip)
{
	const struct ki_block *blk = &p->g->fn->blocks[b];

	return line < skip ? blk->first + line
			   : blk->first + blk->count - (LINES_HEAD + 1 + LINES_TAIL - line);
}

static void count_text(const struct picture *p, uint32_t b, char buf[32])
{
	if (block(p, b)->how == KI_COVER_UNKNOWN)
		snprintf(buf, 32, "?");
	else
		snprintf(buf, 32, "%" PRIu64, block(p, b)->count);
}

static int head_text(const struct picture *p, uint32_t b, char buf[32])
{
	return snprintf(buf, 32, "+0x%x", block(p, b)->off);
}

static void measure(const struct picture *p, uint32_t b, struct ki_box *box)
{
	char text[TEXT_MAX + 1], count[32], head[32];
	uint32_t skip, n = lines_of(p, b, &skip);
	size_t widest;

	count_text(p, b, count);
	widest = (size_t)snprintf(text, sizeof(text), "%u", b) + strlen(count) + 5;
	widest += (size_t)head_text(p, b, head);
	for (uint32_t i = 0; i < n; i++) {
		if (i == skip)
			continue;
		insn_text(p, insn_of(p, b, i, skip), text);
		if (strlen(text) > widest)
			widest = strlen(text);
	}
	box->width = ceil((double)widest * CHAR + 2 * PAD);
	box->height = (n + 1) * LINE + PAD + (n ? 4 : 0);
}

static void put_text(const struct picture *p, double x, double y, const char *more,
		     const char *text)
{
	fprintf(p->out, "<text x=\"%.0f\" y=\"%.0f\"%s>", x, y, more);
	ki_html_text(p->out, text);
	fputs("</text>", p->out);
}

static void put_block(const struct picture *p, uint32_t b)
{
	const struct ki_box *box = &p->l.boxes[b];
	uint32_t skip, n = lines_of(p, b, &skip);
	char text[TEXT_MAX + 1], count[32], head[32];
	double y = box->y + LINE;

	count_text(p, b, count);
	head_text(p, b, head);
	fprintf(p->out,
		"<a href=\"#b%u\" class=\"b %s\"><title>block %u, %s, %u bytes: %s</title>"
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"4\"/>",
		b, ki_html_heat(block(p, b), p->g->most), b, head, block(p, b)->len, count, box->x,
		box->y, box->width, box->height);
	snprintf(text, sizeof(text), "%u", b);
	put_text(p, box->x + PAD, y, " class=\"id\"", text);
	put_text(p, box->x + PAD + (double)(strlen(text) + 1) * CHAR, y, "", head);
	put_text(p, box->x + box->width - PAD, y, " text-anchor=\"end\" class=\"id\"", count);
	for (uint32_t i = 0; i < n; i++) {
		if (i == skip)
			snprintf(text, sizeof(text), "... %u more ...",
				 p->g->fn->blocks[b].count - LINES_HEAD - LINES_TAIL);
		else
			insn_text(p, insn_of(p, b, i, skip), text);
		put_text(p, box->x + PAD, y + 4 + (i + 1) * LINE, "", text);
	}
	fputs("</a>\n", p->out);
}

/* Was it gone? Without counts of edges: it was not if one of its ends was not. */
static const char *arc_class(const struct picture *p, const struct arc *a)
{
	const struct ki_cover_block *from = block(p, a->from), *to = block(p, a->to);
	bool from_cold = from->how != KI_COVER_UNKNOWN && !from->count;
	bool to_cold = to->how != KI_COVER_UNKNOWN && !to->count;

	if (!a->known)
		return from_cold || to_cold ? "e no" : "e";
	if (!a->count)
		return "e no";
	return a->count >= p->g->most / 2 ? "e w3" : a->count >= p->g->most / 10 ? "e w2" : "e";
}

static void put_arc(const struct picture *p, uint32_t i)
{
	static const char *const kinds[] = {"falls through", "taken", "jump", "jump table",
					    "exception"};
	const struct ki_line *line = &p->l.lines[i];
	const struct ki_spot *s = &p->l.spots[line->first];
	const struct arc *a = &p->arcs[i];
	uint32_t last = line->n - 1;

	fprintf(p->out, "<g class=\"%s\"><title>%u to %u, %s", arc_class(p, a), a->from, a->to,
		kinds[a->kind]);
	if (a->known)
		fprintf(p->out, ": %" PRIu64, a->count);
	fputs("</title><path d=\"M", p->out);
	for (uint32_t k = 0; k < last; k++)
		fprintf(p->out, "%.0f %.0fL", s[k].x, s[k].y);
	fprintf(p->out, "%.0f %.0f\"/><polygon points=\"%.0f,%.0f %.0f,%.0f %.0f,%.0f\"/></g>\n",
		s[last].x, s[last].y - 4, s[last].x, s[last].y, s[last].x - 4, s[last].y - 7,
		s[last].x + 4, s[last].y - 7);
}

static void put_all(const struct picture *p)
{
	fprintf(p->out, "<svg width=\"%.0f\" height=\"%.0f\" viewBox=\"-10 -10 %.0f %.0f\">\n",
		p->l.width + 20, p->l.height + 20, p->l.width + 20, p->l.height + 20);
	for (uint32_t i = 0; i < p->narcs; i++)
		put_arc(p, i);
	for (uint32_t b = 0; b < p->g->f->nblocks; b++)
		put_block(p, b);
	fputs("</svg>\n", p->out);
}

static int place(struct picture *p)
{
	uint32_t n = p->g->f->nblocks;
	int ret;

	p->l.nboxes = n;
	p->l.nlines = p->narcs;
	p->l.boxes = calloc((size_t)n + 1, sizeof(*p->l.boxes));
	p->l.lines = calloc((size_t)p->narcs + 1, sizeof(*p->l.lines));
	if (!p->l.boxes || !p->l.lines)
		return -ENOMEM;
	for (uint32_t b = 0; b < n; b++)
		measure(p, b, &p->l.boxes[b]);
	for (uint32_t i = 0; i < p->narcs; i++)
		p->l.lines[i] = (struct ki_line){.from = p->arcs[i].from, .to = p->arcs[i].to};
	ret = find_back(p);
	return ret ? ret : ki_layered_draw(&p->l);
}

int ki_html_draw(const struct html_graph *g, FILE *out)
{
	struct picture p = {.g = g, .out = out};
	int ret = list_arcs(&p);

	ret = ret ? ret : place(&p);
	if (!ret)
		put_all(&p);
	free(p.arcs);
	free(p.l.boxes);
	free(p.l.lines);
	free(p.l.spots);
	return ret;
}
