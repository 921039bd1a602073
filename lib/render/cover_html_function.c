// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The page of one function: its graph in heat colours, and its blocks in numbers.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cover/lines.h"
#include "render/cover_html.h"

/* The function in the target, if its code is what was measured; NULL. */
static struct ki_function *analyze(const struct html *h, const struct ki_cover_function *f)
{
	const struct ki_cover_block *b = h->c->blocks + f->first_block;
	const struct ki_symbol *sym = NULL;
	struct ki_function *fn;
	bool same;

	if (!h->target)
		return NULL;
	for (uint32_t i = 0; i <= h->ordinals[f - h->c->functions]; i++) {
		sym = ki_target_symbol_named(h->target, f->module ? f->module : "", f->name, sym);
		if (!sym)
			return NULL;
	}
	if (ki_function_analyze(h->target, sym, &fn, NULL))
		return NULL;
	same = fn->nblocks == f->nblocks;
	for (uint32_t i = 0; i < f->nblocks && same; i++)
		same = fn->blocks[i].start - fn->start == b[i].off &&
		       fn->blocks[i].end - fn->blocks[i].start == b[i].len;
	if (same)
		return fn;
	ki_function_free(fn);
	return NULL;
}

/* From which count on a shade begins. */
static uint64_t shade_from(unsigned int shade, uint64_t most)
{
	uint64_t low = 1, high = most;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (ki_html_shade(mid, most) < shade)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void put_legend(FILE *out, uint64_t most)
{
	uint64_t last = 0;

	fputs("<p><span class=\"k\"><i class=\"key cu\"></i>not known</span>"
	      "<span class=\"k\"><i class=\"key c0\"></i>not hit</span>",
	      out);
	if (most <= 1)
		fputs("<span class=\"k\"><i class=\"key c4\"></i>hit</span>", out);
	for (unsigned int shade = 1; most > 1 && shade < HTML_SHADES; shade++) {
		uint64_t from = shade_from(shade, most);

		if (ki_html_shade(from, most) != shade || from == last)
			continue;
		last = from;
		fprintf(out, "<span class=\"k\"><i class=\"key c%u\"></i>", shade);
		ki_html_number(out, from);
		fputs(from < most ? "+</span>" : "</span>", out);
	}
	fputs("</p>\n", out);
}

static void put_facts(const struct html *h, const struct ki_cover_function *f,
		      const struct ki_cover_sum *s, FILE *out)
{
	size_t number = (size_t)(f - h->c->functions);
	uint32_t group = h->group_of[number];
	unsigned int line;

	fputs("<p>In <a href=\"../g/", out);
	fprintf(out, "%u.html\">", group);
	ki_html_text(out, h->groups[group].name);
	fputs("</a>", out);
	if (h->source[number] && ki_cover_lines_function(h->lines, number, &line)) {
		fputs(", <code>", out);
		ki_html_text(out, h->source[number]);
		fprintf(out, ":%u</code>", line);
	}
	fprintf(out,
		". At <code>0x%" PRIx64 "</code>, %u bytes.</p>\n<ul class=\"tiles\">\n<li><b>",
		f->addr, f->size);
	ki_html_number(out, s->hit);
	fputs("</b>blocks hit <span class=\"dim\">of ", out);
	ki_html_number(out, s->known);
	fprintf(out, " known, %.1f %%</span></li>\n",
		s->known ? 100.0 * (double)s->hit / (double)s->known : 0.0);
	if (h->c->mode != KI_COVER_HIT) {
		fputs("<li><b>", out);
		ki_html_number(out, s->entries);
		fputs("</b>hits of its first block</li>\n<li><b>", out);
		ki_html_number(out, s->most);
		fputs("</b>hits of its hottest block</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void put_strip(const struct html *h, const struct ki_cover_function *f, uint64_t most,
		      FILE *out)
{
	fputs("<h2>From its first byte to its last</h2>\n", out);
	ki_html_strip(out, h->c, f, most);
	put_legend(out, most);
}

static void block_row(const struct html *h, const struct ki_cover_function *f, uint32_t i,
		      uint64_t most, FILE *out)
{
	const struct ki_cover_block *b = &h->c->blocks[f->first_block + i];
	bool known = b->how != KI_COVER_UNKNOWN;

	fprintf(out,
		"<tr id=\"b%u\"><td class=\"n\">%u</td><td class=\"mono\" data-v=\"%u\">+0x%x</td>"
		"<td class=\"n\">%u</td>",
		i, i, b->off, b->off, b->len);
	if (h->lines) {
		const struct ki_line_row *row =
			ki_cover_lines_at(h->lines, (size_t)(f - h->c->functions), b->off);
		const char *slash = row ? strrchr(row->file, '/') : NULL;

		fputs("<td class=\"mono opt\">", out);
		if (row) {
			ki_html_text(out, slash ? slash + 1 : row->file);
			fprintf(out, ":%u", row->line);
		}
		fputs("</td>", out);
	}
	fprintf(out, "<td><i class=\"key c%s\"></i></td><td class=\"n\" data-v=\"%" PRIu64 "\">",
		ki_html_heat(b, most) + 1, known ? b->count + 1 : 0);
	if (known)
		ki_html_number(out, b->count);
	else
		fputs("?", out);
	fprintf(out, "</td><td class=\"opt\">%s</td><td class=\"dim opt\">%s</td></tr>\n",
		ki_cover_how_name(b->how), b->reason ? ki_reason_text(b->reason) : "");
}

static void put_blocks(const struct html *h, const struct ki_cover_function *f, uint64_t most,
		       FILE *out)
{
	fprintf(out,
		"<h2>Blocks</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr>"
		"<th class=\"n\">Block<th>Offset<th class=\"n\">Bytes%s<th>Heat"
		"<th class=\"n\">Count<th class=\"opt\">Known by<th class=\"opt\">Why not"
		"</thead><tbody>\n",
		h->lines ? "<th class=\"opt\">Line" : "");
	for (uint32_t i = 0; i < f->nblocks; i++)
		block_row(h, f, i, most, out);
	fputs("</tbody></table></div>\n", out);
}

static void put_graph(const struct html *h, const struct ki_cover_function *f, uint64_t most,
		      FILE *out)
{
	struct html_graph g = {.c = h->c, .f = f, .most = most};
	struct ki_function *fn;
	int ret;

	if (f->nblocks > HTML_GRAPH_MAX) {
		fprintf(out,
			"<h2>Graph</h2>\n<p class=\"dim\">None: more than %d blocks. "
			"<code>kerninst cfg -o %s.svg ",
			HTML_GRAPH_MAX, "graph");
		ki_html_text(out, f->name);
		fputs("</code> draws it without heat.</p>\n", out);
		return;
	}
	fn = analyze(h, f);
	g.fn = fn;
	if (fn || f->nedges) {
		fputs("<h2>Graph</h2>\n<div class=\"graph\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Graph; the same in the table below\">\n",
		      out);
		ret = ki_html_draw(&g, out);
		fputs("</div>\n", out);
		if (ret)
			fputs("<p class=\"dim\">It could not be drawn.</p>\n", out);
	}
	ki_function_free(fn);
}

int ki_html_function_page(struct html *h, size_t function)
{
	const struct ki_cover_function *f = &h->c->functions[function];
	struct ki_cover_sum s = {0};
	char name[40];
	FILE *out;

	snprintf(name, sizeof(name), "f/%zu.html", function);
	out = ki_html_open(h, name, "../", f->name);
	if (!out)
		return -EIO;
	ki_cover_sum_add(&s, h->c, f);
	fputs("<h1 class=\"mono\">", out);
	ki_html_name(out, h, f);
	fputs("</h1>\n", out);
	put_facts(h, f, &s, out);
	put_strip(h, f, s.most, out);
	put_graph(h, f, s.most, out);
	put_blocks(h, f, s.most, out);
	return ki_html_close(h, out, name);
}
