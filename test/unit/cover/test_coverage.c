/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage as data: what is taken and what is refused, totals, files that come back as they were,
 * comparison, lcov without lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/coverage.h"
#include "cover/strings.h"

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

static struct ki_coverage *new (enum ki_cover_mode mode)
{
	struct ki_coverage *c;

	assert_int_equal(ki_coverage_new(mode, &c, NULL), 0);
	return c;
}

static const struct ki_cover_block two[] = {
	{.off = 0, .len = 8, .count = 1},
	{.off = 8, .len = 8, .how = KI_COVER_UNKNOWN, .reason = KI_R_ENDBR}};
static const struct ki_cover_edge one[] = {{.from = 0, .to = 1, .kind = KI_EDGE_FALL}};
static const struct ki_cover_function plain = {
	.name = "f", .addr = 0x1000, .size = 16, .nblocks = 2, .nedges = 1};

static int append(struct ki_coverage *c, struct ki_cover_function f, struct ki_err *err)
{
	return ki_coverage_append(c, &f, two, one, err);
}

static void refuses_what_contradicts_itself(void **unused)
{
	static const struct {
		struct ki_cover_function f;
		struct ki_cover_block b;
		struct ki_cover_edge e;
		const char *says;
	} rows[] = {
		{{.name = "", .size = 9}, {.len = 1}, {0}, "has no name"},
		{{.name = "f", .module = "", .size = 9}, {.len = 1}, {0}, "has no name"},
		{{.name = "f", .size = 9, .reason = KI_R_COUNT}, {.len = 1}, {0}, "no such reason"},
		{{.name = "f", .size = 9, .addr = UINT64_MAX}, {.len = 1}, {0}, "last address"},
		{{.name = "f", .size = 9}, {.len = 0}, {0}, "block 0 of f is not inside"},
		{{.name = "f", .size = 9}, {.len = 10}, {0}, "block 0 of f is not inside"},
		{{.name = "f", .size = 9}, {.off = 9, .len = 1}, {0}, "block 0 of f is not inside"},
		{{.name = "f", .size = 9}, {.off = 8, .len = UINT32_MAX}, {0}, "is not inside"},
		{{.name = "f", .size = 9}, {.len = 1, .how = 3}, {0}, "no such state"},
		{{.name = "f", .size = 9}, {.len = 1, .reason = KI_R_ENDBR}, {0}, "no reason"},
		{{.name = "f", .size = 9}, {.len = 1, .how = KI_COVER_UNKNOWN}, {0}, "no reason"},
		{{.name = "f", .size = 9}, {.len = 1, .count = 2}, {0}, "only hits are known"},
		{{.name = "f", .size = 9}, {.len = 1}, {.from = 1}, "edge 0 of f is between"},
		{{.name = "f", .size = 9}, {.len = 1}, {.to = 1}, "edge 0 of f is between"},
		{{.name = "f", .size = 9}, {.len = 1}, {.kind = 10}, "no such kind"},
		{{.name = "f", .size = 9}, {.len = 1}, {.count = 1}, "cannot be known"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ki_coverage *c = new (KI_COVER_HIT);
		struct ki_cover_function f = rows[i].f;
		struct ki_err err = {0};

		f.nblocks = f.nedges = 1;
		assert_int_equal(ki_coverage_append(c, &f, &rows[i].b, &rows[i].e, &err), -EINVAL);
		assert_non_null(strstr(err.msg, rows[i].says));
		assert_int_equal(c->nfunctions + c->nblocks + c->nedges, 0);
		ki_coverage_free(c);
	}
}

static void keeps_the_order(void **unused)
{
	struct ki_coverage *c = new (KI_COVER_COUNT);
	struct ki_cover_function low = plain;
	struct ki_err err = {0};

	(void)unused;
	assert_int_equal(append(c, plain, NULL), 0);
	assert_int_equal(append(c, plain, NULL), 0);
	low.addr--;
	assert_int_equal(append(c, low, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "order of address"));
	assert_int_equal(c->nfunctions, 2);
	assert_int_equal(c->functions[1].first_block, 2);
	assert_int_equal(c->functions[1].first_edge, 1);
	assert_ptr_equal(c->functions[0].name, c->functions[1].name);
	ki_coverage_free(c);
	ki_coverage_free(NULL);
}

static void totals_are_sums(void **unused)
{
	struct ki_coverage *c = new (KI_COVER_COUNT);
	struct ki_cover_function refused = plain;

	(void)unused;
	refused.reason = KI_R_NOINSTR;
	assert_int_equal(append(c, plain, NULL), 0);
	assert_int_equal(append(c, refused, NULL), 0);
	c->totals.probes = 77;
	c->totals.seconds_run = 1.5;
	c->totals.refused[KI_R_THUNK] = 5;
	for (int twice = 0; twice < 2; twice++)
		ki_coverage_total(c);
	assert_int_equal(c->totals.functions, 2);
	assert_int_equal(c->totals.functions_touchable, 1);
	assert_int_equal(c->totals.functions_hit, 2);
	assert_int_equal(c->totals.blocks, 4);
	assert_int_equal(c->totals.blocks_touchable, 2);
	assert_int_equal(c->totals.known, 2);
	assert_int_equal(c->totals.hit, 2);
	assert_int_equal(c->totals.refused[KI_R_ENDBR], 1);
	assert_int_equal(c->totals.refused[KI_R_THUNK], 0);
	assert_int_equal(c->totals.probes, 77);
	assert_true(c->totals.seconds_run == 1.5);
	ki_coverage_free(c);
}

static void strings_are_one(void **unused)
{
	struct ki_strings s = {0};
	const char *first[3000];
	char text[32];

	(void)unused;
	for (int again = 0; again < 2; again++)
		for (int i = 0; i < 3000; i++) {
			const char *kept;

			snprintf(text, sizeof(text), "name_%d", i);
			kept = ki_strings_keep(&s, text);
			assert_string_equal(kept, text);
			if (again)
				assert_ptr_equal(kept, first[i]);
			first[i] = kept;
		}
	assert_string_equal(ki_strings_keep(&s, ""), "");
	ki_strings_free(&s);
}

/* --- Any coverage --- */

static uint64_t draw_count(enum ki_cover_mode mode)
{
	static const uint64_t counts[] = {0,	      1,	 2, 1u << 20, (1ull << 53) - 1,
					  1ull << 53, UINT64_MAX};

	return mode == KI_COVER_HIT ? draw(2) : counts[draw(7)];
}

static uint32_t draw_blocks(struct ki_cover_block *b, uint32_t most, enum ki_cover_mode mode,
			    uint32_t *size)
{
	uint32_t n = draw(most), at = 0;

	for (uint32_t i = 0; i < n; i++) {
		at += draw(2) ? draw(9) : 0;
		b[i] = (struct ki_cover_block){
			.off = at, .len = 1 + draw(20), .how = (uint8_t)draw(3)};
		if (b[i].how == KI_COVER_UNKNOWN)
			b[i].reason = (uint16_t)(1 + draw(KI_R_COUNT - 1));
		else
			b[i].count = draw_count(mode);
		at += b[i].len;
	}
	*size = at + draw(5);
	return n;
}

static uint32_t draw_edges(struct ki_cover_edge *e, uint32_t most, uint32_t nblocks,
			   enum ki_cover_mode mode)
{
	uint32_t n = nblocks ? draw(most) : 0;

	for (uint32_t i = 0; i < n; i++) {
		e[i] = (struct ki_cover_edge){.from = draw(nblocks),
					      .to = draw(5) ? draw(nblocks) : KI_NONE,
					      .kind = (uint8_t)draw(KI_EDGE_RETURN + 1),
					      .how = (uint8_t)draw(3)};
		if (mode == KI_COVER_EDGES && e[i].how != KI_COVER_UNKNOWN)
			e[i].count = draw_count(mode);
	}
	return n;
}

static struct ki_coverage *draw_coverage(void)
{
	static const char *const texts[] = {
		"f", "kmem_cache_alloc", "a\"b\\c\n\t\x01", "\xc3\xa9", "<&>", " "};
	struct ki_coverage *c = new (draw(KI_COVER_MODES));
	uint64_t addr = draw(2) ? 0xffffffff81000000 : 0;

	for (uint32_t i = draw(8); i; i--) {
		struct ki_cover_block blocks[12];
		struct ki_cover_edge edges[9];
		struct ki_cover_function f = {.name = texts[draw(6)],
					      .module = draw(2) ? texts[draw(6)] : NULL,
					      .addr = addr,
					      .reason = draw(3) ? 0 : (uint16_t)draw(KI_R_COUNT)};

		f.nblocks = draw_blocks(blocks, 12, c->mode, &f.size);
		f.nedges = draw_edges(edges, 9, f.nblocks, c->mode);
		assert_int_equal(ki_coverage_append(c, &f, blocks, edges, NULL), 0);
		addr += f.size;
	}
	c->release = draw(2) ? ki_coverage_intern(c, texts[draw(6)]) : NULL;
	c->command = draw(2) ? ki_coverage_intern(c, texts[draw(6)]) : NULL;
	c->totals.probes = draw(1000);
	c->totals.memory_bytes = UINT64_MAX - draw(2);
	c->totals.seconds_install = draw(1000) / 7.0;
	ki_coverage_total(c);
	return c;
}

static char *write_json(const struct ki_coverage *c, size_t *len)
{
	char *text;
	FILE *f = open_memstream(&text, len);

	assert_non_null(f);
	assert_int_equal(ki_coverage_write_json(c, f), 0);
	fclose(f);
	return text;
}

static struct ki_coverage *parse(char *text, size_t len, int expected)
{
	FILE *f = fmemopen(text, len, "r");
	struct ki_coverage *c = NULL;
	struct ki_err err = {0};

	assert_non_null(f);
	assert_int_equal(ki_coverage_parse(f, "text", &c, &err), expected);
	assert_true(!expected == !*err.msg);
	fclose(f);
	return c;
}

static bool same_text(const char *a, const char *b)
{
	return (!a && !b) || (a && b && !strcmp(a, b));
}

static void assert_same(const struct ki_coverage *a, const struct ki_coverage *b)
{
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->nfunctions, b->nfunctions);
	assert_int_equal(a->nblocks, b->nblocks);
	assert_int_equal(a->nedges, b->nedges);
	assert_true(same_text(a->release, b->release) && same_text(a->command, b->command));
	assert_memory_equal(&a->totals, &b->totals, sizeof(a->totals));
	for (size_t i = 0; i < a->nfunctions; i++) {
		const struct ki_cover_function *f = &a->functions[i], *g = &b->functions[i];

		assert_true(same_text(f->name, g->name) && same_text(f->module, g->module) &&
			    f->addr == g->addr && f->size == g->size && f->reason == g->reason &&
			    f->first_block == g->first_block && f->nblocks == g->nblocks &&
			    f->first_edge == g->first_edge && f->nedges == g->nedges);
	}
	for (size_t i = 0; i < a->nblocks; i++) {
		struct ki_cover_block p = a->blocks[i], q = b->blocks[i];

		assert_true(p.off == q.off && p.len == q.len && p.count == q.count &&
			    p.how == q.how && p.reason == q.reason);
	}
	for (size_t i = 0; i < a->nedges; i++) {
		struct ki_cover_edge p = a->edges[i], q = b->edges[i];

		assert_true(p.from == q.from && p.to == q.to && p.count == q.count &&
			    p.kind == q.kind && p.how == q.how);
	}
}

static void files_come_back(void **unused)
{
	(void)unused;
	for (state = 1; state < 2000; state++) {
		uint64_t seed = state;
		struct ki_coverage *c = draw_coverage(), *back;
		size_t len;
		char *text = write_json(c, &len);

		back = parse(text, len, 0);
		assert_same(c, back);
		ki_coverage_free(back);
		/* cut anywhere, it is none */
		parse(text, 1 + draw((uint32_t)len - 2), -EINVAL);
		free(text);
		ki_coverage_free(c);
		state = seed;
	}
}

/* --- Comparison --- */

/* The same with other addresses and counts; in *changes what a comparison has to say. */
static struct ki_coverage *change_counts(const struct ki_coverage *c, uint64_t *reached,
					 uint64_t *gone, uint64_t *compared)
{
	struct ki_coverage *d = new (c->mode);

	for (size_t i = 0; i < c->nfunctions; i++) {
		struct ki_cover_function f = c->functions[i];

		f.addr += 0x5000;
		assert_int_equal(ki_coverage_append(d, &f, c->blocks + f.first_block,
						    c->edges + f.first_edge, NULL),
				 0);
	}
	for (size_t i = 0; i < d->nblocks; i++) {
		struct ki_cover_block *b = &d->blocks[i];

		if (b->how == KI_COVER_UNKNOWN)
			continue;
		b->count = draw_count(c->mode);
		++*compared;
		*reached += !c->blocks[i].count && b->count;
		*gone += c->blocks[i].count && !b->count;
	}
	ki_coverage_total(d);
	return d;
}

static void check_diff(const struct ki_cover_diff *d, const struct ki_cover_diff_options *o)
{
	for (size_t i = 0; i < d->nfunctions; i++) {
		const struct ki_cover_diff_function *f = &d->functions[i];
		uint32_t sum = 0;

		for (int k = 0; k < KI_COVER_CHANGES; k++)
			sum += f->changes[k];
		assert_int_equal(sum, f->n);
		assert_true(!i || d->functions[i - 1].match <= f->match);
	}
	for (size_t i = 0; i < d->nblocks; i++) {
		const struct ki_cover_diff_block *b = &d->blocks[i];
		uint64_t more = b->after, less = b->before;

		if (b->change == KI_COVER_COLDER) {
			more = b->before;
			less = b->after;
		}
		if (b->change >= KI_COVER_HOTTER)
			assert_true(less && more - less >= o->least &&
				    (double)more >= o->ratio * (double)less && more > less);
		else
			assert_true(!more != !less && !b->after == (b->change == KI_COVER_GONE));
	}
}

static void compares(void **unused)
{
	(void)unused;
	for (state = 1; state < 2000; state++) {
		uint64_t seed = state, reached = 0, gone = 0, compared = 0;
		struct ki_cover_diff_options o = {
			.size = sizeof(o), .ratio = 1 + draw(3), .least = 1 + draw(9)};
		struct ki_coverage *a = draw_coverage(),
				   *b = change_counts(a, &reached, &gone, &compared);
		struct ki_cover_diff *d;

		assert_int_equal(ki_coverage_diff(a, b, &o, &d, NULL), 0);
		assert_int_equal(d->matches[KI_COVER_SAME], a->nfunctions);
		assert_int_equal(d->changes[KI_COVER_REACHED], reached);
		assert_int_equal(d->changes[KI_COVER_GONE], gone);
		assert_int_equal(d->compared, compared);
		assert_int_equal(d->compared + d->unknown, a->nblocks);
		assert_true(d->counted == (a->mode != KI_COVER_HIT));
		check_diff(d, &o);
		ki_coverage_diff_free(d);
		assert_int_equal(ki_coverage_diff(a, a, NULL, &d, NULL), 0);
		assert_int_equal(d->nfunctions + d->nblocks, 0);
		ki_coverage_diff_free(d);
		ki_coverage_free(a);
		ki_coverage_free(b);
		state = seed;
	}
}

/* --- lcov --- */

static void lcov_without_lines(void **unused)
{
	static const struct ki_cover_block blocks[] = {
		{.off = 0, .len = 4, .count = 5},
		{.off = 4, .len = 4, .count = 0},
		{.off = 8, .len = 2, .how = KI_COVER_UNKNOWN, .reason = KI_R_ENDBR},
		{.off = 16, .len = 4, .count = UINT64_MAX}};
	static const struct ki_cover_edge edges[] = {
		{.from = 0, .to = 1, .kind = KI_EDGE_FALL},
		{.from = 0, .to = 3, .kind = KI_EDGE_TAKEN, .count = 5},
		{.from = 1, .to = 2, .kind = KI_EDGE_FALL},
		{.from = 1, .to = 3, .kind = KI_EDGE_TAKEN},
		{.from = 3, .to = 3, .kind = KI_EDGE_FALL, .count = 1},
		{.from = 3, .to = 1, .kind = KI_EDGE_FIXUP}};
	static const struct ki_cover_function f = {
		.name = "f", .module = "m", .addr = 0x10, .size = 20, .nblocks = 4, .nedges = 6};
	struct ki_coverage *c = new (KI_COVER_EDGES);
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	(void)unused;
	assert_int_equal(ki_coverage_append(c, &f, blocks, edges, NULL), 0);
	assert_int_equal(ki_coverage_append(c, &f, blocks, edges, NULL), 0);
	assert_int_equal(ki_coverage_write_lcov(c, NULL, out, NULL), 0);
	fclose(out);
	assert_string_equal(text, "TN:\n"
				  "SF:m/f\nFN:1,f\nFNDA:5,f\nFNF:1\nFNH:1\n"
				  "BRDA:4,0,0,0\nBRDA:4,0,1,5\nBRDA:8,1,0,-\nBRDA:8,1,1,-\n"
				  "BRF:4\nBRH:1\n"
				  "DA:1,5\nDA:5,0\nDA:17,18446744073709551615\nLF:3\nLH:2\n"
				  "end_of_record\n"
				  "SF:m/f#2\nFN:1,f\nFNDA:5,f\nFNF:1\nFNH:1\n"
				  "BRDA:4,4,0,0\nBRDA:4,4,1,5\nBRDA:8,5,0,-\nBRDA:8,5,1,-\n"
				  "BRF:4\nBRH:1\n"
				  "DA:1,5\nDA:5,0\nDA:17,18446744073709551615\nLF:3\nLH:2\n"
				  "end_of_record\n");
	free(text);
	ki_coverage_free(c);
}

static void names(void **unused)
{
	(void)unused;
	assert_string_equal(ki_cover_mode_name(KI_COVER_EDGES), "edges");
	assert_string_equal(ki_cover_mode_name(KI_COVER_MODES), "?");
	assert_string_equal(ki_cover_how_name(KI_COVER_UNKNOWN), "unknown");
	assert_string_equal(ki_edge_kind_name(KI_EDGE_RETURN), "return");
	assert_string_equal(ki_edge_kind_name(KI_EDGE_RETURN + 1), "?");
	assert_string_equal(ki_cover_change_name(KI_COVER_COLDER), "colder");
	assert_string_equal(ki_cover_match_name(KI_COVER_ONLY_NEW), "only-new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_what_contradicts_itself),
		cmocka_unit_test(keeps_the_order),
		cmocka_unit_test(totals_are_sums),
		cmocka_unit_test(strings_are_one),
		cmocka_unit_test(files_come_back),
		cmocka_unit_test(compares),
		cmocka_unit_test(lcov_without_lines),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
