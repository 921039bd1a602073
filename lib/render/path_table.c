// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/path_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "out/json.h"
#include "out/table.h"
#include "util/listen.h"

struct shown {
	const struct ki_paths *paths;
	const struct ki_path_counts *counts;
	uint32_t top;
	const struct ki_page *page;
	struct ki_err *err;
};

static const struct ki_symbol *symbol_of(const struct shown *r)
{
	return ki_paths_function(r->paths)->symbol;
}

/* How a path ends. buf: for a number. */
static const char *end_of(const struct shown *r, const struct ki_path *path, char *buf, size_t len)
{
	const struct ki_function *fn = ki_paths_function(r->paths);

	if (path->end == KI_PATH_STOPS)
		return "no return";
	if (path->end == KI_PATH_LEAVES)
		return fn->edges[path->edge].kind == KI_EDGE_RETURN ? "return" : "jump";
	snprintf(buf, len, "back to %u", path->to);
	return buf;
}

/* "0 1 4-7 9". Free with free(). */
static char *blocks_text(const struct ki_path *path)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (uint32_t i = 0, k; i < path->nblocks; i = k) {
		for (k = i + 1; k < path->nblocks && path->blocks[k] == path->blocks[k - 1] + 1;)
			k++;
		fprintf(f, k - i > 2 ? "%s%u-%u" : "%s%u", i ? " " : "", path->blocks[i],
			path->blocks[k - 1]);
		if (k - i == 2)
			k--;
	}
	return fclose(f) ? NULL : text;
}

static int add_row(const struct shown *r, const struct ki_path_count *c, struct ki_table *table)
{
	struct ki_path path;
	char *blocks, end[32];

	if (ki_path_of(ki_paths_numbers(r->paths), c->number, &path))
		return ki_err_set(r->err, -EINVAL, 0,
				  "a path was counted that there is not: %" PRIu64, c->number);
	blocks = blocks_text(&path);
	ki_table_cell(table, "%" PRIu64, c->count);
	ki_table_cell(table, "%.1f%%", 100.0 * (double)c->count / (double)r->counts->taken);
	ki_table_cell(table, "%" PRIu64, c->number);
	ki_table_cell(table, "%s", path.called ? "call" : "edge back");
	ki_table_cell(table, "%s", end_of(r, &path, end, sizeof(end)));
	ki_table_cell(table, "%s", blocks ? blocks : "");
	free(blocks);
	ki_path_free(&path);
	return blocks ? 0 : -ENOMEM;
}

static int print_table(const struct shown *r)
{
	static const struct ki_column columns[] = {
		{"COUNT", KI_ALIGN_RIGHT, 9},	 {"SHARE", KI_ALIGN_RIGHT, 0},
		{"PATH", KI_ALIGN_RIGHT, 0},	 {"BEGINS WITH", KI_ALIGN_LEFT, 0},
		{"ENDS WITH", KI_ALIGN_LEFT, 0}, {"BLOCKS", KI_ALIGN_LEFT, 0}};
	const struct ki_path_counts *c = r->counts;
	struct ki_table *table;
	int ret = 0;

	if (ki_table_new(&table, columns, 6))
		return -ENOMEM;
	for (size_t i = 0; !ret && i < c->n && (!r->top || i < r->top); i++)
		ret = add_row(r, &c->v[i], table);
	if (!ret && ki_table_print(table, r->page->out, r->page->bold))
		ret = ki_err_set(r->err, -EIO, 0, "writing failed");
	ki_table_free(table);
	return ret;
}

void ki_paths_tell(const struct ki_paths *p, const struct ki_path_counts *c,
		   const struct ki_listener *l)
{
	const struct ki_symbol *sym = ki_paths_function(p)->symbol;

	ki_listener_warn(l,
			 "%s:%s: %" PRIu64 " paths possible, %zu taken, %" PRIu64 " times; %" PRIu64
			 " calls, %" PRIu64 " left; %" PRIu64 " too deep, %" PRIu64
			 " paths lost; %zu probes",
			 ki_symbol_module(sym), sym->name,
			 ki_path_numbers_count(ki_paths_numbers(p)), c->n, c->taken, c->begun,
			 c->left, c->deep, c->lost, ki_paths_probes(p));
}

static int json_path(const struct shown *r, const struct ki_path_count *c, struct ki_json *j)
{
	const struct ki_function *fn = ki_paths_function(r->paths);
	struct ki_path path;
	char end[32];

	if (ki_path_of(ki_paths_numbers(r->paths), c->number, &path))
		return ki_err_set(r->err, -EINVAL, 0,
				  "a path was counted that there is not: %" PRIu64, c->number);
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "path", c->number);
	ki_json_u64(j, "count", c->count);
	ki_json_str(j, "begins", path.called ? "call" : "edge back");
	ki_json_str(j, "ends",
		    path.end == KI_PATH_BACK ? "edge back" : end_of(r, &path, end, sizeof(end)));
	if (path.end == KI_PATH_BACK)
		ki_json_u64(j, "back_to", path.to);
	ki_json_open(j, "blocks", '[');
	for (uint32_t i = 0; i < path.nblocks; i++)
		ki_json_u64(j, NULL, path.blocks[i]);
	ki_json_close(j);
	ki_json_open(j, "offsets", '[');
	for (uint32_t i = 0; i < path.nblocks; i++)
		ki_json_u64(j, NULL, fn->blocks[path.blocks[i]].start - fn->start);
	ki_json_close(j);
	ki_json_close(j);
	ki_path_free(&path);
	return 0;
}

static int print_json(const struct shown *r)
{
	const struct ki_path_counts *c = r->counts;
	struct ki_json j;
	int ret = 0;

	ki_json_init(&j, r->page->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "function", symbol_of(r)->name);
	ki_json_str(&j, "module", ki_symbol_module(symbol_of(r)));
	ki_json_hex(&j, "address", symbol_of(r)->addr);
	ki_json_u64(&j, "possible", ki_path_numbers_count(ki_paths_numbers(r->paths)));
	ki_json_u64(&j, "probes", ki_paths_probes(r->paths));
	ki_json_u64(&j, "taken", c->taken);
	ki_json_u64(&j, "calls", c->begun);
	ki_json_u64(&j, "left", c->left);
	ki_json_u64(&j, "too_deep", c->deep);
	ki_json_u64(&j, "lost", c->lost);
	ki_json_open(&j, "paths", '[');
	for (size_t i = 0; !ret && i < c->n && (!r->top || i < r->top); i++)
		ret = json_path(r, &c->v[i], &j);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j) && !ret ? ki_err_set(r->err, -EIO, 0, "writing failed") : ret;
}

int ki_paths_show(const struct ki_paths *p, const struct ki_path_counts *c, uint32_t top,
		  const struct ki_page *page, struct ki_err *err)
{
	const struct shown r = {p, c, top, page, err};
	int ret = page->json ? print_json(&r) : print_table(&r);

	return ret == -ENOMEM ? ki_err_set(err, ret, 0, "out of memory") : ret;
}
