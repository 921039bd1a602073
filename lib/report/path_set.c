// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "report/paths.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

static const struct ki_record_field duration = {"time", "", KI_U64, KI_SHOW_SECONDS};

static int by_steps(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->nsteps != y->nsteps)
		return x->nsteps < y->nsteps ? -1 : 1;
	if (x->cut != y->cut)
		return x->cut ? 1 : -1;
	return memcmp(x->steps, y->steps, x->nsteps * sizeof(*x->steps));
}

static void free_path(void *path)
{
	struct path *p = path;

	free(p->sums);
	free(p);
}

/* Its steps stand after its sums. */
static struct path *new_path(const struct path *key)
{
	size_t sums = key->nsteps * sizeof(*key->sums);
	struct path *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = *key;
	p->sums = calloc(1, sums + key->nsteps * sizeof(*key->steps));
	if (!p->sums) {
		free(p);
		return NULL;
	}
	p->steps = memcpy(p->sums + key->nsteps, key->steps, key->nsteps * sizeof(*key->steps));
	return p;
}

static int find(struct path_set *s, const struct path *key, struct path **out)
{
	struct path *const *there = tfind(key, &s->tree, by_steps);

	*out = there ? *there : NULL;
	if (there || (s->most && s->rows.n > s->most))
		return 0;
	*out = new_path(key);
	if (!*out)
		return -ENOMEM;
	if (!tsearch(*out, &s->tree, by_steps)) {
		free_path(*out);
		return -ENOMEM;
	}
	return ki_vec_push(&s->rows, *out);
}

/* Between the root's entry and its exit, or at other points of the root. */
static bool has_inside(const struct path_set *s, const struct walk *w)
{
	if (w->enclosed)
		return w->steps.n > 2;
	for (size_t i = 1; i < w->steps.n; i++)
		if (!ki_walks_is_of(&s->walks, &w->steps.v[i], w->root))
			return false;
	return w->steps.n > 1;
}

static int add_walk(void *arg, const struct walk *w)
{
	struct path_set *s = arg;
	const struct path key = {.tid = s->by_thread ? w->tid : 0,
				 .cut = w->cut,
				 .nsteps = w->steps.n,
				 .steps = w->steps.v};
	struct path *p;
	int ret = find(s, &key, &p);

	for (size_t i = 0; i < w->steps.n; i++)
		s->steps += w->seen.v[i].times;
	s->branches |= has_inside(s, w);
	if (ret || !p)
		return ret;
	ki_spread_add(&p->duration, &duration, ki_report_ns(w->end - w->start), 1);
	for (size_t i = 0; i < p->nsteps; i++) {
		p->sums[i].after += w->seen.v[i].time - w->start;
		p->sums[i].times += w->seen.v[i].times;
	}
	return 0;
}

int ki_path_set_begin(struct path_set *s, struct ki_report *c)
{
	s->walks.done = add_walk;
	s->walks.arg = s;
	return ki_walks_begin(&s->walks, c);
}

int ki_path_set_record(struct path_set *s, const struct ki_report_record *e)
{
	s->sampled |= e->factor > 1;
	return ki_walks_record(&s->walks, e);
}

/* The most first; of as many, in the order in which they were met. */
static int by_count(const void *a, const void *b)
{
	const struct path *x = *(const struct path *const *)a;
	const struct path *y = *(const struct path *const *)b;

	return (x->duration.n < y->duration.n) - (x->duration.n > y->duration.n);
}

int ki_path_set_end(struct path_set *s)
{
	int ret = ki_walks_end(&s->walks);

	if (s->rows.n)
		qsort(s->rows.v, s->rows.n, sizeof(*s->rows.v), by_count);
	return ret;
}

void ki_path_set_free(struct path_set *s)
{
	tdestroy(s->tree, free_path);
	ki_vec_free(&s->rows);
	ki_walks_free(&s->walks);
}

bool ki_path_set_fits(const struct path_set *s, uint64_t shown)
{
	return s->branches && !s->sampled && s->rows.n <= s->most && 2 * s->steps >= shown;
}
