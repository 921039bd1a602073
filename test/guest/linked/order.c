// SPDX-License-Identifier: GPL-2.0-only
/*
 * order FUNCTION: two sessions put counters with different orders at the function's start; in the
 * patch, as it stands in memory, they must be in the order of their order, and where that is the
 * same in the order of their installation. What is taken out leaves the others as they were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/splice.h"

#define COUNTERS 3

static const uint8_t inc_gs[] = {0x65, 0x48, 0xff, 0x04, 0x25};

struct session {
	struct ki_target *t;
	struct ki_plan *plan;
	uint32_t first; /* its counters */
};

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "order: %s: %s\n", what, err->msg);
	exit(1);
}

/* Counters `first`, `first` + 1 ... at the function's start, with these orders. */
static void begin(struct session *s, const char *name, const uint16_t *orders)
{
	const struct ki_point start = {.kind = KI_POINT_START};
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_place *place;
	struct ki_err err = {0};
	struct ki_code code;
	uint32_t id;
	size_t n;

	if (ki_target_new_live(&s->t, &err) || ki_plan_new(&s->plan) ||
	    ki_counters_take(s->t, COUNTERS, &s->first, &err) ||
	    ki_function_analyze(s->t, ki_target_symbol_named(s->t, "", name, NULL), &fn, &err) ||
	    ki_spans_find(fn, &spans, &err) ||
	    ki_point_places(fn, &spans, &start, &place, &n, &err) || place->reason)
		die(name, &err);
	for (uint32_t i = 0; i < COUNTERS; i++) {
		ki_snippet_count(&code, s->first + i, place->flags_live);
		if (ki_plan_add(s->plan, &(struct ki_insertion){fn, &spans, place, orders[i]},
				&code, &id, &err))
			die("add", &err);
	}
	if (ki_plan_apply(s->plan, s->t, false, &err))
		die("apply", &err);
	free(place);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static void end(struct session *s)
{
	struct ki_err err = {0};

	if (ki_plan_remove(s->plan, s->t, &err))
		die("remove", &err);
	ki_plan_free(s->plan);
	ki_target_free(s->t);
}

/*
 * Where the first jump of the function's first bytes leads: the patch. A function that begins with
 * a window too short for it (an endbr that the kernel has made a nop) jumps to that jump.
 */
static uint64_t find_patch(struct ki_target *t, const struct ki_symbol *sym)
{
	const struct ki_info *info = ki_target_info(t);
	uint64_t from = sym->addr;
	uint8_t bytes[32];

	if (ki_target_read(t, from, bytes, sizeof(bytes), KI_VIEW_LIVE, NULL))
		return 0;
	if (bytes[0] == 0xeb) {
		from += 2 + (uint64_t)(int64_t)(int8_t)bytes[1];
		if (ki_target_read(t, from, bytes, sizeof(bytes), KI_VIEW_LIVE, NULL))
			return 0;
	}
	for (size_t i = 0; i + 5 <= sizeof(bytes); i++) {
		int32_t disp;
		uint64_t to;

		memcpy(&disp, bytes + i + 1, 4);
		to = from + i + 5 + (uint64_t)(int64_t)disp;
		if (bytes[i] == 0xe9 && to >= info->heap_start && to < info->heap_end)
			return to;
	}
	return 0;
}

/* The displacements of the first n counters in the patch; false: there are others. */
static bool read_counters(struct ki_target *t, const char *name, int32_t *disps, size_t n)
{
	uint64_t patch = find_patch(t, ki_target_symbol_named(t, "", name, NULL));
	uint8_t bytes[16 * 24];
	size_t found = 0;

	if (!patch || ki_target_read(t, patch, bytes, sizeof(bytes), KI_VIEW_LIVE, NULL))
		return false;
	for (size_t i = 0; found < n && i + sizeof(inc_gs) + 4 <= sizeof(bytes); i++)
		if (!memcmp(bytes + i, inc_gs, sizeof(inc_gs)))
			memcpy(&disps[found++], bytes + i + sizeof(inc_gs), 4);
	return found == n;
}

/* want: numbers of counters, from the first session's first on; displacements ascend by 8. */
static int check(struct session *s, const char *name, uint32_t base, const uint32_t *want, size_t n)
{
	int32_t disps[2 * COUNTERS], least;

	if (!read_counters(s->t, name, disps, n)) {
		fprintf(stderr, "order: no patch with %zu counters\n", n);
		return 1;
	}
	least = disps[0] - 8 * (int32_t)(want[0] - base);
	for (size_t i = 0; i < n; i++)
		if (disps[i] != least + 8 * (int32_t)(want[i] - base)) {
			fprintf(stderr, "order: chunk %zu is counter %d, not %u\n", i,
				(disps[i] - least) / 8, want[i] - base);
			return 1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	struct session a, b;
	uint32_t f, g;
	int bad = 0;

	if (argc != 2)
		return 2;
	begin(&a, argv[1], (const uint16_t[]){5, 0, 65535});
	begin(&b, argv[1], (const uint16_t[]){5, 7, 0});
	f = a.first;
	g = b.first;
	bad |= check(&a, argv[1], f, (const uint32_t[]){f + 1, g + 2, f, g, g + 1, f + 2}, 6);
	end(&a);
	bad |= check(&b, argv[1], g, (const uint32_t[]){g + 2, g, g + 1}, 3);
	begin(&a, argv[1], (const uint16_t[]){5, 5, 0});
	f = a.first;
	bad |= check(&a, argv[1], f < g ? f : g,
		     (const uint32_t[]){g + 2, f + 2, g, f, f + 1, g + 1}, 6);
	end(&b);
	end(&a);
	return bad;
}
