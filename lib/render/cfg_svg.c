// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A function's graph as a picture that needs nothing else: SVG with its colours inside, for light
 * and for dark backgrounds. Colours are in rules of their own, not in CSS variables, which some
 * programs that draw SVG do not know.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/cfg_view.h"
#include "out/layered.h"

#define CHAR	  6.63 /* width of a character of the font below */
#define LINE	  14.0
#define PAD	  8.0
#define HEAD	  20.0 /* height of a block's first line */
#define FOOT	  18.0 /* of the line that says how the function is left */
#define TITLE	  78.0
#define WIDTH_MIN 900.0
#define TEXT_MAX  64
#define OFFSETS	  6 /* characters for offsets */
#define SHADES	  5
#define ROUND	  5.0
#define TIP_MAX	  200 /* instructions in the text that the mouse brings up */

static const char style[] =
	"text{font:11px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2328}\n"
	".page{fill:#fff}.title{font-size:17px;font-weight:bold}.dim{fill:#656d76}\n"
	".n{font-weight:bold}\n"
	".b rect.f{fill:#f6f8fa;stroke:#afb8c1}.d1 rect.f{fill:#e3f1ff;stroke:#80b3e6}\n"
	".d2 rect.f{fill:#c7e2ff;stroke:#5e9bd6}.d3 rect.f{fill:#b2d6fb;stroke:#3e80c4}\n"
	".d4 rect.f{fill:#9dcaf8;stroke:#2a68ab}\n"
	".d3 .dim,.d4 .dim{fill:#444c56}\n"
	".b.m rect.f{stroke:#cf222e;stroke-width:3}.b line{stroke:#8c959f;stroke-width:.6}\n"
	".x1 .s{fill:#c4eecd}.x2 .s{fill:#e2d6fa}.x3 .s{fill:#ffd3cf}\n"
	".x1 rect.f,.x2 rect.f,.x3 rect.f{stroke-width:2}\n"
	".e path{fill:none;stroke-width:1.3}.e.back path{stroke-width:2.6}\n"
	".e:hover path{stroke-width:4}.e .a{stroke:none}\n"
	".fall path{stroke:#6e7781}.fall .a{fill:#6e7781}.taken path{stroke:#1a7f37}\n"
	".taken .a{fill:#1a7f37}.jump path{stroke:#0969da}.jump .a{fill:#0969da}\n"
	".table path{stroke:#8250df}.table .a{fill:#8250df}.fixup .a{fill:#d4650b}\n"
	".fixup path{stroke:#d4650b;stroke-dasharray:5 3}\n"
	"@media(prefers-color-scheme:dark){\n"
	"text{fill:#e6edf3}.page{fill:#0d1117}.dim{fill:#8b949e}\n"
	".b rect.f{fill:#161b22;stroke:#484f58}.d1 rect.f{fill:#0c2440;stroke:#1f5080}\n"
	".d2 rect.f{fill:#0b3260;stroke:#2f6cab}.d3 rect.f{fill:#0a4282;stroke:#4489d0}\n"
	".d4 rect.f{fill:#0a53a6;stroke:#6caaf0}\n"
	".d3 .dim,.d4 .dim{fill:#c0cad4}\n"
	".b.m rect.f{stroke:#ff7b72}.b line{stroke:#6e7681}\n"
	".x1 .s{fill:#12401f}.x2 .s{fill:#3c2a68}.x3 .s{fill:#5e1a1a}\n"
	".fall path{stroke:#8b949e}.fall .a{fill:#8b949e}.taken path{stroke:#3fb950}\n"
	".taken .a{fill:#3fb950}.jump path{stroke:#58a6ff}.jump .a{fill:#58a6ff}\n"
	".table path{stroke:#bc8cff}.table .a{fill:#bc8cff}.fixup .a{fill:#f0883e}\n"
	".fixup path{stroke:#f0883e}}\n";

struct arc {
	const struct ki_edge *edge;
	uint32_t times; /* a jump table may lead to a block several times */
};

struct picture {
	const struct ki_cfg_view *v;
	FILE *out;
	struct ki_layered g;
	struct arc *arcs; /* one for each line */
	double width, height;
};

static void put_escaped(FILE *out, const char *s)
{
	static const char special[] = "<>&\"'";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};

	for (; *s; s++) {
		const char *at = strchr(special, *s);

		if (at)
			fputs(names[at - special], out);
		else
			fputc((unsigned char)*s >= 0x20 && (unsigned char)*s < 0x7f ? *s : '?',
			      out);
	}
}

static void insn_text(const struct ki_cfg_view *v, uint32_t i, char *buf, size_t len)
{
	char full[200];

	ki_insn_format(v->fn, &v->fn->insns[i], full, sizeof(full));
	if (strlen(full) > TEXT_MAX)
		strcpy(full + TEXT_MAX - 3, "...");
	snprintf(buf, len, "%s", full);
}

static int head_text(const struct ki_cfg_view *v, uint32_t b, char *buf, size_t len)
{
	const struct ki_block *block = &v->fn->blocks[b];

	return snprintf(buf, len, "+0x%" PRIx64 "  %u insn%s, %" PRIu64 " bytes",
			block->start - v->fn->start, block->count, block->count == 1 ? "" : "s",
			block->end - block->start);
}

/* "loop, 12 blocks" on its header; else "". */
static void loop_text(const struct ki_cfg_view *v, uint32_t b, char *buf, size_t len)
{
	uint32_t l = ki_cfg_view_headed(v, b);

	*buf = '\0';
	if (l != KI_NONE)
		snprintf(buf, len, "loop, %u block%s%s", v->cfg->loops[l].nblocks,
			 v->cfg->loops[l].nblocks == 1 ? "" : "s",
			 v->cfg->loops[l].irreducible ? ", irreducible" : "");
}

static void measure(const struct ki_cfg_view *v, uint32_t b, struct ki_box *box)
{
	uint32_t skip, skipped, n = ki_cfg_view_lines(v, b, &skip, &skipped),
				i = v->fn->blocks[b].first;
	char text[256], more[128];
	size_t widest;

	loop_text(v, b, more, sizeof(more));
	widest = (size_t)snprintf(text, sizeof(text), "%u  ", b) + strlen(more) + 2;
	widest += (size_t)head_text(v, b, text, sizeof(text));
	for (uint32_t line = 0; line < n; line++) {
		if (line == skip) {
			i += skipped;
			continue;
		}
		insn_text(v, i++, text, sizeof(text));
		if (strlen(text) + OFFSETS > widest)
			widest = strlen(text) + OFFSETS;
	}
	box->height = HEAD + n * LINE + PAD;
	if (ki_cfg_view_exit(v, b, text, sizeof(text)) != KI_CFG_STAYS) {
		box->height += FOOT;
		if (strlen(text) + 2 > widest)
			widest = strlen(text) + 2;
	}
	box->width = ceil((double)widest * CHAR + 2 * PAD);
}

/* One line for each pair of blocks and kind. last[b]: the line to b that was made last. */
static void list_lines(struct picture *p, uint32_t *last)
{
	const struct ki_cfg_view *v = p->v;
	uint32_t n = 0;

	memset(last, 0xff, v->fn->nblocks * sizeof(*last));
	for (uint32_t i = 0; i < v->fn->nedges; i++) {
		const struct ki_edge *e = &v->fn->edges[i];
		const struct arc *old;

		if (!ki_cfg_view_is_inner(v, e))
			continue;
		old = last[e->to_block] == KI_NONE ? NULL : &p->arcs[last[e->to_block]];
		if (old && old->edge->block == e->block && old->edge->kind == e->kind) {
			p->arcs[last[e->to_block]].times++;
			continue;
		}
		last[e->to_block] = n;
		p->arcs[n] = (struct arc){.edge = e, .times = 1};
		p->g.lines[n++] = (struct ki_line){
			.from = e->block, .to = e->to_block, .back = ki_cfg_view_is_back(v, e)};
	}
	p->g.nlines = n;
}

static void put_tip(const struct picture *p, uint32_t b)
{
	const struct ki_cfg_view *v = p->v;
	const struct ki_block *block = &v->fn->blocks[b];
	uint32_t skip, skipped, loop = v->cfg->loop_of[b];
	char text[256];

	fprintf(p->out, "<title>block %u: 0x%" PRIx64 ", ", b, block->start);
	put_escaped(p->out, v->fn->symbol->name);
	head_text(v, b, text, sizeof(text));
	fputs(text, p->out);
	if (v->cfg->idom[b] != KI_NONE)
		fprintf(p->out, "\ndominated by %u", v->cfg->idom[b]);
	if (loop != KI_NONE)
		fprintf(p->out, "\nin the loop of %u, depth %u", v->cfg->loops[loop].header,
			v->cfg->loops[loop].depth);
	if (v->place[b] >= v->cfg->nreached)
		fputs("\nnothing is known to lead here", p->out);
	ki_cfg_view_lines(v, b, &skip, &skipped);
	for (uint32_t i = 0; skipped && i < block->count && i < TIP_MAX; i++) {
		ki_insn_format(v->fn, &v->fn->insns[block->first + i], text, sizeof(text));
		fputc('\n', p->out);
		put_escaped(p->out, text);
	}
	fputs("</title>\n", p->out);
}

static void put_text(const struct picture *p, double x, double y, const char *class,
		     const char *text)
{
	fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\"%s%s%s>", x, y, class ? " class=\"" : "",
		class ? class : "", class ? "\"" : "");
	put_escaped(p->out, text);
	fputs("</text>\n", p->out);
}

static void put_head(const struct picture *p, uint32_t b)
{
	const struct ki_box *box = &p->g.boxes[b];
	double y = box->y + HEAD - 6, right = box->x + box->width - PAD;
	char number[16], text[128];

	snprintf(number, sizeof(number), "%u", b);
	put_text(p, box->x + PAD, y, "n", number);
	head_text(p->v, b, text, sizeof(text));
	put_text(p, box->x + PAD + ((double)strlen(number) + 2) * CHAR, y, "dim", text);
	loop_text(p->v, b, text, sizeof(text));
	if (*text)
		put_text(p, right - (double)strlen(text) * CHAR, y, "n", text);
	fprintf(p->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", box->x,
		box->y + HEAD, box->x + box->width, box->y + HEAD);
}

static void put_insns(const struct picture *p, uint32_t b)
{
	const struct ki_cfg_view *v = p->v;
	const struct ki_box *box = &p->g.boxes[b];
	uint32_t skip, skipped, n = ki_cfg_view_lines(v, b, &skip, &skipped),
				i = v->fn->blocks[b].first;
	double x = box->x + PAD + OFFSETS * CHAR;
	char text[128];

	for (uint32_t line = 0; line < n; line++) {
		double y = box->y + HEAD + (line + 1) * LINE - 1;

		if (line == skip) {
			snprintf(text, sizeof(text), "... %u more ...", skipped);
			put_text(p, x, y, "dim", text);
			i += skipped;
			continue;
		}
		snprintf(text, sizeof(text), "%" PRIx64, v->fn->insns[i].addr - v->fn->start);
		put_text(p, box->x + PAD, y, "dim", text);
		insn_text(v, i++, text, sizeof(text));
		put_text(p, x, y, NULL, text);
	}
}

static void put_block(const struct picture *p, uint32_t b)
{
	const struct ki_box *box = &p->g.boxes[b];
	uint32_t depth = ki_cfg_view_depth(p->v, b);
	char left[256];
	enum ki_cfg_exit how = ki_cfg_view_exit(p->v, b, left, sizeof(left));

	fprintf(p->out, "<g class=\"b d%u x%d%s\">", depth < SHADES ? depth : SHADES - 1, how,
		b == p->v->mark ? " m" : "");
	put_tip(p, b);
	fprintf(p->out,
		"<rect class=\"f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		"rx=\"4\"/>\n",
		box->x, box->y, box->width, box->height);
	put_head(p, b);
	put_insns(p, b);
	if (how != KI_CFG_STAYS) {
		double y = box->y + box->height - FOOT;

		fprintf(p->out,
			"<rect class=\"s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\" rx=\"3\"/>\n",
			box->x + 2, y, box->width - 4, FOOT - 2);
		put_text(p, box->x + PAD, y + 12, NULL, left);
	}
	fputs("</g>\n", p->out);
}

static double toward(double from, double to, double by)
{
	double length = fabs(to - from), step = fmin(by, length / 2);

	return to > from ? from + step : from - step;
}

/* A corner at s, rounded: the pieces before and after are horizontal and vertical or so. */
static void put_corner(const struct picture *p, const struct ki_spot *s)
{
	fprintf(p->out, "L%.1f %.1fQ%.1f %.1f %.1f %.1f", toward(s->x, s[-1].x, ROUND),
		toward(s->y, s[-1].y, ROUND), s->x, s->y, toward(s->x, s[1].x, ROUND),
		toward(s->y, s[1].y, ROUND));
}

static void put_arrow(const struct picture *p, double x, double y, double height)
{
	fprintf(p->out, "<polygon class=\"a\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>", x, y,
		x - 4, y - height, x + 4, y - height);
}

/* Where a line goes up a long way, an arrow says so. */
static void put_up_arrow(const struct picture *p, const struct ki_spot *s, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		if (s[i - 1].y - s[i].y > (best ? s[best - 1].y - s[best].y : 30))
			best = i;
	if (best)
		put_arrow(p, s[best].x, (s[best - 1].y + s[best].y) / 2 - 4, -9);
}

static void put_line(const struct picture *p, uint32_t i)
{
	const struct ki_line *line = &p->g.lines[i];
	const struct ki_spot *s = &p->g.spots[line->first];
	const struct ki_edge *e = p->arcs[i].edge;
	char text[160], times[32] = "";

	ki_insn_format(p->v->fn, &p->v->fn->insns[e->insn], text, sizeof(text));
	if (p->arcs[i].times > 1)
		snprintf(times, sizeof(times), ", %u times", p->arcs[i].times);
	fprintf(p->out, "<g class=\"e %s%s\"><title>%u to %u: %s%s%s (", ki_edge_kind_name(e->kind),
		line->back ? " back" : "", line->from, line->to, ki_edge_kind_name(e->kind),
		line->back ? ", back" : "", times);
	put_escaped(p->out, text);
	fprintf(p->out, ")</title><path d=\"M%.1f %.1f", s->x, s->y);
	for (uint32_t k = 1; k + 1 < line->n; k++)
		put_corner(p, &s[k]);
	fprintf(p->out, "L%.1f %.1f\"/>", s[line->n - 1].x, s[line->n - 1].y - 4);
	put_arrow(p, s[line->n - 1].x, s[line->n - 1].y, 8);
	if (line->back)
		put_up_arrow(p, s, line->n);
	fputs("</g>\n", p->out);
}

static void put_legend(const struct picture *p)
{
	static const struct {
		const char *class, *text;
	} keys[] = {{"taken", "branch taken"}, {"fall", "falls through"}, {"jump", "jump"},
		    {"table", "jump table"},   {"fixup", "exception"},	  {"fall back", "back"}};
	double x = 16, y = 62;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		fprintf(p->out, "<g class=\"e %s\"><path d=\"M%.1f %.1fh22\"/></g>\n",
			keys[i].class, x, y);
		put_text(p, x + 28, y + 4, "dim", keys[i].text);
		x += 28 + ((double)strlen(keys[i].text) + 3) * CHAR;
	}
	put_text(p, x, y + 4, "dim", "loop depth");
	x += 11 * CHAR;
	for (int d = 0; d < SHADES; d++, x += 20) {
		fprintf(p->out,
			"<g class=\"b d%d\"><rect class=\"f\" x=\"%.1f\" y=\"%.1f\" width=\"18\" "
			"height=\"12\" rx=\"2\"/></g>\n",
			d, x, y - 6);
	}
}

static void put_all(struct picture *p)
{
	const struct ki_function *fn = p->v->fn;
	char facts[256], place[300];

	p->width = fmax(p->g.width, WIDTH_MIN);
	p->height = p->g.height + TITLE;
	ki_cfg_view_facts(p->v, facts, sizeof(facts));
	snprintf(place, sizeof(place), "module %s, 0x%" PRIx64 ": %s", ki_symbol_module(fn->symbol),
		 fn->start, facts);
	fprintf(p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\">\n<style>\n%s</style>\n<title>",
		p->width, p->height, p->width, p->height, style);
	put_escaped(p->out, fn->symbol->name);
	fputs("</title>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n", p->out);
	put_text(p, 16, 26, "title", fn->symbol->name);
	put_text(p, 16, 44, NULL, place);
	put_legend(p);
	fprintf(p->out, "<g transform=\"translate(%.1f %.1f)\">\n", (p->width - p->g.width) / 2,
		TITLE);
	for (uint32_t i = 0; i < p->g.nlines; i++)
		put_line(p, i);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		put_block(p, b);
	fputs("</g>\n</svg>\n", p->out);
}

static int draw(struct picture *p, struct ki_err *err)
{
	const struct ki_function *fn = p->v->fn;
	int ret = ki_layered_draw(&p->g);

	if (ret)
		return ki_err_set(err, ret, fn->start, "%s: %s", fn->symbol->name,
				  ret == -ENOMEM ? "out of memory"
						 : "too large for a picture; use another format");
	put_all(p);
	return 0;
}

int ki_cfg_write_svg(const struct ki_cfg_view *v, FILE *out, struct ki_err *err)
{
	struct picture p = {.v = v, .out = out};
	uint32_t n = v->fn->nblocks, *last = calloc((size_t)n + 1, sizeof(*last));
	int ret = -ENOMEM;

	p.g.nboxes = n;
	p.g.boxes = calloc((size_t)n + 1, sizeof(*p.g.boxes));
	p.g.lines = calloc((size_t)v->nedges + 1, sizeof(*p.g.lines));
	p.arcs = calloc((size_t)v->nedges + 1, sizeof(*p.arcs));
	if (!last || !p.g.boxes || !p.g.lines || !p.arcs) {
		ki_err_set(err, ret, v->fn->start, "out of memory");
	} else {
		for (uint32_t b = 0; b < n; b++)
			measure(v, b, &p.g.boxes[b]);
		list_lines(&p, last);
		ret = draw(&p, err);
	}
	free(last);
	free(p.g.boxes);
	free(p.g.lines);
	free(p.g.spots);
	free(p.arcs);
	return ret;
}
