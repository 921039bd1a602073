// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coverage as a trace file of lcov: records of one source file each, with functions (FN, FNDA),
 * branches (BRDA) and lines (DA).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cover/coverage.h"
#include "cover/lines.h"

#define NEVER UINT64_MAX /* a branch of a block that was not executed */

/* What is said of a line. Of lines: their counts; of functions: their names too; of branches: block
   and number. */
struct fact {
	const char *file; /* equal names have one address, within one table */
	uint32_t line;
	uint32_t block, branch;
	const char *name;
	uint64_t count;
};

struct facts {
	ki_vec(struct fact) v;
};

struct lcov {
	const struct ki_coverage *c;
	const struct ki_cover_lines *l;
	FILE *out;
	struct facts lines, functions, branches;
	struct facts own; /* lines of the function at hand */
};

static int by_place(const void *a, const void *b)
{
	const struct fact *fa = a, *fb = b;
	int order = fa->file == fb->file ? 0 : strcmp(fa->file, fb->file);

	if (order)
		return order;
	if (fa->line != fb->line)
		return fa->line < fb->line ? -1 : 1;
	if (fa->name && fb->name)
		return strcmp(fa->name, fb->name);
	if (fa->block != fb->block)
		return fa->block < fb->block ? -1 : 1;
	return fa->branch < fb->branch ? -1 : fa->branch > fb->branch;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX - 1 : a + b;
}

/* In order, with one fact where there were several of the same. */
static void merge(struct facts *f, uint64_t (*join)(uint64_t a, uint64_t b))
{
	size_t n = 0;

	if (f->v.n)
		qsort(f->v.v, f->v.n, sizeof(*f->v.v), by_place);
	for (size_t i = 0; i < f->v.n; i++) {
		if (n && !by_place(&f->v.v[n - 1], &f->v.v[i]))
			f->v.v[n - 1].count = join(f->v.v[n - 1].count, f->v.v[i].count);
		else
			f->v.v[n++] = f->v.v[i];
	}
	f->v.n = n;
}

/* Where a byte of a function is in the source. */
static bool locate(const struct lcov *x, size_t function, uint32_t off, struct fact *at)
{
	const struct ki_line_row *row = ki_cover_lines_at(x->l, function, off);

	if (row) {
		at->file = row->file;
		at->line = row->line;
	}
	return row != NULL;
}

static int add_lines(struct lcov *x, size_t function, const struct ki_cover_block *b)
{
	size_t n;
	const struct ki_line_row *rows = ki_cover_lines_rows(x->l, function, b->off, b->len, &n);

	for (size_t i = 0; i < n; i++)
		if (rows[i].stmt && ki_vec_push(&x->own.v, (struct fact){.file = rows[i].file,
									 .line = rows[i].line,
									 .count = b->count}))
			return -ENOMEM;
	return 0;
}

static bool is_branch(const struct ki_cover_edge *e)
{
	return e->how != KI_COVER_UNKNOWN && e->kind != KI_EDGE_FIXUP;
}

/* The ways out of block b, if there are several. */
static int add_branches(struct lcov *x, const struct ki_cover_function *f, uint32_t b)
{
	const struct ki_cover_edge *e = x->c->edges + f->first_edge;
	const struct ki_cover_block *block = &x->c->blocks[f->first_block + b];
	struct fact at = {.block = f->first_block + b};
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nedges; i++)
		n += e[i].from == b && is_branch(&e[i]);
	if (n < 2 || block->how == KI_COVER_UNKNOWN)
		return 0;
	if (!x->l)
		at.line = block->off + block->len;
	else if (!locate(x, (size_t)(f - x->c->functions), block->off + block->len - 1, &at))
		return 0;
	for (uint32_t i = 0; i < f->nedges; i++) {
		if (e[i].from != b || !is_branch(&e[i]))
			continue;
		at.count = block->count ? e[i].count : NEVER;
		if (ki_vec_push(&x->branches.v, at))
			return -ENOMEM;
		at.branch++;
	}
	return 0;
}

/* Edges stand by the block they come from; few functions have so many that looking through all of
   them for each block matters. */
static int add_function(struct lcov *x, size_t function)
{
	const struct ki_cover_function *f = &x->c->functions[function];
	const struct ki_cover_block *blocks = x->c->blocks + f->first_block;
	struct fact at = {.name = f->name};
	int ret = 0;

	x->own.v.n = 0;
	for (uint32_t b = 0; b < f->nblocks && !ret; b++)
		if (blocks[b].how != KI_COVER_UNKNOWN)
			ret = add_lines(x, function, &blocks[b]);
	merge(&x->own, most);
	for (size_t i = 0; i < x->own.v.n && !ret; i++)
		ret = ki_vec_push(&x->lines.v, x->own.v.v[i]);
	for (uint32_t b = 0; b < f->nblocks && !ret && x->c->mode == KI_COVER_EDGES; b++)
		ret = add_branches(x, f, b);
	if (!ret && f->nblocks && blocks->how != KI_COVER_UNKNOWN) {
		at.file = ki_cover_lines_function(x->l, function, &at.line);
		at.count = blocks->count;
		if (at.file)
			ret = ki_vec_push(&x->functions.v, at);
	}
	return ret;
}

/* Facts of one file: from v[*i] on. */
static size_t of_file(const struct facts *f, size_t i, const char *file)
{
	size_t n = 0;

	while (i + n < f->v.n && (f->v.v[i + n].file == file || !strcmp(f->v.v[i + n].file, file)))
		n++;
	return n;
}

static void put_functions(const struct lcov *x, const struct fact *v, size_t n)
{
	size_t hit = 0;

	for (size_t i = 0; i < n; i++)
		fprintf(x->out, "FN:%u,%s\n", v[i].line, v[i].name);
	for (size_t i = 0; i < n; i++) {
		fprintf(x->out, "FNDA:%" PRIu64 ",%s\n", v[i].count, v[i].name);
		hit += v[i].count != 0;
	}
	fprintf(x->out, "FNF:%zu\nFNH:%zu\n", n, hit);
}

static void put_branches(const struct lcov *x, const struct fact *v, size_t n)
{
	size_t hit = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		fprintf(x->out, "BRDA:%u,%u,%u,", v[i].line, v[i].block, v[i].branch);
		if (v[i].count == NEVER)
			fputs("-\n", x->out);
		else
			fprintf(x->out, "%" PRIu64 "\n", v[i].count);
		hit += v[i].count != NEVER && v[i].count;
	}
	fprintf(x->out, "BRF:%zu\nBRH:%zu\n", n, hit);
}

static void put_lines(const struct lcov *x, const struct fact *v, size_t n)
{
	size_t hit = 0;

	for (size_t i = 0; i < n; i++) {
		fprintf(x->out, "DA:%u,%" PRIu64 "\n", v[i].line, v[i].count);
		hit += v[i].count != 0;
	}
	fprintf(x->out, "LF:%zu\nLH:%zu\nend_of_record\n", n, hit);
}

static const char *first_file(const struct lcov *x, size_t at[3])
{
	const struct facts *all[3] = {&x->lines, &x->functions, &x->branches};
	const char *file = NULL;

	for (int i = 0; i < 3; i++)
		if (at[i] < all[i]->v.n && (!file || strcmp(all[i]->v.v[at[i]].file, file) < 0))
			file = all[i]->v.v[at[i]].file;
	return file;
}

static void put_files(struct lcov *x)
{
	size_t at[3] = {0}, n;
	const char *file;

	/* only lines and functions of equal places are one */
	merge(&x->lines, x->c->mode == KI_COVER_HIT ? most : sum);
	merge(&x->functions, x->c->mode == KI_COVER_HIT ? most : sum);
	merge(&x->branches, sum);
	fputs("TN:\n", x->out);
	while ((file = first_file(x, at))) {
		fprintf(x->out, "SF:%s\n", file);
		n = of_file(&x->functions, at[1], file);
		put_functions(x, x->functions.v.v + at[1], n);
		at[1] += n;
		n = of_file(&x->branches, at[2], file);
		put_branches(x, x->branches.v.v + at[2], n);
		at[2] += n;
		n = of_file(&x->lines, at[0], file);
		put_lines(x, x->lines.v.v + at[0], n);
		at[0] += n;
	}
}

/* A function as a file: line N + 1 is offset N. */
static int put_pseudo(struct lcov *x, const struct ki_cover_function *f, uint32_t ordinal)
{
	const struct ki_cover_block *b = x->c->blocks + f->first_block;
	struct fact entry = {.line = 1, .name = f->name};
	int ret = 0;

	x->lines.v.n = x->branches.v.n = 0;
	for (uint32_t i = 0; i < f->nblocks && !ret; i++) {
		if (b[i].how != KI_COVER_UNKNOWN)
			ret = ki_vec_push(&x->lines.v,
					  (struct fact){.line = b[i].off + 1, .count = b[i].count});
		if (!ret && x->c->mode == KI_COVER_EDGES)
			ret = add_branches(x, f, i);
	}
	if (ret || !x->lines.v.n)
		return ret;
	fprintf(x->out, "SF:%s/%s", f->module ? f->module : "kernel", f->name);
	if (ordinal)
		fprintf(x->out, "#%u", ordinal + 1);
	fputc('\n', x->out);
	entry.count = b->count;
	put_functions(x, &entry, b->how != KI_COVER_UNKNOWN);
	put_branches(x, x->branches.v.v, x->branches.v.n);
	put_lines(x, x->lines.v.v, x->lines.v.n);
	return 0;
}

static int put_pseudo_all(struct lcov *x)
{
	uint32_t *ordinals = ki_coverage_ordinals(x->c);
	int ret = ordinals ? 0 : -ENOMEM;

	fputs("TN:\n", x->out);
	for (size_t i = 0; i < x->c->nfunctions && !ret; i++)
		ret = put_pseudo(x, &x->c->functions[i], ordinals[i]);
	free(ordinals);
	return ret;
}

int ki_coverage_write_lcov(const struct ki_coverage *c, const struct ki_cover_lines *l, FILE *out,
			   struct ki_err *err)
{
	struct lcov x = {.c = c, .l = l, .out = out};
	int ret = 0;

	for (size_t i = 0; l && i < c->nfunctions && !ret; i++)
		ret = add_function(&x, i);
	if (!ret && l)
		put_files(&x);
	else if (!ret)
		ret = put_pseudo_all(&x);
	ki_vec_free(&x.lines.v);
	ki_vec_free(&x.functions.v);
	ki_vec_free(&x.branches.v);
	ki_vec_free(&x.own.v);
	if (ret)
		return ki_err_set(err, ret, 0, "out of memory");
	return fflush(out) || ferror(out) ? ki_err_set(err, -EIO, 0, "writing it failed") : 0;
}
