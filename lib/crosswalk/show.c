// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a search has found: a tree, JSON, a graph for dot. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "crosswalk/walk.h"
#include "out/json.h"

#define NAME_WIDTH 56

struct tree {
	const struct ki_crosswalk *w;
	const struct ki_page *page;
	bool *shown;
};

static bool is_shown(const struct tree *x, const struct ki_crosswalk_node *n)
{
	return x->page->verbose || n->truth == KI_CROSSWALK_TRUE;
}

static void print_share(const struct ki_crosswalk_node *n, FILE *out)
{
	if (n->truth == KI_CROSSWALK_OPEN)
		fprintf(out, "%9s", "-");
	else
		fprintf(out, "%s%*.1f %%", n->sampled ? "~" : "", n->sampled ? 6 : 7,
			100 * n->share);
}

/* The largest, if there are several. */
static void print_thread(const struct ki_crosswalk_node *n, FILE *out)
{
	if (n->nthreads > 1)
		fprintf(out, "  %s/%d %.1f %%", n->threads[0].name, (int)n->threads[0].tid,
			100 * n->threads[0].share);
}

/* What one ought to know of it. */
static const char *remark(const struct ki_crosswalk_node *n)
{
	if (n->truth == KI_CROSSWALK_REFUSED)
		return ki_reason_tag(n->reason);
	return n->is_last ? "bottleneck" : "";
}

static void print_node(const struct tree *x, const struct ki_crosswalk_node *n, int depth,
		       uint8_t how, bool again)
{
	FILE *out = x->page->out;
	const int indent = 2 * depth;
	const bool bold = x->page->bold && n->is_last && !again;
	char name[300];

	snprintf(name, sizeof(name), "%s:%s", n->module, n->name);
	fprintf(out, "%*s%s%-*s%s  %-7s", indent, "", bold ? "\033[1m" : "",
		indent < NAME_WIDTH ? NAME_WIDTH - indent : 0, name, bold ? "\033[0m" : "",
		ki_crosswalk_how_name(how));
	print_share(n, out);
	if (n->seconds > 0)
		fprintf(out, "  %9.0f/s", (double)n->calls / n->seconds);
	else
		fprintf(out, "  %11s", "-");
	if (x->w->o.threads)
		print_thread(n, out);
	fprintf(out, "%s%s\n", again || *remark(n) ? "  " : "", again ? "(see above)" : remark(n));
}

static void print_tree(const struct tree *x, uint32_t from, int depth)
{
	const struct ki_crosswalk_graph *g = &x->w->graph;

	for (size_t i = 0; i < g->edges.n; i++) {
		const struct ki_crosswalk_edge *e = &g->edges.v[i];
		const bool again = x->shown[e->to];

		if (e->from != from || !is_shown(x, &g->nodes.v[e->to]))
			continue;
		print_node(x, &g->nodes.v[e->to], depth, e->how, again);
		x->shown[e->to] = true;
		if (!again)
			print_tree(x, e->to, depth + 1);
	}
}

static void print_titles(const struct ki_page *page)
{
	fprintf(page->out, "%s%-*s  %-7s%9s  %11s%s\n", page->bold ? "\033[1m" : "", NAME_WIDTH,
		"function", "by", "share", "calls", page->bold ? "\033[0m" : "");
}

static void json_callers(const struct ki_crosswalk *w, struct ki_json *j, uint32_t of)
{
	ki_json_open(j, "callers", '[');
	for (size_t i = 0; i < w->graph.edges.n; i++) {
		const struct ki_crosswalk_edge *e = &w->graph.edges.v[i];

		if (e->to != of || e->from == KI_NONE)
			continue;
		ki_json_open(j, NULL, '{');
		ki_json_u64(j, "number", e->from);
		ki_json_str(j, "how", ki_crosswalk_how_name(e->how));
		ki_json_close(j);
	}
	ki_json_close(j);
}

static void json_threads(const struct ki_crosswalk_node *n, struct ki_json *j)
{
	ki_json_open(j, "threads", '[');
	for (uint32_t i = 0; i < n->nthreads; i++) {
		ki_json_open(j, NULL, '{');
		ki_json_u64(j, "tid", (uint64_t)n->threads[i].tid);
		ki_json_str(j, "name", n->threads[i].name);
		ki_json_double(j, "share", n->threads[i].share);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static int json_node(const struct ki_crosswalk *w, FILE *out, uint32_t i)
{
	const struct ki_crosswalk_node *n = &w->graph.nodes.v[i];
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "kind", "function");
	ki_json_u64(&j, "number", i);
	ki_json_str(&j, "function", n->name);
	ki_json_str(&j, "module", n->module);
	ki_json_hex(&j, "address", n->addr);
	ki_json_str(&j, "side", n->kernel ? "kernel" : "program");
	ki_json_str(&j, "found", ki_crosswalk_truth_name(n->truth));
	ki_json_str(&j, "reason",
		    n->truth == KI_CROSSWALK_REFUSED ? ki_reason_tag(n->reason) : NULL);
	ki_json_double(&j, "share", n->truth == KI_CROSSWALK_OPEN ? NAN : n->share);
	ki_json_bool(&j, "by_calls", n->by_calls);
	ki_json_double(&j, "stood", n->stood);
	ki_json_bool(&j, "sampled", n->sampled);
	ki_json_double(&j, "calls_per_second",
		       n->seconds > 0 ? (double)n->calls / n->seconds : NAN);
	ki_json_u64(&j, "level", n->level);
	ki_json_bool(&j, "bottleneck", n->is_last);
	json_callers(w, &j, i);
	if (w->o.threads)
		json_threads(n, &j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int show_json(const struct ki_crosswalk *w, FILE *out)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < w->graph.nodes.n; i++)
		ret = json_node(w, out, i);
	return ret;
}

int ki_crosswalk_show(const struct ki_crosswalk *w, const struct ki_page *page, struct ki_err *err)
{
	struct tree x = {w, page, calloc(w->graph.nodes.n + 1, sizeof(bool))};

	if (!x.shown)
		return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
	if (!page->json) {
		print_titles(page);
		print_tree(&x, KI_NONE, 0);
	}
	free(x.shown);
	if (page->json && show_json(w, page->out))
		return -EIO;
	if (ki_crosswalk_elsewhere_show(w, page))
		return -EIO;
	return ferror(page->out) ? -EIO : 0;
}

/* Shares as labels and as the boxes' colours: from white to red. */
int ki_crosswalk_dot(const struct ki_crosswalk *w, FILE *out)
{
	const struct ki_crosswalk_graph *g = &w->graph;

	fputs("digraph crosswalk {\n\tnode [shape=box, style=filled, fontname=monospace];\n", out);
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		const struct ki_crosswalk_node *n = &g->nodes.v[i];

		if (n->truth == KI_CROSSWALK_TRUE)
			fprintf(out,
				"\tn%u [label=\"%s\\n%s %.1f %%\", "
				"fillcolor=\"0.0 %.3f 1.0\"%s%s];\n",
				i, n->name, n->module, 100 * n->share,
				n->share < 1 ? n->share * 0.7 : 0.7,
				n->kernel ? ", shape=ellipse" : "",
				n->is_last ? ", penwidth=3" : "");
	}
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct ki_crosswalk_edge *e = &g->edges.v[i];

		if (e->from != KI_NONE && g->nodes.v[e->from].truth == KI_CROSSWALK_TRUE &&
		    g->nodes.v[e->to].truth == KI_CROSSWALK_TRUE)
			fprintf(out, "\tn%u -> n%u [label=\"%s\"];\n", e->from, e->to,
				ki_crosswalk_how_name(e->how));
	}
	fputs("}\n", out);
	return ferror(out) ? -EIO : 0;
}
