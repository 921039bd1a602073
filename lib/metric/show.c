// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A curve's code: what stands where, and how much it is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/measure.h"
#include "splice/plan.h"

static const struct plan_chunk *chunk_of(const struct ki_measure *m, uint32_t id)
{
	return &m->plan->chunks.v[id];
}

/* The address of the instruction that a chunk stands at. */
static uint64_t place_of(const struct ki_measure *m, uint32_t id)
{
	const struct ki_chunk *c = &chunk_of(m, id)->c;
	const struct ki_window *w = &m->plan->windows.v[c->window];
	uint64_t addr = w->addr;

	for (unsigned int i = 0; i < c->insn; i++)
		addr += m->plan->copies.v[w->first_copy + i].orig_len;
	return addr;
}

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "listing: out of memory");
}

/* "before vfs_read+0x5:" */
static void put_place(const struct ki_measure *m, FILE *f, uint32_t id)
{
	static const char *const wheres[KI_WHERES] = {[KI_BEFORE] = "before",
						      [KI_AFTER] = "behind",
						      [KI_TAKEN] = "on the jump at",
						      [KI_RETURNED] = "on return from the jump at"};
	const uint64_t addr = place_of(m, id);
	const struct ki_symbol *sym = ki_target_symbol_at(m->t, addr);

	fprintf(f, "%s ", wheres[chunk_of(m, id)->c.where]);
	if (sym)
		fprintf(f, "%s+0x%" PRIx64 ":\n", sym->name, addr - sym->addr);
	else
		fprintf(f, "0x%" PRIx64 ":\n", addr);
}

/* Of a short chunk: the bare counter. */
static int bare_listing(const struct ki_chunk *c, char **out, struct ki_err *err)
{
	const struct ki_var counter = {.name = "count",
				       .kind = KI_VAR_CPU,
				       .type = KI_U64,
				       .first = (uint32_t)c->fix[0].target};
	uint8_t bytes[KI_CHUNK_MAX];
	struct ki_fixup fix = c->fix[0];
	struct ki_code_line line = {0, 1};
	const struct ki_long_code code = {
		.code = bytes, .fix = &fix, .lines = &line, .len = c->len, .nfix = 1, .nlines = 1};
	struct ki_snippet *s;
	int ret;

	memcpy(bytes, c->code, c->len);
	if (ki_snippet_new(&s))
		return no_memory(err);
	ki_snippet_body(
		s, ki_stmt_update(s, KI_UPDATE_ADD, &counter, NULL, ki_expr_const(s, KI_I64, 1)));
	ret = ki_snippet_listing(s, &code, out, err);
	ki_snippet_free(s);
	return ret;
}

static int put_chunk(const struct ki_measure *m, FILE *f, uint32_t id, const struct ki_snippet *s,
		     struct ki_err *err)
{
	const struct ki_long_code *code = ki_plan_code(m->plan, id);
	char *text;
	int ret = code && s ? ki_snippet_listing(s, code, &text, err)
			    : bare_listing(&chunk_of(m, id)->c, &text, err);

	if (ret)
		return ret;
	put_place(m, f, id);
	fputs(text, f);
	free(text);
	return 0;
}

static int put_code(const struct ki_measure *m, FILE *f, const struct code *c, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < c->sites.n; i++)
		ret = put_chunk(m, f, c->sites.v[i].chunk, c->snippet, err);
	return ret;
}

static int put_pair(const struct ki_measure *m, FILE *f, const struct pair *p, struct ki_err *err)
{
	int ret = 0;

	if (p->prior != KI_NONE)
		ret = put_code(m, f, &m->earlies.v[p->prior].code, err);
	if (!ret)
		ret = put_code(m, f, &p->start, err);
	return ret ? ret : put_code(m, f, &p->stop, err);
}

/* Of its place i; NULL: the bare counter. */
static const struct ki_snippet *snippet_of(const struct curve *c, uint32_t i)
{
	return c->snippets.n ? c->snippets.v[i < c->snippets.n ? i : 0] : NULL;
}

static int put_curve(const struct ki_measure *m, FILE *f, const struct curve *c, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && c->pair == KI_NONE && i < c->nchunks; i++)
		ret = put_chunk(m, f, c->chunk + i, snippet_of(c, i), err);
	if (c->pair != KI_NONE)
		ret = put_pair(m, f, &m->pairs.v[c->pair], err);
	if (!ret && c->other != KI_NONE)
		ret = put_pair(m, f, &m->pairs.v[c->other], err);
	return ret;
}

int ki_measure_listing(const struct ki_measure *m, uint32_t curve, char **out, struct ki_err *err)
{
	size_t len;
	FILE *f = open_memstream(out, &len);
	int ret;

	if (!f)
		return no_memory(err);
	ret = put_curve(m, f, &m->curves.v[curve], err);
	if (!ret && ferror(f))
		ret = no_memory(err);
	if (fclose(f) && !ret)
		ret = no_memory(err);
	if (ret) {
		free(*out);
		*out = NULL;
	}
	return ret;
}

/* A short chunk that keeps the flags has six instructions around the one that counts. */
static unsigned int size_of(const struct ki_measure *m, uint32_t id)
{
	const struct ki_long_code *code = ki_plan_code(m->plan, id);

	if (code)
		return code->ninsns;
	return chunk_of(m, id)->c.fix[0].off > 5 ? 7 : 1;
}

static unsigned int largest(const struct ki_measure *m, const struct code *c)
{
	unsigned int most = 0;

	for (size_t i = 0; i < c->sites.n; i++)
		if (size_of(m, c->sites.v[i].chunk) > most)
			most = size_of(m, c->sites.v[i].chunk);
	return most;
}

static unsigned int cost_of(const struct ki_measure *m, uint32_t pair)
{
	const struct pair *p = &m->pairs.v[pair];
	const unsigned int own = largest(m, &p->start) + largest(m, &p->stop);

	return own + (p->prior == KI_NONE ? 0 : largest(m, &m->earlies.v[p->prior].code));
}

unsigned int ki_measure_cost(const struct ki_measure *m, uint32_t curve)
{
	const struct curve *c = &m->curves.v[curve];
	unsigned int most = 0;

	if (c->pair != KI_NONE)
		return cost_of(m, c->pair) + (c->other != KI_NONE ? cost_of(m, c->other) : 0);
	for (uint32_t i = c->chunk; i < c->chunk + c->nchunks; i++)
		if (size_of(m, i) > most)
			most = size_of(m, i);
	return most;
}
