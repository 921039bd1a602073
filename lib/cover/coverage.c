// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "cover/coverage.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cover/strings.h"

/* What the public structure does not show: room for more, and all strings once. */
struct store {
	struct ki_strings strings;
	size_t cap_functions, cap_blocks, cap_edges;
};

int ki_coverage_new(enum ki_cover_mode mode, struct ki_coverage **out, struct ki_err *err)
{
	struct ki_coverage *c = calloc(1, sizeof(*c));
	struct store *s = calloc(1, sizeof(*s));

	if (!c || !s) {
		free(c);
		free(s);
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	}
	c->mode = mode;
	c->strings = s;
	*out = c;
	return 0;
}

void ki_coverage_free(struct ki_coverage *c)
{
	struct store *s = c ? c->strings : NULL;

	if (!c)
		return;
	ki_strings_free(&s->strings);
	free(s);
	free(c->functions);
	free(c->blocks);
	free(c->edges);
	free(c);
}

const char *ki_coverage_intern(struct ki_coverage *c, const char *text)
{
	struct store *s = c->strings;

	return text ? ki_strings_keep(&s->strings, text) : NULL;
}

static const char *block_fault(const struct ki_coverage *c, const struct ki_cover_function *f,
			       const struct ki_cover_block *b, uint32_t from)
{
	if (b->off < from)
		return "is not behind the one before it";
	if (!b->len || b->off > f->size || b->len > f->size - b->off)
		return "is not inside the function";
	if (b->how > KI_COVER_UNKNOWN || b->reason >= KI_R_COUNT)
		return "has no such state";
	if ((b->how == KI_COVER_UNKNOWN) != (b->reason != KI_R_OK))
		return "has no reason to be unknown, or has one and is not";
	if (b->how == KI_COVER_UNKNOWN && b->count)
		return "is unknown and has a count";
	if (c->mode == KI_COVER_HIT && b->count > 1)
		return "has a count, though only hits are known";
	return NULL;
}

static const char *edge_fault(const struct ki_coverage *c, const struct ki_cover_function *f,
			      const struct ki_cover_edge *e)
{
	if (e->from >= f->nblocks || (e->to >= f->nblocks && e->to != KI_NONE))
		return "is between blocks that are not there";
	if (e->kind > KI_EDGE_RETURN || e->how > KI_COVER_UNKNOWN)
		return "has no such kind or state";
	if (e->count && (c->mode != KI_COVER_EDGES || e->how == KI_COVER_UNKNOWN))
		return "has a count, though it cannot be known";
	return NULL;
}

static const char *function_fault(const struct ki_coverage *c, const struct ki_cover_function *f)
{
	if (!f->name || !*f->name || (f->module && !*f->module))
		return "has no name";
	if (f->reason >= KI_R_COUNT)
		return "has no such reason";
	if (f->addr + f->size < f->addr)
		return "goes beyond the last address";
	if (c->nfunctions && f->addr < c->functions[c->nfunctions - 1].addr)
		return "is not in order of address";
	if (c->nblocks + f->nblocks > UINT32_MAX || c->nedges + f->nedges > UINT32_MAX)
		return "has too many blocks";
	return NULL;
}

static int check(const struct ki_coverage *c, const struct ki_cover_function *f,
		 const struct ki_cover_block *blocks, const struct ki_cover_edge *edges,
		 struct ki_err *err)
{
	const char *fault = function_fault(c, f);
	uint32_t end = 0;

	if (fault)
		return ki_err_set(err, -EINVAL, f->addr, "function '%.80s' %s",
				  f->name ? f->name : "", fault);
	for (uint32_t i = 0; i < f->nblocks; i++) {
		fault = block_fault(c, f, &blocks[i], end);
		if (fault)
			return ki_err_set(err, -EINVAL, f->addr, "block %u of %.80s %s", i, f->name,
					  fault);
		end = blocks[i].off + blocks[i].len;
	}
	for (uint32_t i = 0; i < f->nedges; i++) {
		fault = edge_fault(c, f, &edges[i]);
		if (fault)
			return ki_err_set(err, -EINVAL, f->addr, "edge %u of %.80s %s", i, f->name,
					  fault);
	}
	return 0;
}

/* Room for more after n elements of *array. */
static int room(void *array, size_t n, size_t *cap, size_t more, size_t size)
{
	void **v = array, *p = ki_vec_grow(*v, n, cap, more, size);

	if (p)
		*v = p;
	return p ? 0 : -ENOMEM;
}

int ki_coverage_append(struct ki_coverage *c, const struct ki_cover_function *f,
		       const struct ki_cover_block *blocks, const struct ki_cover_edge *edges,
		       struct ki_err *err)
{
	struct store *s = c->strings;
	struct ki_cover_function own = *f;
	int ret = check(c, f, blocks, edges, err);

	if (ret)
		return ret;
	own.name = ki_coverage_intern(c, f->name);
	own.module = ki_coverage_intern(c, f->module);
	own.first_block = (uint32_t)c->nblocks;
	own.first_edge = (uint32_t)c->nedges;
	if (!own.name || (f->module && !own.module) ||
	    room(&c->functions, c->nfunctions, &s->cap_functions, 1, sizeof(own)) ||
	    room(&c->blocks, c->nblocks, &s->cap_blocks, f->nblocks, sizeof(*blocks)) ||
	    room(&c->edges, c->nedges, &s->cap_edges, f->nedges, sizeof(*edges)))
		return ki_err_set(err, -ENOMEM, f->addr, "out of memory");
	if (f->nblocks)
		memcpy(c->blocks + c->nblocks, blocks, f->nblocks * sizeof(*blocks));
	if (f->nedges)
		memcpy(c->edges + c->nedges, edges, f->nedges * sizeof(*edges));
	c->functions[c->nfunctions++] = own;
	c->nblocks += f->nblocks;
	c->nedges += f->nedges;
	return 0;
}
