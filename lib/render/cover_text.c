// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A coverage as tables for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kerninst/cover_report.h"
#include "render/cover_sums.h"
#include "out/table.h"
#include "kerninst/pointspec.h"

static int finish(struct ki_table *t, FILE *out, bool bold)
{
	int ret = ki_table_print(t, out, bold);

	ki_table_free(t);
	return ret;
}

static void head(const struct ki_coverage *c, FILE *out)
{
	static const char *const what[] = {[KI_COVER_HIT] = "which blocks were hit",
					   [KI_COVER_COUNT] = "how often blocks were hit",
					   [KI_COVER_EDGES] =
						   "how often blocks and edges were hit"};
	const struct ki_cover_totals *t = &c->totals;

	if (c->program)
		fprintf(out, "Program %s, ", c->program);
	fprintf(out, "%s %s: %s", c->program ? "kernel" : "Kernel",
		c->release ? c->release : "(unknown)", what[c->mode]);
	if (c->command)
		fprintf(out, ", during: %s", c->command);
	fprintf(out,
		"\n%" PRIu64 " of %" PRIu64 " functions and %" PRIu64 " of %" PRIu64
		" known blocks were hit",
		t->functions_hit, t->functions, t->hit, t->known);
	if (t->known)
		fprintf(out, ", %.1f %%", 100.0 * (double)t->hit / (double)t->known);
	fprintf(out,
		".\nBlocks: %" PRIu64 ", touchable %" PRIu64 ", known %" PRIu64
		", with a probe %" PRIu64,
		t->blocks, t->blocks_touchable, t->known, t->probes);
	if (t->removed)
		fprintf(out, ", which %" PRIu64 " took out after their first hit", t->removed);
	fprintf(out,
		".\nSeconds: %.1f to analyse, %.1f to install, %.1f run, %.1f to remove. Memory: %" PRIu64
		" KiB of patches, %" PRIu64 " KiB in all.\n",
		t->seconds_analysis, t->seconds_install, t->seconds_run, t->seconds_remove,
		t->heap_bytes / 1024, t->memory_bytes / 1024);
}

static int reasons(const struct ki_coverage *c, FILE *out, bool bold)
{
	static const struct ki_column columns[] = {{"BLOCKS", KI_ALIGN_RIGHT, 9},
						   {"NOT KNOWN BECAUSE", KI_ALIGN_LEFT, 0},
						   {"", KI_ALIGN_LEFT, 0}};
	struct ki_table *t;
	unsigned int n = 0;

	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		n += c->totals.refused[r] != 0;
	if (!n)
		return 0;
	if (ki_table_new(&t, columns, 3))
		return -ENOMEM;
	for (unsigned int r = 0; r < KI_R_COUNT; r++) {
		if (!c->totals.refused[r])
			continue;
		ki_table_cell(t, "%" PRIu64, c->totals.refused[r]);
		ki_table_cell(t, "%s", ki_reason_tag(r));
		ki_table_cell(t, "%s", ki_reason_text(r));
	}
	fputc('\n', out);
	return finish(t, out, bold);
}

static void sum_cells(struct ki_table *t, const struct ki_cover_sum *s)
{
	ki_table_cell(t, "%" PRIu64, s->hit);
	ki_table_cell(t, "%" PRIu64, s->known);
	if (s->known)
		ki_table_cell(t, "%.1f%%", 100.0 * (double)s->hit / (double)s->known);
	else
		ki_table_cell(t, "-");
}

static int modules(const struct ki_cover_sum *v, size_t n, FILE *out, bool bold)
{
	static const struct ki_column columns[] = {
		{"FUNCTIONS HIT", KI_ALIGN_RIGHT, 9}, {"OF", KI_ALIGN_RIGHT, 6},
		{"BLOCKS HIT", KI_ALIGN_RIGHT, 9},    {"OF KNOWN", KI_ALIGN_RIGHT, 8},
		{"SHARE", KI_ALIGN_RIGHT, 6},	      {"MODULE", KI_ALIGN_LEFT, 0}};
	struct ki_table *t;

	if (ki_table_new(&t, columns, 6))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ki_table_cell(t, "%" PRIu64, v[i].functions_hit);
		ki_table_cell(t, "%" PRIu64, v[i].functions);
		sum_cells(t, &v[i]);
		ki_table_cell(t, "%s", v[i].name);
	}
	fputc('\n', out);
	return finish(t, out, bold);
}

static int functions_hit(const struct ki_coverage *c, FILE *out, bool bold)
{
	static const struct ki_column columns[] = {
		{"BLOCKS HIT", KI_ALIGN_RIGHT, 9}, {"OF KNOWN", KI_ALIGN_RIGHT, 8},
		{"SHARE", KI_ALIGN_RIGHT, 6},	   {"MOST", KI_ALIGN_RIGHT, 12},
		{"FUNCTION", KI_ALIGN_LEFT, 0},	   {"ADDRESS", KI_ALIGN_LEFT, 0}};
	struct ki_table *t;

	if (ki_table_new(&t, columns, 6))
		return -ENOMEM;
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct ki_cover_function *f = &c->functions[i];
		struct ki_cover_sum s = {0};

		ki_cover_sum_add(&s, c, f);
		if (!s.hit)
			continue;
		sum_cells(t, &s);
		ki_table_cell(t, "%" PRIu64, s.most);
		ki_table_cell(t, "%s%s%s", f->module ? f->module : "", f->module ? ":" : "",
			      f->name);
		ki_table_cell(t, "0x%" PRIx64, f->addr);
	}
	fputc('\n', out);
	return finish(t, out, bold);
}

static const char *module_name(const void *arg, size_t function)
{
	const struct ki_coverage *c = arg;
	const char *module = c->functions[function].module;

	return module ? module : KI_POINTSPEC_KERNEL;
}

int ki_cover_text(const struct ki_coverage *c, bool functions, bool bold, FILE *out)
{
	struct ki_cover_sum *v;
	size_t n;
	int ret;

	head(c, out);
	ret = reasons(c, out, bold);
	if (!ret && ki_cover_sums(c, NULL, module_name, c, &v, &n)) {
		ret = -ENOMEM;
	} else if (!ret) {
		ret = modules(v, n, out, bold);
		ki_cover_sums_free(v, n);
	}
	if (!ret && functions)
		ret = functions_hit(c, out, bold);
	return ret ? ret : fflush(out) ? -EIO : 0;
}
