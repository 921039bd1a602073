/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as a coverage. What is taken is consistent, comes back from a file as it is,
 * differs from itself in nothing, and can be written in every format.
 */
#include <stdlib.h>
#include <string.h>

#include "cover/coverage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static char *written(const struct ki_coverage *c, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	check(f && !ki_coverage_write_json(c, f) && !fclose(f));
	return text;
}

static struct ki_coverage *parse(const char *text, size_t size)
{
	char *copy = malloc(size + 1);
	struct ki_coverage *c = NULL;
	struct ki_err err = {0};
	FILE *f;
	int ret;

	check(copy != NULL);
	memcpy(copy, text, size);
	f = fmemopen(copy, size, "r");
	check(f != NULL);
	ret = ki_coverage_parse(f, "input", &c, &err);
	check(!ret == !!c && !ret == !err.msg[0] && !strchr(err.msg, '\n'));
	fclose(f);
	free(copy);
	return c;
}

static void write_all(const struct ki_coverage *c)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	check(f && !ki_coverage_write_lcov(c, NULL, f, NULL) && !ki_coverage_write_pcs(c, f));
	fclose(f);
	free(text);
}

static void compare(const struct ki_coverage *a, const struct ki_coverage *b)
{
	struct ki_cover_diff *d;

	check(!ki_coverage_diff(a, b, NULL, &d, NULL) && !d->nfunctions && !d->nblocks);
	ki_coverage_diff_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ki_coverage *c, *again;
	char *first, *second;
	size_t n, m;

	c = size ? parse((const char *)data, size) : NULL;
	if (!c)
		return 0;
	for (size_t i = 0; i < c->nfunctions; i++)
		check(c->functions[i].first_block + c->functions[i].nblocks <= c->nblocks &&
		      c->functions[i].first_edge + c->functions[i].nedges <= c->nedges);
	first = written(c, &n);
	again = parse(first, n);
	check(again != NULL);
	second = written(again, &m);
	check(n == m && !memcmp(first, second, n));
	compare(c, again);
	write_all(c);
	free(first);
	free(second);
	ki_coverage_free(c);
	ki_coverage_free(again);
	return 0;
}
