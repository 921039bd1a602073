// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A function's graph for graphviz: loops are frames inside one another.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kerninst/cfg_view.h"

static const struct {
	const char *color, *style;
} looks[] = {
	[KI_EDGE_FALL] = {"gray40", "solid"},	    [KI_EDGE_TAKEN] = {"forestgreen", "solid"},
	[KI_EDGE_JUMP] = {"royalblue", "solid"},    [KI_EDGE_TABLE] = {"purple", "solid"},
	[KI_EDGE_FIXUP] = {"darkorange", "dashed"},
};

static const char *const exit_colors[] = {
	[KI_CFG_RETURNS] = "honeydew", [KI_CFG_LEAVES] = "lavender", [KI_CFG_ENDS] = "mistyrose"};

static void quote(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', out);
		fputc(*s, out);
	}
}

static void print_insns(const struct ki_cfg_view *v, uint32_t b, FILE *out)
{
	uint32_t skip, skipped, n = ki_cfg_view_lines(v, b, &skip, &skipped);
	uint32_t i = v->fn->blocks[b].first;
	char text[160];

	for (uint32_t line = 0; line < n; line++) {
		const struct ki_insn *in = &v->fn->insns[i];

		if (line == skip) {
			fprintf(out, "    ... %u more ...\\l", skipped);
			i += skipped;
			continue;
		}
		ki_insn_format(v->fn, in, text, sizeof(text));
		fprintf(out, "+%-4" PRIx64 " ", in->addr - v->fn->start);
		quote(out, text);
		fputs("\\l", out);
		i++;
	}
}

static void print_block(const struct ki_cfg_view *v, uint32_t b, FILE *out)
{
	const struct ki_block *block = &v->fn->blocks[b];
	char left[256];
	enum ki_cfg_exit how = ki_cfg_view_exit(v, b, left, sizeof(left));

	fprintf(out, "  b%u [label=\"%u  ", b, b);
	quote(out, v->fn->symbol->name);
	fprintf(out, "+0x%" PRIx64 "  %u insns  %" PRIu64 " bytes\\l", block->start - v->fn->start,
		block->count, block->end - block->start);
	print_insns(v, b, out);
	if (how != KI_CFG_STAYS) {
		fputs("=> ", out);
		quote(out, left);
		fputs("\\l", out);
	}
	fputc('"', out);
	if (how != KI_CFG_STAYS)
		fprintf(out, ", style=\"filled,bold\", fillcolor=%s", exit_colors[how]);
	if (b == v->mark)
		fputs(", penwidth=3, color=red", out);
	fputs("];\n", out);
}

static void print_edge(const struct ki_cfg_view *v, const struct ki_edge *e, FILE *out)
{
	fprintf(out, "  b%u -> b%u [color=%s, style=%s, tooltip=\"%s\"%s];\n", e->block,
		e->to_block, looks[e->kind].color, looks[e->kind].style, ki_edge_kind_name(e->kind),
		ki_cfg_view_is_back(v, e) ? ", penwidth=2.5" : "");
}

/* Frames open and close in the order of a walk over the loops, without a stack: by parents. */
struct frames {
	uint32_t *child, *next; /* of each loop; the outermost hang on child[nloops] */
	uint32_t *block, *more; /* lists of blocks in the same way */
};

static void list_frames(const struct ki_cfg_view *v, struct frames *f)
{
	uint32_t n = v->cfg->nloops;

	for (uint32_t l = 0; l <= n; l++)
		f->child[l] = f->block[l] = KI_NONE;
	for (uint32_t l = n; l-- > 0;) {
		uint32_t in = v->cfg->loops[l].parent == KI_NONE ? n : v->cfg->loops[l].parent;

		f->next[l] = f->child[in];
		f->child[in] = l;
	}
	for (uint32_t b = v->fn->nblocks; b-- > 0;) {
		uint32_t in = v->cfg->loop_of[b] == KI_NONE ? n : v->cfg->loop_of[b];

		f->more[b] = f->block[in];
		f->block[in] = b;
	}
}

static void open_frame(const struct ki_cfg_view *v, const struct frames *f, uint32_t l, FILE *out)
{
	const struct ki_loop *loop = &v->cfg->loops[l];

	if (l < v->cfg->nloops)
		fprintf(out,
			"  subgraph cluster_%u {\n"
			"  label=\"loop of %u, depth %u%s\"; style=\"filled,rounded\"; "
			"fillcolor=\"#1f6feb14\"; color=\"#1f6feb\";\n",
			l, loop->header, loop->depth, loop->irreducible ? ", irreducible" : "");
	for (uint32_t b = f->block[l]; b != KI_NONE; b = f->more[b])
		print_block(v, b, out);
}

static void print_frames(const struct ki_cfg_view *v, struct frames *f, FILE *out)
{
	uint32_t n = v->cfg->nloops, at = n;

	open_frame(v, f, n, out);
	for (;;) {
		uint32_t l = f->child[at];

		if (l != KI_NONE) {
			f->child[at] = f->next[l];
			open_frame(v, f, l, out);
			at = l;
			continue;
		}
		if (at == n)
			return;
		fputs("  }\n", out);
		at = v->cfg->loops[at].parent == KI_NONE ? n : v->cfg->loops[at].parent;
	}
}

int ki_cfg_write_dot(const struct ki_cfg_view *v, FILE *out, struct ki_err *err)
{
	size_t n = (size_t)v->cfg->nloops + 1, nblocks = v->fn->nblocks;
	uint32_t *space = calloc(3 * n + nblocks, sizeof(*space));
	struct frames f;
	char facts[256];

	if (!space)
		return ki_err_set(err, -ENOMEM, v->fn->start, "out of memory");
	f = (struct frames){space, space + n, space + 2 * n, space + 3 * n};
	list_frames(v, &f);
	ki_cfg_view_facts(v, facts, sizeof(facts));
	fputs("digraph \"", out);
	quote(out, v->fn->symbol->name);
	fputs("\" {\n  label=\"", out);
	quote(out, ki_symbol_module(v->fn->symbol));
	fputc(':', out);
	quote(out, v->fn->symbol->name);
	fprintf(out,
		"  %s\"; labelloc=t;\n"
		"  fontname=monospace; node [shape=box, fontname=monospace, fontsize=10];\n",
		facts);
	print_frames(v, &f, out);
	for (uint32_t i = 0; i < v->fn->nedges; i++)
		if (ki_cfg_view_is_inner(v, &v->fn->edges[i]))
			print_edge(v, &v->fn->edges[i], out);
	fputs("}\n", out);
	free(space);
	return 0;
}
