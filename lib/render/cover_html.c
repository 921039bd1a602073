// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The report's first page, and how all of it is written.
 */
#include "render/cover_html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cover/coverage.h"
#include "kerninst/cover_report.h"
#include "out/json.h"

#define HOTTEST 12

static void tile(FILE *out, uint64_t n, const char *what, uint64_t whole, const char *of)
{
	fputs("<li><b>", out);
	ki_html_number(out, n);
	fprintf(out, "</b>%s", what);
	if (of) {
		fputs(" <span class=\"dim\">of ", out);
		ki_html_number(out, whole);
		fprintf(out, " %s</span>", of);
	}
	fputs("</li>\n", out);
}

static void piece(FILE *out, const char *class, uint64_t n)
{
	if (n)
		fprintf(out, "<i class=\"%s\" style=\"flex-grow:%" PRIu64 "\"></i>", class, n);
}

static void piece_key(FILE *out, const char *key, uint64_t n)
{
	fprintf(out, "<span class=\"k\">%s", key);
	ki_html_number(out, n);
	fputs("</span>\n", out);
}

/* All blocks as one bar, and what its colours mean. */
static void put_whole(const struct ki_cover_totals *t, FILE *out)
{
	fputs("<div class=\"whole\" aria-hidden=\"true\">", out);
	piece(out, "hit", t->hit);
	piece(out, "not", t->known - t->hit);
	piece(out, "un", t->blocks - t->known);
	fputs("</div>\n<p>", out);
	piece_key(out, "<i class=\"key\" style=\"background:var(--h4)\"></i>hit ", t->hit);
	piece_key(out, "<i class=\"key\" style=\"background:var(--rest)\"></i>not hit ",
		  t->known - t->hit);
	piece_key(out, "<i class=\"key cu\"></i>not known ", t->blocks - t->known);
	fputs("</p>\n", out);
}

static void put_totals(const struct html *h, FILE *out)
{
	const struct ki_cover_totals *t = &h->c->totals;

	fputs("<h1>", out);
	fprintf(out, "%.1f %% of the known blocks were hit</h1>\n<p>",
		t->known ? 100.0 * (double)t->hit / (double)t->known : 0.0);
	if (h->c->program) {
		ki_html_text(out, h->c->program);
		fputs(", ", out);
	}
	fputs("Kernel ", out);
	ki_html_text(out, h->c->release ? h->c->release : "unknown");
	if (h->c->version) {
		fputs(" <span class=\"dim\">", out);
		ki_html_text(out, h->c->version);
		fputs("</span>", out);
	}
	if (h->c->command) {
		fputs(", during <code>", out);
		ki_html_text(out, h->c->command);
		fputs("</code>", out);
	}
	fputs("</p>\n<ul class=\"tiles\">\n", out);
	tile(out, t->hit, "blocks hit", t->known, "known");
	tile(out, t->functions_hit, "functions hit", t->functions, "");
	tile(out, t->blocks_touchable, "touchable blocks", t->blocks, "in text");
	tile(out, t->probes, "probes at the same time", 0, NULL);
	fprintf(out,
		"<li><b>%.1f s</b>run <span class=\"dim\">after %.1f to install, then %.1f to remove</span></li>\n",
		t->seconds_run, t->seconds_install, t->seconds_remove);
	fprintf(out,
		"<li><b>%.1f MiB</b>kernel memory <span class=\"dim\">%.1f of them patches</span></li>\n</ul>\n",
		(double)t->memory_bytes / 1048576, (double)t->heap_bytes / 1048576);
	put_whole(t, out);
}

static void put_groups(const struct html *h, FILE *out)
{
	fprintf(out,
		"<h2>%s</h2>\n<p><input hidden data-filter=\"groups\" placeholder=\"Only names with\" "
		"aria-label=\"Only groups whose name has\"></p>\n<div class=\"wide\">"
		"<table class=\"sort\" id=\"groups\"><thead><tr><th>%s<th class=\"n\">Functions hit"
		"<th class=\"n opt\">of<th class=\"n\">Blocks hit<th class=\"n opt\">of known<th>Share"
		"<th class=\"n opt\">Hottest block</thead><tbody>\n",
		h->lines ? "Directories of the source, and by name what has no line there"
			 : "Modules, and functions of the kernel by name",
		h->lines ? "Directory" : "Group");
	for (size_t g = 0; g < h->ngroups; g++) {
		const struct ki_cover_sum *s = &h->groups[g];
		const uint64_t numbers[] = {s->functions_hit, s->functions, s->hit, s->known};

		fprintf(out, "<tr><td class=\"name\"><a href=\"g/%zu.html\">", g);
		ki_html_text(out, s->name);
		fputs("</a></td>", out);
		for (int i = 0; i < 4; i++) {
			fprintf(out, "<td class=\"n%s\">", i & 1 ? " opt" : "");
			ki_html_number(out, numbers[i]);
			fputs("</td>", out);
		}
		ki_html_share(out, s->hit, s->known);
		fputs("<td class=\"n opt\">", out);
		ki_html_number(out, s->most);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

struct hot {
	uint64_t most, hit;
	uint32_t function;
};

static int by_heat(const void *a, const void *b)
{
	const struct hot *ha = a, *hb = b;

	if (ha->most != hb->most)
		return ha->most > hb->most ? -1 : 1;
	if (ha->hit != hb->hit)
		return ha->hit > hb->hit ? -1 : 1;
	return ha->function < hb->function ? -1 : ha->function > hb->function;
}

static int put_hottest(const struct html *h, FILE *out)
{
	struct hot *v = calloc(h->c->nfunctions + 1, sizeof(*v));
	bool counts = h->c->mode != KI_COVER_HIT;

	if (!v)
		return ki_err_set(h->err, -ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < h->c->nfunctions; i++) {
		struct ki_cover_sum s = {0};

		ki_cover_sum_add(&s, h->c, &h->c->functions[i]);
		v[i] = (struct hot){.most = s.most, .hit = s.hit, .function = (uint32_t)i};
	}
	qsort(v, h->c->nfunctions, sizeof(*v), by_heat);
	fprintf(out,
		"<h2>%s</h2>\n<div class=\"wide\"><table><thead><tr><th>Function<th class=\"n\">%s"
		"<th class=\"n\">Blocks hit<th class=\"opt\">From its first byte to its last</thead><tbody>\n",
		counts ? "The hottest functions" : "The functions of which most was hit",
		counts ? "Hottest block" : "Hit");
	for (size_t i = 0; i < h->c->nfunctions && i < HOTTEST && v[i].hit; i++) {
		const struct ki_cover_function *f = &h->c->functions[v[i].function];

		fprintf(out, "<tr><td class=\"name\"><a href=\"f/%u.html\">", v[i].function);
		ki_html_name(out, h, f);
		fputs("</a></td><td class=\"n\">", out);
		ki_html_number(out, v[i].most);
		fprintf(out, "</td><td class=\"n\">%" PRIu64 "</td><td class=\"opt\">", v[i].hit);
		ki_html_strip(out, h->c, f, h->most);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
	free(v);
	return 0;
}

static void put_reasons(const struct html *h, FILE *out)
{
	bool any = false;

	for (unsigned int r = 0; r < KI_R_COUNT; r++) {
		if (!h->c->totals.refused[r])
			continue;
		if (!any)
			fputs("<h2>Touchable blocks of which nothing is known</h2>\n"
			      "<div class=\"wide\"><table class=\"sort\"><thead><tr>"
			      "<th class=\"n\">Blocks<th>Reason<th>What it means</thead><tbody>\n",
			      out);
		any = true;
		fputs("<tr><td class=\"n\">", out);
		ki_html_number(out, h->c->totals.refused[r]);
		fprintf(out, "</td><td class=\"mono\">%s</td><td>", ki_reason_tag(r));
		ki_html_text(out, ki_reason_text(r));
		fputs("</td></tr>\n", out);
	}
	if (any)
		fputs("</tbody></table></div>\n", out);
}

int ki_html_index(struct html *h)
{
	FILE *out = ki_html_open(h, "index.html", "", "Kernel coverage");
	int ret;

	if (!out)
		return -EIO;
	put_totals(h, out);
	ret = put_hottest(h, out);
	put_groups(h, out);
	put_reasons(h, out);
	fprintf(out,
		"<p class=\"dim\">Functions that were not hit have no page of their own; those of more "
		"than %d blocks have no graph.</p>\n",
		HTML_GRAPH_MAX);
	return ki_html_close(h, out, "index.html") ? -EIO : ret;
}

static int write_asset(struct html *h, const char *name, const char *start, const char *end)
{
	FILE *out = ki_html_file(h, name);

	if (!out)
		return -EIO;
	fwrite(start, 1, (size_t)(end - start), out);
	if (ferror(out) | fclose(out))
		return ki_err_set(h->err, -EIO, 0, "%s/%s: writing it failed", h->dir, name);
	return 0;
}

/* What the search knows: name, group, page. */
static int write_names(struct html *h)
{
	FILE *out = ki_html_file(h, "names.js");
	struct ki_json j;
	int ret;

	if (!out)
		return -EIO;
	fputs("kerninstNames(", out);
	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '[');
	for (size_t i = 0; i < h->c->nfunctions; i++) {
		const struct ki_cover_function *f = &h->c->functions[i];

		ki_json_str(&j, NULL, f->name);
		ki_json_u64(&j, NULL, h->group_of[i]);
		ki_json_i64(&j, NULL, ki_html_has_page(h->c, f) ? (int64_t)i : -1);
	}
	ki_json_close(&j);
	ret = ki_json_end_line(&j);
	fputs(");\n", out);
	if ((ferror(out) | fclose(out)) || ret)
		return ki_err_set(h->err, -EIO, 0, "%s/names.js: writing it failed", h->dir);
	return 0;
}

static int make_dirs(struct html *h)
{
	static const char *const names[] = {"", "/g", "/f"};
	char path[4096];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", h->dir, names[i]);
		if (mkdir(path, 0777) && errno != EEXIST)
			return ki_err_set(h->err, -errno, 0, "%s: %s", path, strerror(errno));
	}
	return 0;
}

static int write_all(struct html *h, const struct ki_cover_html_options *o)
{
	int ret = make_dirs(h);

	ret = ret ? ret : write_asset(h, "report.css", ki_html_css, ki_html_css_end);
	ret = ret ? ret : write_asset(h, "report.js", ki_html_js, ki_html_js_end);
	ret = ret ? ret : write_names(h);
	ret = ret ? ret : ki_html_index(h);
	for (size_t g = 0; g < h->ngroups && !ret; g++)
		ret = ki_html_group_page(h, (uint32_t)g);
	for (size_t i = 0; i < h->c->nfunctions && !ret; i++) {
		if (o->progress)
			o->progress(o->arg, i, h->c->nfunctions);
		if (ki_html_has_page(h->c, &h->c->functions[i]))
			ret = ki_html_function_page(h, i);
	}
	return ret;
}

int ki_cover_html(const struct ki_coverage *c, const struct ki_cover_html_options *o,
		  struct ki_err *err)
{
	struct html h = {.c = c, .lines = o->lines, .target = o->target, .dir = o->dir, .err = err};
	struct html_names *names = NULL;
	int ret = -ENOMEM;

	if (o->size != sizeof(*o))
		return ki_err_set(err, -EINVAL, 0, "options of pages: %zu bytes, not %zu", o->size,
				  sizeof(*o));
	for (size_t i = 0; i < c->nblocks; i++)
		if (c->blocks[i].count > h.most)
			h.most = c->blocks[i].count;
	h.group_of = calloc(c->nfunctions + 1, sizeof(*h.group_of));
	h.source = calloc(c->nfunctions + 1, sizeof(*h.source));
	h.ordinals = ki_coverage_ordinals(c);
	if (h.group_of && h.source && h.ordinals)
		ret = ki_html_group(&h, &names);
	ret = ret ? ki_err_set(err, ret, 0, "out of memory") : write_all(&h, o);
	ki_cover_sums_free(h.groups, h.ngroups);
	ki_html_names_free(names);
	free(h.group_of);
	free(h.source);
	free(h.ordinals);
	return ret;
}
