// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>

#include "cover/coverage.h"
#include "out/json.h"

static void put_totals(struct ki_json *j, const struct ki_cover_totals *t)
{
	ki_json_open(j, "totals", '{');
	for (size_t i = 0; i < ki_cover_ntotals; i++) {
		const struct ki_cover_total *n = &ki_cover_total_names[i];
		const char *at = (const char *)t + n->offset;

		if (n->kind == KI_TOTAL_SECONDS)
			ki_json_double(j, n->name, *(const double *)at);
		else
			ki_json_u64(j, n->name, *(const uint64_t *)at);
	}
	ki_json_close(j);
	ki_json_open(j, "reasons", '{');
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (t->refused[r])
			ki_json_u64(j, ki_reason_tag(r), t->refused[r]);
	ki_json_close(j);
}

/* What stands where in the arrays, for who reads the file without a manual. */
static void put_fields(struct ki_json *j, const char *key, const char *const fields[5])
{
	ki_json_open(j, key, '[');
	for (int i = 0; i < 5; i++)
		ki_json_str(j, NULL, fields[i]);
	ki_json_close(j);
}

static int put_head(const struct ki_coverage *c, FILE *out)
{
	static const char *const block[] = {"offset", "bytes", "count", "how", "reason"};
	static const char *const edge[] = {"from", "to", "kind", "count", "how"};
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "kerninst_coverage", KI_COVERAGE_VERSION);
	put_totals(&j, &c->totals);
	ki_json_str(&j, "mode", ki_cover_mode_name(c->mode));
	ki_json_str(&j, "release", c->release);
	ki_json_str(&j, "version", c->version);
	if (c->program)
		ki_json_str(&j, "program", c->program);
	ki_json_str(&j, "command", c->command);
	put_fields(&j, "block_fields", block);
	put_fields(&j, "edge_fields", edge);
	ki_json_open(&j, "functions", '[');
	return j.err ? j.err : fputc('\n', out) == EOF ? -EIO : 0;
}

static void put_block(struct ki_json *j, const struct ki_cover_block *b)
{
	ki_json_open(j, NULL, '[');
	ki_json_u64(j, NULL, b->off);
	ki_json_u64(j, NULL, b->len);
	if (b->count || b->how)
		ki_json_u64(j, NULL, b->count);
	if (b->how)
		ki_json_str(j, NULL, ki_cover_how_name(b->how));
	if (b->reason)
		ki_json_str(j, NULL, ki_reason_tag(b->reason));
	ki_json_close(j);
}

static void put_edge(struct ki_json *j, const struct ki_cover_edge *e)
{
	ki_json_open(j, NULL, '[');
	ki_json_u64(j, NULL, e->from);
	if (e->to == KI_NONE)
		ki_json_str(j, NULL, NULL);
	else
		ki_json_u64(j, NULL, e->to);
	ki_json_str(j, NULL, ki_edge_kind_name(e->kind));
	if (e->count || e->how)
		ki_json_u64(j, NULL, e->count);
	if (e->how)
		ki_json_str(j, NULL, ki_cover_how_name(e->how));
	ki_json_close(j);
}

static int put_function(const struct ki_coverage *c, const struct ki_cover_function *f, FILE *out)
{
	struct ki_json j;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "name", f->name);
	if (f->module)
		ki_json_str(&j, "module", f->module);
	ki_json_hex(&j, "addr", f->addr);
	ki_json_u64(&j, "size", f->size);
	if (f->reason)
		ki_json_str(&j, "reason", ki_reason_tag(f->reason));
	ki_json_open(&j, "blocks", '[');
	for (uint32_t i = 0; i < f->nblocks; i++)
		put_block(&j, &c->blocks[f->first_block + i]);
	ki_json_close(&j);
	if (f->nedges) {
		ki_json_open(&j, "edges", '[');
		for (uint32_t i = 0; i < f->nedges; i++)
			put_edge(&j, &c->edges[f->first_edge + i]);
		ki_json_close(&j);
	}
	ki_json_close(&j);
	return j.err;
}

int ki_coverage_write_json(const struct ki_coverage *c, FILE *out)
{
	int ret = put_head(c, out);

	for (size_t i = 0; i < c->nfunctions && !ret; i++) {
		ret = put_function(c, &c->functions[i], out);
		if (!ret && fputs(i + 1 < c->nfunctions ? ",\n" : "\n", out) == EOF)
			ret = -EIO;
	}
	if (!ret && fputs(KI_COVERAGE_END "\n", out) == EOF)
		ret = -EIO;
	return ret ? ret : fflush(out) ? -EIO : 0;
}

int ki_coverage_write_pcs(const struct ki_coverage *c, FILE *out)
{
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct ki_cover_function *f = &c->functions[i];

		for (uint32_t b = f->first_block; b < f->first_block + f->nblocks; b++)
			if (c->blocks[b].count &&
			    fprintf(out, "%llx\n",
				    (unsigned long long)(f->addr + c->blocks[b].off)) < 0)
				return -EIO;
	}
	return fflush(out) ? -EIO : 0;
}
