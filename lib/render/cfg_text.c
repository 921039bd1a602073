// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A function's graph as a table, and as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kerninst/cfg_view.h"
#include "out/json.h"
#include "out/table.h"

static const struct ki_column columns[] = {
	{"BLOCK", KI_ALIGN_RIGHT, 0}, {"OFFSET", KI_ALIGN_LEFT, 0}, {"BYTES", KI_ALIGN_RIGHT, 0},
	{"INSNS", KI_ALIGN_RIGHT, 0}, {"DEPTH", KI_ALIGN_RIGHT, 0}, {"LOOP", KI_ALIGN_LEFT, 0},
	{"DOM", KI_ALIGN_RIGHT, 0},   {"NEXT", KI_ALIGN_LEFT, 0},
};

#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

/* "5 fall, 9 taken, 2 jump back; ret" */
static void next_text(const struct ki_cfg_view *v, uint32_t b, char *buf, size_t len)
{
	const struct ki_block *block = &v->fn->blocks[b];
	char left[256];
	size_t at = 0;

	*buf = '\0';
	ki_cfg_view_exit(v, b, left, sizeof(left));
	for (uint32_t i = block->first_edge; i < block->first_edge + block->nedges; i++) {
		const struct ki_edge *e = &v->fn->edges[i];

		if (!ki_cfg_view_is_inner(v, e) || at + 64 > len)
			continue;
		at += (size_t)snprintf(buf + at, len - at, "%s%u %s%s", at ? ", " : "", e->to_block,
				       ki_edge_kind_name(e->kind),
				       ki_cfg_view_is_back(v, e) ? " back" : "");
	}
	if (*left)
		snprintf(buf + at, len - at, "%s%s", at ? "; " : "", left);
}

/* "head", or the header of the loop that the block is in. */
static void loop_text(const struct ki_cfg_view *v, uint32_t b, char *buf, size_t len)
{
	uint32_t l = v->cfg->loop_of[b];

	if (l == KI_NONE)
		snprintf(buf, len, "-");
	else if (ki_cfg_view_headed(v, b) != KI_NONE)
		snprintf(buf, len, v->cfg->loops[l].irreducible ? "head, irreducible" : "head");
	else
		snprintf(buf, len, "of %u", v->cfg->loops[l].header);
}

static void dominator_text(const struct ki_cfg_view *v, uint32_t b, char *buf, size_t len)
{
	const struct ki_cfg *cfg = v->cfg;
	bool entry = !b || cfg->pred_first[b] == cfg->pred_first[b + 1];

	if (cfg->idom[b] != KI_NONE)
		snprintf(buf, len, "%u", cfg->idom[b]);
	else if (v->place[b] >= cfg->nreached)
		snprintf(buf, len, "unreached");
	else
		snprintf(buf, len, entry ? "entry" : "-");
}

static void print_row(struct ki_table *t, const struct ki_cfg_view *v, uint32_t b)
{
	const struct ki_block *block = &v->fn->blocks[b];
	char text[4096], mark = b == v->mark ? '>' : ' ';

	ki_table_cell(t, "%c%u", mark, b);
	ki_table_cell(t, "+0x%" PRIx64, block->start - v->fn->start);
	ki_table_cell(t, "%" PRIu64, block->end - block->start);
	ki_table_cell(t, "%u", block->count);
	ki_table_cell(t, "%u", ki_cfg_view_depth(v, b));
	loop_text(v, b, text, sizeof(text));
	ki_table_cell(t, "%s", text);
	dominator_text(v, b, text, sizeof(text));
	ki_table_cell(t, "%s", text);
	next_text(v, b, text, sizeof(text));
	ki_table_cell(t, "%s", text);
}

int ki_cfg_write_text(const struct ki_cfg_view *v, FILE *out, struct ki_err *err)
{
	struct ki_table *t;
	char facts[256];
	int ret = ki_table_new(&t, columns, NCOLUMNS);

	if (ret)
		return ki_err_set(err, ret, v->fn->start, "out of memory");
	ki_cfg_view_facts(v, facts, sizeof(facts));
	fprintf(out, "%s:%s  0x%" PRIx64 "  %s\n", ki_symbol_module(v->fn->symbol),
		v->fn->symbol->name, v->fn->start, facts);
	for (uint32_t b = 0; b < v->fn->nblocks; b++)
		print_row(t, v, b);
	ret = ki_table_print(t, out, v->bold);
	ki_table_free(t);
	return ret == -ENOMEM ? ki_err_set(err, ret, v->fn->start, "out of memory") : 0;
}

static void json_block(struct ki_json *j, const struct ki_cfg_view *v, uint32_t b)
{
	const struct ki_block *block = &v->fn->blocks[b];
	uint32_t loop = v->cfg->loop_of[b], idom = v->cfg->idom[b];
	char left[256];

	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "block", b);
	ki_json_hex(j, "address", block->start);
	ki_json_u64(j, "offset", block->start - v->fn->start);
	ki_json_u64(j, "bytes", block->end - block->start);
	ki_json_u64(j, "instructions", block->count);
	ki_json_bool(j, "reached", v->place[b] < v->cfg->nreached);
	ki_json_u64(j, "depth", ki_cfg_view_depth(v, b));
	if (loop != KI_NONE)
		ki_json_u64(j, "loop", loop);
	if (idom != KI_NONE)
		ki_json_u64(j, "dominator", idom);
	if (ki_cfg_view_exit(v, b, left, sizeof(left)) != KI_CFG_STAYS)
		ki_json_str(j, "exit", left);
	ki_json_close(j);
}

static void json_edge(struct ki_json *j, const struct ki_cfg_view *v, const struct ki_edge *e)
{
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "number", (uint64_t)(e - v->fn->edges));
	ki_json_u64(j, "from", e->block);
	ki_json_hex(j, "instruction", v->fn->insns[e->insn].addr);
	ki_json_str(j, "kind", ki_edge_kind_name(e->kind));
	if (ki_cfg_view_is_inner(v, e)) {
		ki_json_u64(j, "to", e->to_block);
		ki_json_bool(j, "back", ki_cfg_view_is_back(v, e));
	} else if (e->to) {
		ki_json_hex(j, "target", e->to);
	}
	ki_json_close(j);
}

static void json_loop(struct ki_json *j, const struct ki_loop *l)
{
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "header", l->header);
	ki_json_u64(j, "depth", l->depth);
	ki_json_u64(j, "blocks", l->nblocks);
	ki_json_bool(j, "irreducible", l->irreducible);
	if (l->parent != KI_NONE)
		ki_json_u64(j, "parent", l->parent);
	ki_json_close(j);
}

int ki_cfg_write_json(const struct ki_cfg_view *v, FILE *out, struct ki_err *err)
{
	const struct ki_function *fn = v->fn;
	struct ki_json j;

	(void)err;
	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "module", ki_symbol_module(fn->symbol));
	ki_json_str(&j, "function", fn->symbol->name);
	ki_json_hex(&j, "address", fn->start);
	ki_json_u64(&j, "bytes", ki_cfg_view_bytes(v));
	ki_json_u64(&j, "depth", v->depth);
	if (v->mark != KI_NONE)
		ki_json_u64(&j, "marked", v->mark);
	ki_json_open(&j, "blocks", '[');
	for (uint32_t b = 0; b < fn->nblocks; b++)
		json_block(&j, v, b);
	ki_json_close(&j);
	ki_json_open(&j, "edges", '[');
	for (uint32_t i = 0; i < fn->nedges; i++)
		json_edge(&j, v, &fn->edges[i]);
	ki_json_close(&j);
	ki_json_open(&j, "loops", '[');
	for (uint32_t l = 0; l < v->cfg->nloops; l++)
		json_loop(&j, &v->cfg->loops[l]);
	ki_json_close(&j);
	ki_json_close(&j);
	ki_json_end_line(&j);
	return 0;
}
