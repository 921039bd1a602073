// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drawings of random graphs, looked at as one would look at the picture: boxes do not touch each
 * other, lines lead from box to box through free space, and none lies upon another.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common_graph.h"
#include "out/layered.h"

#ifdef __SANITIZE_ADDRESS__
#define GRAPHS 500
#else
#define GRAPHS 1500
#endif

struct drawing {
	struct ki_layered g;
	uint32_t cap;
};

static void begin(struct drawing *d, uint32_t nboxes, uint32_t cap)
{
	*d = (struct drawing){.cap = cap, .g = {.nboxes = nboxes}};
	d->g.boxes = calloc(nboxes + 1, sizeof(*d->g.boxes));
	d->g.lines = calloc(cap + 1, sizeof(*d->g.lines));
	assert_true(d->g.boxes && d->g.lines);
	for (uint32_t b = 0; b < nboxes; b++)
		d->g.boxes[b] =
			(struct ki_box){.width = 60 + b * 37 % 150, .height = 30 + b * 53 % 90};
}

static void line(struct drawing *d, uint32_t from, uint32_t to, bool back)
{
	assert_true(d->g.nlines < d->cap);
	d->g.lines[d->g.nlines++] = (struct ki_line){.from = from, .to = to, .back = back};
}

static void end(struct drawing *d)
{
	free(d->g.boxes);
	free(d->g.lines);
	free(d->g.spots);
}

static bool apart(const struct ki_box *a, const struct ki_box *b)
{
	return a->x + a->width <= b->x || b->x + b->width <= a->x || a->y + a->height <= b->y ||
	       b->y + b->height <= a->y;
}

static void check_boxes(const struct ki_layered *g)
{
	for (uint32_t a = 0; a < g->nboxes; a++) {
		const struct ki_box *box = &g->boxes[a];

		assert_true(box->x >= 0 && box->x + box->width <= g->width);
		assert_true(box->y >= 0 && box->y + box->height <= g->height);
		for (uint32_t b = 0; b < a; b++)
			assert_true(apart(box, &g->boxes[b]));
	}
}

/* Does the piece run through the inside of a box? */
static bool hits(const struct ki_spot *s, const struct ki_box *b)
{
	return fmin(s[0].x, s[1].x) < b->x + b->width - 1 && fmax(s[0].x, s[1].x) > b->x + 1 &&
	       fmin(s[0].y, s[1].y) < b->y + b->height - 1 && fmax(s[0].y, s[1].y) > b->y + 1;
}

static void check_line(const struct ki_layered *g, const struct ki_line *l)
{
	const struct ki_spot *s = &g->spots[l->first];
	const struct ki_box *from = &g->boxes[l->from], *to = &g->boxes[l->to];

	assert_true(l->n >= 2);
	assert_true(s[0].x > from->x && s[0].x < from->x + from->width);
	assert_true(s[0].y == from->y + from->height);
	assert_true(s[l->n - 1].x > to->x && s[l->n - 1].x < to->x + to->width);
	assert_true(s[l->n - 1].y == to->y);
	assert_true(s[1].y > s[0].y && s[l->n - 1].y > s[l->n - 2].y);
	for (uint32_t i = 0; i + 1 < l->n; i++) {
		/* upright or level; nearly upright pieces are taken for straight */
		assert_true(fabs(s[i].x - s[i + 1].x) < 1.01 || s[i].y == s[i + 1].y);
		if (!l->back)
			assert_true(s[i + 1].y >= s[i].y);
		for (uint32_t b = 0; b < g->nboxes; b++)
			assert_false(hits(&s[i], &g->boxes[b]));
	}
}

/* How much of two level pieces of different lines lie upon each other. */
static bool upon(const struct ki_spot *a, const struct ki_spot *b)
{
	if (a[0].y != a[1].y || b[0].y != b[1].y || fabs(a[0].y - b[0].y) > 1)
		return false;
	return fmin(fmax(a[0].x, a[1].x), fmax(b[0].x, b[1].x)) -
		       fmax(fmin(a[0].x, a[1].x), fmin(b[0].x, b[1].x)) >
	       0;
}

/* The same of upright ones. */
static bool upright_upon(const struct ki_spot *a, const struct ki_spot *b)
{
	if (a[0].y == a[1].y || b[0].y == b[1].y || fabs(a[0].x - b[0].x) > 1)
		return false;
	return fmin(fmax(a[0].y, a[1].y), fmax(b[0].y, b[1].y)) -
		       fmax(fmin(a[0].y, a[1].y), fmin(b[0].y, b[1].y)) >
	       0;
}

static size_t check_lines_apart(const struct ki_layered *g)
{
	size_t upright = 0;

	for (uint32_t i = 0; i < g->nlines; i++)
		for (uint32_t k = 0; k < i; k++)
			for (uint32_t a = 0; a + 1 < g->lines[i].n; a++)
				for (uint32_t b = 0; b + 1 < g->lines[k].n; b++) {
					const struct ki_spot *s = &g->spots[g->lines[i].first + a];
					const struct ki_spot *t = &g->spots[g->lines[k].first + b];

					assert_false(upon(s, t));
					upright += upright_upon(s, t);
				}
	return upright;
}

static size_t check_drawing(const struct ki_layered *g)
{
	check_boxes(g);
	for (uint32_t i = 0; i < g->nlines; i++)
		check_line(g, &g->lines[i]);
	return check_lines_apart(g);
}

static void random_drawing(struct drawing *d, uint64_t *seed)
{
	uint32_t n = 1 + graph_random(seed, 40), m = graph_random(seed, 2 * n + 1);

	begin(d, n, m);
	for (uint32_t i = 0; i < m; i++) {
		uint32_t from = graph_random(seed, n), to = graph_random(seed, n);

		if (graph_random(seed, 3))
			to = (from + 1 + graph_random(seed, 3)) % n;
		line(d, from, to, to <= from);
	}
}

static void random_graphs(void **state)
{
	uint64_t seed = 5;
	size_t lines = 0, upright = 0;

	(void)state;
	for (int round = 0; round < GRAPHS; round++) {
		uint64_t again = seed;
		struct drawing d, e;

		random_drawing(&d, &seed);
		random_drawing(&e, &again);
		assert_int_equal(ki_layered_draw(&d.g), 0);
		upright += check_drawing(&d.g);
		lines += d.g.nlines;
		assert_int_equal(ki_layered_draw(&e.g), 0);
		assert_memory_equal(d.g.boxes, e.g.boxes, d.g.nboxes * sizeof(*d.g.boxes));
		assert_memory_equal(d.g.lines, e.g.lines, d.g.nlines * sizeof(*d.g.lines));
		end(&d);
		end(&e);
	}
	print_message("%zu lines, %zu pieces upon others\n", lines, upright);
	assert_true(lines > GRAPHS * 13 && !upright);
}

/* Boxes one below the other are drawn straight, and a branch beside them. */
static void simple_things(void **state)
{
	struct drawing d;

	(void)state;
	begin(&d, 3, 2);
	line(&d, 0, 1, false);
	line(&d, 1, 2, false);
	assert_int_equal(ki_layered_draw(&d.g), 0);
	check_drawing(&d.g);
	assert_int_equal(d.g.lines[0].n, 2);
	assert_int_equal(d.g.lines[1].n, 2);
	end(&d);
	begin(&d, 4, 4); /* a diamond */
	line(&d, 0, 1, false);
	line(&d, 0, 2, false);
	line(&d, 1, 3, false);
	line(&d, 2, 3, false);
	assert_int_equal(ki_layered_draw(&d.g), 0);
	check_drawing(&d.g);
	assert_true(d.g.boxes[1].y == d.g.boxes[2].y);
	assert_true(d.g.boxes[3].y > d.g.boxes[1].y && d.g.boxes[1].y > d.g.boxes[0].y);
	end(&d);
	begin(&d, 1, 2); /* two loops of one box */
	line(&d, 0, 0, true);
	line(&d, 0, 0, true);
	assert_int_equal(ki_layered_draw(&d.g), 0);
	check_drawing(&d.g);
	end(&d);
	begin(&d, 0, 0);
	assert_int_equal(ki_layered_draw(&d.g), 0);
	end(&d);
}

/* Two threads of boxes that need no crossing get none, in whatever order they are told. */
static void no_needless_crossing(void **state)
{
	struct drawing d;

	(void)state;
	begin(&d, 9, 8);
	line(&d, 0, 2, false);
	line(&d, 0, 1, false);
	for (uint32_t b = 1; b < 7; b++)
		line(&d, b, b + 2, false);
	assert_int_equal(ki_layered_draw(&d.g), 0);
	check_drawing(&d.g);
	for (uint32_t b = 1; b < 7; b += 2)
		assert_int_equal(d.g.boxes[b].x < d.g.boxes[b + 1].x,
				 d.g.boxes[b + 2].x < d.g.boxes[b + 3].x);
	end(&d);
}

static void what_is_refused(void **state)
{
	struct drawing d;

	(void)state;
	begin(&d, 2, 2);
	line(&d, 0, 1, false);
	line(&d, 1, 0, false);
	assert_int_equal(ki_layered_draw(&d.g), -EINVAL);
	d.g.lines[1].back = true;
	assert_int_equal(ki_layered_draw(&d.g), 0);
	free(d.g.spots);
	d.g.lines[1].to = 2;
	assert_int_equal(ki_layered_draw(&d.g), -EINVAL);
	end(&d);
	/* 3,000 lines along 3,000 boxes pass 4.5 million layers */
	begin(&d, 3000, 6000);
	for (uint32_t b = 0; b + 1 < 3000; b++)
		line(&d, b, b + 1, false);
	for (uint32_t b = 0; b + 1 < 3000; b++)
		line(&d, b, 2999, false);
	assert_int_equal(ki_layered_draw(&d.g), -E2BIG);
	end(&d);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Like a large function: a chain with branches over some of it, many to one common end. */
static void large_graphs(void **state)
{
	uint64_t seed = 11;
	struct drawing d;
	double start;

	(void)state;
	begin(&d, 1500, 4000);
	for (uint32_t b = 0; b + 1 < 1500; b++) {
		line(&d, b, b + 1, false);
		if (!graph_random(&seed, 2))
			line(&d, b, b + 1 + graph_random(&seed, 1500 - b - 1 < 20 ? 1 : 20), false);
		if (!graph_random(&seed, 10))
			line(&d, b, 1499, false);
		if (!graph_random(&seed, 20))
			line(&d, b, b - graph_random(&seed, b < 40 ? 1 : 40), true);
	}
	start = seconds();
	assert_int_equal(ki_layered_draw(&d.g), 0);
	print_message("%u boxes, %u lines: %.2f s, %.0f x %.0f\n", d.g.nboxes, d.g.nlines,
		      seconds() - start, d.g.width, d.g.height);
	assert_true(seconds() - start < 10);
	check_boxes(&d.g);
	end(&d);
	begin(&d, 10001, 20000); /* a jump table */
	for (uint32_t b = 1; b <= 10000; b++) {
		line(&d, 0, b, false);
		line(&d, b, 0, true);
	}
	start = seconds();
	assert_int_equal(ki_layered_draw(&d.g), 0);
	print_message("a table: %.2f s\n", seconds() - start);
	assert_true(seconds() - start < 10);
	end(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),	cmocka_unit_test(simple_things),
		cmocka_unit_test(no_needless_crossing), cmocka_unit_test(what_is_refused),
		cmocka_unit_test(large_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
