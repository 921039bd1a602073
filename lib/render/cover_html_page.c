// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What all pages of the report are made of.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/cover_html.h"

FILE *ki_html_file(struct html *h, const char *name)
{
	char path[4096];
	FILE *out;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", h->dir, name) >= sizeof(path)) {
		ki_err_set(h->err, -ENAMETOOLONG, 0, "%.100s: the path is too long", h->dir);
		return NULL;
	}
	out = fopen(path, "we");
	if (!out)
		ki_err_set(h->err, -errno, 0, "%s: %s", path, strerror(errno));
	return out;
}

FILE *ki_html_open(struct html *h, const char *name, const char *up, const char *title)
{
	FILE *out = ki_html_file(h, name);

	if (!out)
		return NULL;
	fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
	      out);
	ki_html_text(out, title);
	fprintf(out,
		"</title>\n<link rel=\"icon\" href=\"data:,\">\n"
		"<link rel=\"stylesheet\" href=\"%sreport.css\">\n"
		"<script src=\"%sreport.js\" defer></script>\n"
		"<header><nav><a href=\"%sindex.html\">Coverage of ",
		up, up, up);
	ki_html_text(out, h->c->program	  ? h->c->program
			  : h->c->release ? h->c->release
					  : "a kernel");
	fprintf(out,
		"</a></nav>\n<div class=\"search\"><input type=\"search\" hidden data-up=\"%s\" "
		"placeholder=\"Function ( / )\" aria-label=\"Find a function\"><ol></ol></div>"
		"</header>\n<main>\n",
		up);
	return out;
}

int ki_html_close(struct html *h, FILE *out, const char *name)
{
	bool failed;

	fputs("</main>\n<footer>Written by kerninst cover " KI_VERSION ".</footer>\n</html>\n",
	      out);
	failed = ferror(out);
	if (fclose(out) || failed)
		return ki_err_set(h->err, -EIO, 0, "%s/%s: writing it failed", h->dir, name);
	return 0;
}

void ki_html_text(FILE *out, const char *text)
{
	static const char special[] = "<>&\"'";
	static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};

	for (; *text; text++) {
		const char *at = strchr(special, *text);

		if (at)
			fputs(names[at - special], out);
		else
			fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
	}
}

void ki_html_number(FILE *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fputc(',', out);
		fputc(digits[i], out);
	}
}

void ki_html_share(FILE *out, uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	if (whole)
		fprintf(out,
			"<td class=\"p\" data-v=\"%.2f\"><i style=\"--p:%.1f%%\">%.1f %%</i></td>",
			share, share, share);
	else
		fputs("<td class=\"p\" data-v=\"-1\"><span class=\"dim\">nothing known</span></td>",
		      out);
}

unsigned int ki_html_shade(uint64_t count, uint64_t most)
{
	double share;

	if (!count)
		return 0;
	if (most <= 1)
		return 4;
	share = log((double)count) / log((double)most);
	return 1 + (unsigned int)(share * (HTML_SHADES - 2) + 0.5);
}

const char *ki_html_heat(const struct ki_cover_block *b, uint64_t most)
{
	static const char *const classes[] = {"h0", "h1", "h2", "h3", "h4", "h5", "h6"};

	return b->how == KI_COVER_UNKNOWN ? "hu" : classes[ki_html_shade(b->count, most)];
}

void ki_html_name(FILE *out, const struct html *h, const struct ki_cover_function *f)
{
	uint32_t ordinal = h->ordinals[f - h->c->functions];

	if (f->module) {
		ki_html_text(out, f->module);
		fputc(':', out);
	}
	ki_html_text(out, f->name);
	if (ordinal)
		fprintf(out, "#%u", ordinal + 1);
}

void ki_html_strip(FILE *out, const struct ki_coverage *c, const struct ki_cover_function *f,
		   uint64_t most)
{
	const struct ki_cover_block *b = c->blocks + f->first_block;
	uint32_t end = f->nblocks ? b[f->nblocks - 1].off + b[f->nblocks - 1].len : 1;

	fprintf(out,
		"<svg class=\"strip\" viewBox=\"0 0 %u 1\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\">",
		end);
	for (uint32_t i = 0, next; i < f->nblocks; i = next) {
		const char *class = ki_html_heat(&b[i], most);

		for (next = i + 1; next < f->nblocks && ki_html_heat(&b[next], most) == class;
		     next++)
			;
		if (strcmp(class, "h0") != 0)
			fprintf(out, "<rect class=\"%s\" x=\"%u\" width=\"%u\" height=\"1\"/>",
				class, b[i].off, b[next - 1].off + b[next - 1].len - b[i].off);
	}
	fputs("</svg>", out);
}

bool ki_html_has_page(const struct ki_coverage *c, const struct ki_cover_function *f)
{
	for (uint32_t i = 0; i < f->nblocks; i++)
		if (c->blocks[f->first_block + i].count)
			return true;
	return false;
}
