// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Groups of functions, and their pages.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cover/strings.h"
#include "render/cover_html.h"

#define PREFIX_LEAST 20 /* functions that begin with the same word are a group by themselves */

struct html_names {
	struct ki_strings strings;
	const char **of; /* each function's group */
};

void ki_html_names_free(struct html_names *names)
{
	if (!names)
		return;
	ki_strings_free(&names->strings);
	free(names->of);
	free(names);
}

static const char *group_name(const void *arg, size_t function)
{
	const struct html_names *names = arg;

	return names->of[function];
}

/* Bytes of the longest directory that all sources are below, with its slash. */
static size_t root_len(const struct html *h)
{
	const char *first = NULL;
	size_t len = 0;

	for (size_t i = 0; i < h->c->nfunctions; i++) {
		const char *file = h->source[i];
		size_t n = 0;

		if (!file)
			continue;
		if (!first) {
			first = file;
			len = strlen(file);
		}
		while (n < len && file[n] && file[n] == first[n])
			n++;
		len = n;
	}
	while (len && first[len - 1] != '/')
		len--;
	return len;
}

static void find_sources(struct html *h)
{
	size_t root;

	for (size_t i = 0; h->lines && i < h->c->nfunctions; i++)
		h->source[i] = ki_cover_lines_function(h->lines, i, NULL);
	root = root_len(h);
	for (size_t i = 0; i < h->c->nfunctions; i++)
		if (h->source[i])
			h->source[i] += root;
}

/* The word that a name begins with: "tcp_" of "tcp_v4_rcv", "x64_" of "__x64_sys_read". */
static void prefix_of(const char *name, char *buf, size_t len)
{
	size_t n;

	name += strspn(name, "_");
	n = strcspn(name, "_");
	snprintf(buf, len, "%.*s_*", n < 32 ? (int)n : 32, name);
}

static const char *wanted_name(struct html *h, struct html_names *names, size_t i)
{
	const struct ki_cover_function *f = &h->c->functions[i];
	const char *slash = h->source[i] ? strrchr(h->source[i], '/') : NULL;
	char buf[512];

	if (slash)
		snprintf(buf, sizeof(buf), "%.*s", (int)(slash - h->source[i]), h->source[i]);
	else if (h->source[i])
		snprintf(buf, sizeof(buf), "(root)");
	else if (f->module)
		snprintf(buf, sizeof(buf), "module %.200s", f->module);
	else
		prefix_of(f->name, buf, sizeof(buf));
	return ki_strings_keep(&names->strings, buf);
}

/* Small groups of words become one for each letter. */
static int join_small(struct html *h, struct html_names *names)
{
	for (size_t g = 0; g < h->ngroups; g++) {
		const struct ki_cover_sum *s = &h->groups[g];
		char buf[32];

		if (s->functions >= PREFIX_LEAST || !strstr(s->name, "_*"))
			continue;
		snprintf(buf, sizeof(buf), "other: %c", *s->name);
		for (uint64_t i = 0; i < s->functions; i++) {
			names->of[s->members[i]] = ki_strings_keep(&names->strings, buf);
			if (!names->of[s->members[i]])
				return -ENOMEM;
		}
	}
	ki_cover_sums_free(h->groups, h->ngroups);
	h->groups = NULL;
	return ki_cover_sums(h->c, NULL, group_name, names, &h->groups, &h->ngroups);
}

int ki_html_group(struct html *h, struct html_names **out)
{
	struct html_names *names = calloc(1, sizeof(*names));
	size_t n = h->c->nfunctions;
	int ret;

	*out = names;
	if (names)
		names->of = calloc(n + 1, sizeof(*names->of));
	if (!names || !names->of)
		return -ENOMEM;
	find_sources(h);
	for (size_t i = 0; i < n; i++) {
		names->of[i] = wanted_name(h, names, i);
		if (!names->of[i])
			return -ENOMEM;
	}
	ret = ki_cover_sums(h->c, NULL, group_name, names, &h->groups, &h->ngroups);
	if (!ret)
		ret = join_small(h, names);
	for (size_t g = 0; !ret && g < h->ngroups; g++)
		for (uint64_t i = 0; i < h->groups[g].functions; i++)
			h->group_of[h->groups[g].members[i]] = (uint32_t)g;
	return ret;
}

/* The same cells wherever sums stand in a row. */
static void file_row(FILE *out, const struct ki_cover_sum *s)
{
	const char *slash = strrchr(s->name, '/');

	fputs("<tr><td class=\"name mono\">", out);
	ki_html_text(out, slash ? slash + 1 : s->name);
	fprintf(out, "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64 "</td>",
		s->functions_hit, s->functions);
	fputs("<td class=\"n\">", out);
	ki_html_number(out, s->hit);
	fputs("</td><td class=\"n\">", out);
	ki_html_number(out, s->known);
	fputs("</td>", out);
	ki_html_share(out, s->hit, s->known);
	fputs("</tr>\n", out);
}

/* "": no file is known. */
static const char *file_name(const void *arg, size_t function)
{
	const struct html *h = arg;

	return h->source[function] ? h->source[function] : "";
}

static int put_files(const struct html *h, const struct ki_cover_sum *group, FILE *out)
{
	struct ki_cover_sum *v;
	size_t n;

	if (!h->lines)
		return 0;
	if (ki_cover_sums(h->c, group, file_name, h, &v, &n))
		return -ENOMEM;
	fputs("<h2>Files</h2>\n<div class=\"wide\"><table class=\"sort\"><thead><tr><th>File"
	      "<th class=\"n\">Functions hit<th class=\"n\">of<th class=\"n\">Blocks hit"
	      "<th class=\"n\">of known<th>Share</thead><tbody>\n",
	      out);
	for (size_t i = 0; i < n; i++)
		if (*v[i].name)
			file_row(out, &v[i]);
	fputs("</tbody></table></div>\n", out);
	ki_cover_sums_free(v, n);
	return 0;
}

static void function_row(const struct html *h, const struct ki_cover_function *f, FILE *out)
{
	size_t number = (size_t)(f - h->c->functions);
	struct ki_cover_sum s = {0};
	const char *slash = h->source[number] ? strrchr(h->source[number], '/') : NULL;

	ki_cover_sum_add(&s, h->c, f);
	fputs("<tr><td class=\"name mono\">", out);
	if (s.hit)
		fprintf(out, "<a href=\"../f/%zu.html\">", number);
	ki_html_name(out, h, f);
	fputs(s.hit ? "</a></td>" : "</td>", out);
	if (h->lines) {
		fputs("<td class=\"mono opt\">", out);
		if (h->source[number])
			ki_html_text(out, slash ? slash + 1 : h->source[number]);
		fputs("</td>", out);
	}
	fprintf(out, "<td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64 "</td>", s.hit,
		s.known);
	ki_html_share(out, s.hit, s.known);
	if (f->reason)
		fprintf(out, "<td class=\"dim\" data-v=\"-1\" title=\"%s\">%s</td><td></td></tr>\n",
			ki_reason_text(f->reason), ki_reason_tag(f->reason));
	else {
		fputs("<td class=\"n\">", out);
		ki_html_number(out, s.most);
		fputs("</td><td>", out);
		if (s.hit)
			ki_html_strip(out, h->c, f, h->most);
		fputs("</td></tr>\n", out);
	}
}

struct ranked {
	uint64_t hit;
	uint32_t function;
};

static int by_hits(const void *a, const void *b)
{
	const struct ranked *ra = a, *rb = b;

	if (ra->hit != rb->hit)
		return ra->hit > rb->hit ? -1 : 1;
	return ra->function < rb->function ? -1 : ra->function > rb->function;
}

static int put_functions(const struct html *h, const struct ki_cover_sum *g, FILE *out)
{
	struct ranked *v = calloc(g->functions + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (uint64_t i = 0; i < g->functions; i++) {
		struct ki_cover_sum s = {0};

		ki_cover_sum_add(&s, h->c, &h->c->functions[g->members[i]]);
		v[i] = (struct ranked){.hit = s.hit, .function = g->members[i]};
	}
	qsort(v, g->functions, sizeof(*v), by_hits);
	fprintf(out,
		"<h2>Functions</h2>\n<p><input hidden data-filter=\"functions\" "
		"placeholder=\"Only names with\" aria-label=\"Only functions whose name has\"></p>\n"
		"<div class=\"wide\"><table class=\"sort\" id=\"functions\"><thead><tr><th>Function"
		"%s<th class=\"n\">Blocks hit<th class=\"n\">of known<th>Share"
		"<th class=\"n\">Hottest block<th>From its first byte to its last</thead><tbody>\n",
		h->lines ? "<th class=\"opt\">File" : "");
	for (uint64_t i = 0; i < g->functions; i++)
		function_row(h, &h->c->functions[v[i].function], out);
	fputs("</tbody></table></div>\n", out);
	free(v);
	return 0;
}

int ki_html_group_page(struct html *h, uint32_t group)
{
	const struct ki_cover_sum *g = &h->groups[group];
	char name[32];
	FILE *out;
	int ret;

	snprintf(name, sizeof(name), "g/%u.html", group);
	out = ki_html_open(h, name, "../", g->name);
	if (!out)
		return -EIO;
	fputs("<h1>", out);
	ki_html_text(out, g->name);
	fputs("</h1>\n<p>", out);
	ki_html_number(out, g->functions_hit);
	fputs(" of ", out);
	ki_html_number(out, g->functions);
	fputs(" functions and ", out);
	ki_html_number(out, g->hit);
	fputs(" of ", out);
	ki_html_number(out, g->known);
	fputs(" known blocks were hit.</p>\n", out);
	ret = put_files(h, g, out);
	ret = ret ? ret : put_functions(h, g, out);
	if (ret)
		ki_err_set(h->err, ret, 0, "out of memory");
	return ki_html_close(h, out, name) ? -EIO : ret;
}
