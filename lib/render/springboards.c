// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/springboards.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "kerninst/match.h"
#include "out/json.h"

const char *ki_springboard_name(unsigned int board)
{
	static const char *const names[KI_BOARD_KINDS] = {
		[KI_BOARD_JMP] = "jump",
		[KI_BOARD_BOUNCE] = "bounce",
		[KI_BOARD_TRAP] = "trap",
	};

	return names[board];
}

static void add_windows(struct ki_springboards *c, const struct ki_spans *spans)
{
	uint32_t last = KI_NONE;

	for (size_t i = 0; i < spans->n; i++) {
		const struct ki_span *s = &spans->v[i];

		c->windows[s->board]++;
		if (s->host == KI_NONE)
			continue;
		c->hosted++;
		c->hosts += s->host != last; /* bounces ascend as their windows do */
		last = s->host;
	}
}

/* Of a point that has one. */
static int find_place(const struct ki_function *fn, const struct ki_spans *spans,
		      const struct ki_point *pt, struct ki_place *out, struct ki_err *err)
{
	struct ki_place *places;
	size_t n;
	int ret = ki_point_places(fn, spans, pt, &places, &n, err);

	if (!ret)
		*out = *places;
	free(places);
	return ret;
}

static int add_entry(struct ki_springboards *c, const struct ki_function *fn,
		     const struct ki_spans *spans, uint32_t block, struct ki_err *err)
{
	const struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = block};
	struct ki_place place;
	int ret = find_place(fn, spans, &pt, &place, err);

	if (ret)
		return ret;
	if (place.reason == KI_R_OK)
		c->entries[ki_spans_at(spans, fn, place.addr)->board]++;
	else
		c->refusals[place.reason]++;
	c->refused += place.reason != KI_R_OK;
	return 0;
}

static bool is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

static int add_edge(struct ki_springboards *c, const struct ki_function *fn,
		    const struct ki_spans *spans, uint32_t edge, struct ki_err *err)
{
	const struct ki_point pt = {.kind = KI_POINT_EDGE, .edge = edge};
	struct ki_place place;
	int ret = find_place(fn, spans, &pt, &place, err);

	if (ret)
		return ret;
	c->edges++;
	c->edges_refused += place.reason != KI_R_OK;
	c->edge_refusals[place.reason] += place.reason != KI_R_OK;
	return 0;
}

int ki_springboards_add(struct ki_springboards *c, const struct ki_function *fn,
			const struct ki_spans *spans, struct ki_err *err)
{
	int ret = 0;

	if (fn->reason != KI_R_OK)
		return 0;
	c->functions++;
	add_windows(c, spans);
	for (uint32_t b = 0; !ret && b < fn->nblocks; b++)
		ret = add_entry(c, fn, spans, b, err);
	for (uint32_t e = 0; !ret && e < fn->nedges; e++)
		if (!is_call(&fn->edges[e]))
			ret = add_edge(c, fn, spans, e, err);
	return ret;
}

struct taker {
	pthread_mutex_t lock;
	struct ki_springboards *out;
	struct ki_err *err;
};

static void add_up(struct ki_springboards *to, const struct ki_springboards *c)
{
	to->functions += c->functions;
	to->hosted += c->hosted;
	to->hosts += c->hosts;
	to->refused += c->refused;
	to->edges += c->edges;
	to->edges_refused += c->edges_refused;
	for (unsigned int k = 0; k < KI_BOARD_KINDS; k++) {
		to->windows[k] += c->windows[k];
		to->entries[k] += c->entries[k];
	}
	for (unsigned int r = 0; r < KI_R_COUNT; r++) {
		to->refusals[r] += c->refusals[r];
		to->edge_refusals[r] += c->edge_refusals[r];
	}
}

static int take_one(void *arg, size_t i, const struct ki_function *fn)
{
	struct taker *t = arg;
	struct ki_springboards one = {0};
	struct ki_err err = {0};
	struct ki_spans spans;
	int ret;

	(void)i;
	if (fn->reason != KI_R_OK)
		return 0;
	ret = ki_spans_find(fn, &spans, &err);
	if (!ret)
		ret = ki_springboards_add(&one, fn, &spans, &err);
	ki_spans_free(&spans);
	pthread_mutex_lock(&t->lock);
	if (ret)
		*t->err = err;
	add_up(t->out, &one);
	pthread_mutex_unlock(&t->lock);
	return ret;
}

int ki_springboards_take(struct ki_springboards *c, struct ki_target *t, unsigned int threads,
			 struct ki_err *err)
{
	struct taker taker = {.lock = PTHREAD_MUTEX_INITIALIZER, .out = c, .err = err};
	size_t n, count = 0;
	const struct ki_symbol *all = ki_target_symbols(t, &n), **syms;
	struct timespec start, end;
	int ret;

	*c = (struct ki_springboards){0};
	clock_gettime(CLOCK_MONOTONIC, &start);
	syms = malloc((n + 1) * sizeof(*syms));
	if (!syms)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (!all[i].alias && !ki_match_is_padding(&all[i]))
			syms[count++] = &all[i];
	ret = ki_functions_analyze(t,
				   &(struct ki_functions_job){.syms = syms,
							      .n = count,
							      .threads = threads,
							      .each = take_one,
							      .arg = &taker},
				   err);
	free(syms);
	clock_gettime(CLOCK_MONOTONIC, &end);
	c->seconds =
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	return ret;
}

static double share(uint64_t part, const uint64_t kinds[KI_BOARD_KINDS])
{
	uint64_t all = 0;

	for (unsigned int k = 0; k < KI_BOARD_KINDS; k++)
		all += kinds[k];
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_refusals(const uint64_t refusals[KI_R_COUNT], FILE *out)
{
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (refusals[r])
			fprintf(out, "              %10" PRIu64 "  in none    %s\n", refusals[r],
				ki_reason_tag(r));
}

void ki_springboards_print(const struct ki_springboards *c, FILE *out)
{
	for (unsigned int k = 0; k < KI_BOARD_KINDS; k++)
		fprintf(out, "windows       %10" PRIu64 "  %6.3f %%  %s\n", c->windows[k],
			share(c->windows[k], c->windows), ki_springboard_name(k));
	fprintf(out,
		"              %10" PRIu64 "           bounce in the tails of %" PRIu64
		" other windows\n",
		c->hosted, c->hosts);
	for (unsigned int k = 0; k < KI_BOARD_KINDS; k++)
		fprintf(out, "block entries %10" PRIu64 "  %6.3f %%  %s\n", c->entries[k],
			share(c->entries[k], c->entries), ki_springboard_name(k));
	print_refusals(c->refusals, out);
	fprintf(out, "edges         %10" PRIu64 "  %6.3f %%  in a place of their own\n",
		c->edges - c->edges_refused,
		c->edges ? 100.0 * (double)(c->edges - c->edges_refused) / (double)c->edges : 0);
	print_refusals(c->edge_refusals, out);
	fprintf(out, "seconds       %10.3f  windows\n", c->seconds);
}

static void json_kinds(struct ki_json *j, const char *key, const uint64_t v[KI_BOARD_KINDS])
{
	ki_json_open(j, key, '{');
	for (unsigned int k = 0; k < KI_BOARD_KINDS; k++)
		ki_json_u64(j, ki_springboard_name(k), v[k]);
	ki_json_close(j);
}

static void json_refusals(struct ki_json *j, const char *key, const uint64_t v[KI_R_COUNT])
{
	ki_json_open(j, key, '{');
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (v[r])
			ki_json_u64(j, ki_reason_tag(r), v[r]);
	ki_json_close(j);
}

void ki_springboards_json(const struct ki_springboards *c, struct ki_json *j)
{
	ki_json_open(j, "springboards", '{');
	ki_json_u64(j, "functions", c->functions);
	json_kinds(j, "windows", c->windows);
	ki_json_u64(j, "hosted", c->hosted);
	ki_json_u64(j, "hosts", c->hosts);
	json_kinds(j, "block_entries", c->entries);
	ki_json_u64(j, "blocks_refused", c->refused);
	json_refusals(j, "refusals", c->refusals);
	ki_json_u64(j, "edges", c->edges);
	ki_json_u64(j, "edges_refused", c->edges_refused);
	json_refusals(j, "edge_refusals", c->edge_refusals);
	ki_json_double(j, "seconds", c->seconds);
	ki_json_close(j);
}
