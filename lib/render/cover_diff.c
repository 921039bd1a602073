// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Two coverages compared: tables for people, JSON for programs.
 */
#include <errno.h>
#include <inttypes.h>

#include "kerninst/cover_report.h"
#include "out/json.h"
#include "out/table.h"

static const struct ki_cover_function *either(const struct ki_cover_diff_function *f)
{
	return f->after ? f->after : f->before;
}

static void head_line(const struct ki_coverage *c, const char *name, FILE *out)
{
	fprintf(out, "%s: kernel %s, mode %s, %" PRIu64 " of %" PRIu64 " known blocks hit%s%s\n",
		name, c->release ? c->release : "(unknown)", ki_cover_mode_name(c->mode),
		c->totals.hit, c->totals.known, c->command ? ", during: " : "",
		c->command ? c->command : "");
}

static void sentence(const struct ki_cover_diff *d, enum ki_cover_change change, const char *text,
		     FILE *out)
{
	fprintf(out, "%12" PRIu64 " blocks in %" PRIu64 " functions %s\n", d->changes[change],
		d->changed[change], text);
}

static void summary(const struct ki_cover_diff *d, FILE *out)
{
	sentence(d, KI_COVER_REACHED, "newly reached", out);
	sentence(d, KI_COVER_GONE, "no longer reached", out);
	if (d->counted) {
		sentence(d, KI_COVER_HOTTER, "hotter", out);
		sentence(d, KI_COVER_COLDER, "colder", out);
	}
	fprintf(out, "%12" PRIu64 " blocks in %" PRIu64 " functions compared", d->compared,
		d->matches[KI_COVER_SAME]);
	if (d->unknown)
		fprintf(out, "; %" PRIu64 " blocks are not known in both", d->unknown);
	if (!d->counted)
		fputs("; without counts on both sides, only hit or not", out);
	fputc('\n', out);
}

/* "2.50", "new", "gone" */
static void ratio_cell(struct ki_table *t, uint64_t before, uint64_t after)
{
	if (!before || !after)
		ki_table_cell(t, "-");
	else
		ki_table_cell(t, "%.2f", (double)after / (double)before);
}

static void function_row(struct ki_table *t, const struct ki_cover_diff *d,
			 const struct ki_cover_diff_function *f)
{
	const struct ki_cover_function *fn = either(f);
	uint64_t before = 0, after = 0;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		before += d->blocks[i].before;
		after += d->blocks[i].after;
	}
	for (int i = 0; i < KI_COVER_CHANGES; i++)
		if (f->changes[i])
			ki_table_cell(t, "%u", f->changes[i]);
		else
			ki_table_cell(t, "-");
	ki_table_cell(t, "%" PRIu64, before);
	ki_table_cell(t, "%" PRIu64, after);
	ratio_cell(t, before, after);
	ki_table_cell(t, "%s%s%s", fn->module ? fn->module : "", fn->module ? ":" : "", fn->name);
}

static void block_rows(struct ki_table *t, const struct ki_coverage *c,
		       const struct ki_cover_diff *d, const struct ki_cover_diff_function *f)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct ki_cover_diff_block *b = &d->blocks[i];
		const struct ki_cover_block *at = &c->blocks[f->after->first_block + b->number];

		for (int k = 0; k < KI_COVER_CHANGES; k++)
			ki_table_cell(t, "%s", k == b->change ? "*" : "");
		ki_table_cell(t, "%" PRIu64, b->before);
		ki_table_cell(t, "%" PRIu64, b->after);
		ratio_cell(t, b->before, b->after);
		ki_table_cell(t, "  block %u  +0x%x  %u bytes", b->number, at->off, at->len);
	}
}

static int changes(const struct ki_coverage *after, const struct ki_cover_diff *d,
		   const struct ki_cover_diff_show *how, FILE *out)
{
	static const struct ki_column columns[] = {
		{"NEW", KI_ALIGN_RIGHT, 5},    {"GONE", KI_ALIGN_RIGHT, 5},
		{"HOTTER", KI_ALIGN_RIGHT, 6}, {"COLDER", KI_ALIGN_RIGHT, 6},
		{"BEFORE", KI_ALIGN_RIGHT, 8}, {"AFTER", KI_ALIGN_RIGHT, 8},
		{"RATIO", KI_ALIGN_RIGHT, 7},  {"FUNCTION", KI_ALIGN_LEFT, 0}};
	struct ki_table *t;
	int ret;

	if (!d->nblocks)
		return 0;
	if (ki_table_new(&t, columns, 8))
		return -ENOMEM;
	for (size_t i = 0; i < d->nfunctions; i++) {
		if (d->functions[i].match != KI_COVER_SAME)
			continue;
		function_row(t, d, &d->functions[i]);
		if (how->blocks)
			block_rows(t, after, d, &d->functions[i]);
	}
	fputc('\n', out);
	ret = ki_table_print(t, out, how->bold);
	ki_table_free(t);
	return ret;
}

/* The functions that were not compared, each kind in a paragraph; few: by name. */
static void others(const struct ki_cover_diff *d, bool all, FILE *out)
{
	static const char *const texts[] = {
		[KI_COVER_DIFFERS] = "whose code differs",
		[KI_COVER_ONLY_OLD] = "only in the old one",
		[KI_COVER_ONLY_NEW] = "only in the new one",
	};
	enum { FEW = 20 };

	for (int match = KI_COVER_DIFFERS; match < KI_COVER_MATCHES; match++) {
		uint64_t n = d->matches[match], shown = 0;

		if (!n)
			continue;
		fprintf(out, "\nNot compared: %" PRIu64 " functions %s:", n, texts[match]);
		for (size_t i = 0; i < d->nfunctions && (all || shown < FEW); i++) {
			const struct ki_cover_function *f = either(&d->functions[i]);

			if (d->functions[i].match != match)
				continue;
			fprintf(out, "%s%s%s%s", shown++ ? ", " : " ", f->module ? f->module : "",
				f->module ? ":" : "", f->name);
		}
		fputs(shown < n ? ", ...\n" : "\n", out);
	}
}

int ki_cover_diff_text(const struct ki_coverage *before, const struct ki_coverage *after,
		       const struct ki_cover_diff *d, const struct ki_cover_diff_show *how,
		       FILE *out)
{
	int ret;

	fputs("old  ", out);
	head_line(before, how->before, out);
	fputs("new  ", out);
	head_line(after, how->after, out);
	summary(d, out);
	ret = changes(after, d, how, out);
	others(d, how->blocks, out);
	return ret ? ret : fflush(out) ? -EIO : 0;
}

static void json_side(struct ki_json *j, const char *key, const struct ki_coverage *c,
		      const char *name)
{
	ki_json_open(j, key, '{');
	ki_json_str(j, "file", name);
	ki_json_str(j, "release", c->release);
	ki_json_str(j, "mode", ki_cover_mode_name(c->mode));
	ki_json_str(j, "command", c->command);
	ki_json_u64(j, "known", c->totals.known);
	ki_json_u64(j, "hit", c->totals.hit);
	ki_json_close(j);
}

static void json_totals(struct ki_json *j, const struct ki_cover_diff *d)
{
	ki_json_open(j, "functions_by_match", '{');
	for (unsigned int i = 0; i < KI_COVER_MATCHES; i++)
		ki_json_u64(j, ki_cover_match_name(i), d->matches[i]);
	ki_json_close(j);
	ki_json_open(j, "blocks_changed", '{');
	for (unsigned int i = 0; i < KI_COVER_CHANGES; i++)
		ki_json_u64(j, ki_cover_change_name(i), d->changes[i]);
	ki_json_close(j);
	ki_json_u64(j, "blocks_compared", d->compared);
	ki_json_u64(j, "blocks_unknown", d->unknown);
	ki_json_bool(j, "counted", d->counted);
}

static void json_function(struct ki_json *j, const struct ki_coverage *after,
			  const struct ki_cover_diff *d, const struct ki_cover_diff_function *f)
{
	const struct ki_cover_function *fn = either(f);

	ki_json_open(j, NULL, '{');
	ki_json_str(j, "name", fn->name);
	if (fn->module)
		ki_json_str(j, "module", fn->module);
	ki_json_hex(j, "addr", fn->addr);
	ki_json_str(j, "match", ki_cover_match_name(f->match));
	ki_json_open(j, "blocks", '[');
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct ki_cover_diff_block *b = &d->blocks[i];
		const struct ki_cover_block *at = &after->blocks[f->after->first_block + b->number];

		ki_json_open(j, NULL, '{');
		ki_json_u64(j, "offset", at->off);
		ki_json_u64(j, "bytes", at->len);
		ki_json_str(j, "change", ki_cover_change_name(b->change));
		ki_json_u64(j, "before", b->before);
		ki_json_u64(j, "after", b->after);
		ki_json_close(j);
	}
	ki_json_close(j);
	ki_json_close(j);
}

int ki_cover_diff_json(const struct ki_coverage *before, const struct ki_coverage *after,
		       const struct ki_cover_diff *d, const struct ki_cover_diff_show *how,
		       FILE *out)
{
	struct ki_json j;
	int ret;

	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '{');
	json_side(&j, "old", before, how->before);
	json_side(&j, "new", after, how->after);
	json_totals(&j, d);
	ki_json_open(&j, "functions", '[');
	for (size_t i = 0; i < d->nfunctions; i++)
		json_function(&j, after, d, &d->functions[i]);
	ki_json_close(&j);
	ki_json_close(&j);
	ret = ki_json_end_line(&j);
	return ret ? ret : fflush(out) ? -EIO : 0;
}
