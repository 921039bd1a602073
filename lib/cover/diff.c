// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Two coverages compared. Both are put in order of module, name, address; then one walk through
 * both finds what belongs together.
 */
#include <errno.h>
#include <string.h>

#include "cover/coverage.h"
#include "util/sized.h"
#include "util/vec.h"

#define RATIO_DEFAULT 2
#define LEAST_DEFAULT 1

struct differ {
	const struct ki_coverage *old, *new;
	struct ki_cover_diff_options o;
	struct ki_cover_diff *d;
	ki_vec(struct ki_cover_diff_function) functions;
	ki_vec(struct ki_cover_diff_block) blocks;
};

static bool same_code(const struct differ *x, const struct ki_cover_function *a,
		      const struct ki_cover_function *b)
{
	const struct ki_cover_block *p = x->old->blocks + a->first_block;
	const struct ki_cover_block *q = x->new->blocks + b->first_block;

	if (a->nblocks != b->nblocks)
		return false;
	for (uint32_t i = 0; i < a->nblocks; i++)
		if (p[i].off != q[i].off || p[i].len != q[i].len)
			return false;
	return true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* KI_COVER_CHANGES: nothing that counts as a change. */
static enum ki_cover_change change_of(const struct differ *x, uint64_t before, uint64_t after)
{
	uint64_t more = before > after ? before : after, less = before > after ? after : before;

	if (!before != !after)
		return after ? KI_COVER_REACHED : KI_COVER_GONE;
	if (!x->d->counted || more - less < x->o.least ||
	    (double)more < x->o.ratio * (double)less || more == less)
		return KI_COVER_CHANGES;
	return after > before ? KI_COVER_HOTTER : KI_COVER_COLDER;
}

static int compare_block(struct differ *x, struct ki_cover_diff_function *f, uint32_t i)
{
	const struct ki_cover_block *a = &x->old->blocks[f->before->first_block + i];
	const struct ki_cover_block *b = &x->new->blocks[f->after->first_block + i];
	enum ki_cover_change change;

	if (a->how == KI_COVER_UNKNOWN || b->how == KI_COVER_UNKNOWN) {
		x->d->unknown++;
		return 0;
	}
	x->d->compared++;
	change = change_of(x, a->count, b->count);
	if (change == KI_COVER_CHANGES)
		return 0;
	f->n++;
	f->changes[change]++;
	if (__builtin_add_overflow(f->moved, distance(a->count, b->count), &f->moved))
		f->moved = UINT64_MAX;
	return ki_vec_push(&x->blocks, (struct ki_cover_diff_block){.number = i,
								    .change = (uint8_t)change,
								    .before = a->count,
								    .after = b->count});
}

/* One of them may be NULL. */
static int compare(struct differ *x, const struct ki_cover_function *a,
		   const struct ki_cover_function *b)
{
	struct ki_cover_diff_function f = {.before = a, .after = b, .first = (uint32_t)x->blocks.n};
	int ret = 0;

	f.match = !a		       ? KI_COVER_ONLY_NEW
		  : !b		       ? KI_COVER_ONLY_OLD
		  : same_code(x, a, b) ? KI_COVER_SAME
				       : KI_COVER_DIFFERS;
	x->d->matches[f.match]++;
	if (f.match == KI_COVER_SAME)
		for (uint32_t i = 0; i < a->nblocks && !ret; i++)
			ret = compare_block(x, &f, i);
	for (int i = 0; i < KI_COVER_CHANGES; i++) {
		x->d->changes[i] += f.changes[i];
		x->d->changed[i] += f.changes[i] != 0;
	}
	if (!ret && (f.n || f.match != KI_COVER_SAME))
		ret = ki_vec_push(&x->functions, f);
	return ret;
}

static int walk(struct differ *x, const struct ki_cover_function **a,
		const struct ki_cover_function **b)
{
	int ret = 0;

	while ((*a || *b) && !ret) {
		int order = !*a ? 1 : !*b ? -1 : ki_cover_by_name(*a, *b);

		ret = compare(x, order <= 0 ? *a : NULL, order >= 0 ? *b : NULL);
		a += order <= 0;
		b += order >= 0;
	}
	return ret;
}

static uint32_t new_ways(const struct ki_cover_diff_function *f)
{
	return f->changes[KI_COVER_REACHED] + f->changes[KI_COVER_GONE];
}

static int by_weight(const void *a, const void *b)
{
	const struct ki_cover_diff_function *fa = a, *fb = b;
	int order;

	if (fa->match != fb->match)
		return fa->match < fb->match ? -1 : 1;
	if (new_ways(fa) != new_ways(fb))
		return new_ways(fa) > new_ways(fb) ? -1 : 1;
	if (fa->moved != fb->moved)
		return fa->moved > fb->moved ? -1 : 1;
	/* what only one has, only stands beside its own kind */
	order = fa->before ? ki_cover_by_name(fa->before, fb->before)
			   : ki_cover_by_name(fa->after, fb->after);
	return order ? order : fa->first < fb->first ? -1 : fa->first > fb->first;
}

static void finish(struct differ *x)
{
	x->d->functions = x->functions.v;
	x->d->nfunctions = x->functions.n;
	x->d->blocks = x->blocks.v;
	x->d->nblocks = x->blocks.n;
	if (x->functions.n)
		qsort(x->functions.v, x->functions.n, sizeof(*x->functions.v), by_weight);
}

int ki_coverage_diff(const struct ki_coverage *before, const struct ki_coverage *after,
		     const struct ki_cover_diff_options *options, struct ki_cover_diff **out,
		     struct ki_err *err)
{
	const struct ki_cover_function **a = ki_coverage_by_name(before),
				       **b = ki_coverage_by_name(after);
	struct differ x = {.old = before, .new = after, .d = calloc(1, sizeof(*x.d))};
	int ret = options ? ki_sized(options->size, sizeof(*options), "a comparison", err) : 0;

	if (options)
		x.o = *options;
	x.o.ratio = x.o.ratio > 0 ? x.o.ratio : RATIO_DEFAULT;
	x.o.least = x.o.least ? x.o.least : LEAST_DEFAULT;
	if (!ret && a && b && x.d) {
		x.d->counted = before->mode != KI_COVER_HIT && after->mode != KI_COVER_HIT;
		ret = walk(&x, a, b);
	} else if (!ret) {
		ret = -ENOMEM;
	}
	free(a);
	free(b);
	if (x.d)
		finish(&x);
	if (ret) {
		ki_coverage_diff_free(x.d);
		return ret == -EINVAL ? ret : ki_err_set(err, ret, 0, "out of memory");
	}
	*out = x.d;
	return 0;
}

void ki_coverage_diff_free(struct ki_cover_diff *d)
{
	if (!d)
		return;
	free(d->functions);
	free(d->blocks);
	free(d);
}
