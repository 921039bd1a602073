// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What functions call that are true: by their code; through pointers, which are watched for a
 * while; by what is on the stacks; and by system calls and page faults.
 */
#include <errno.h>

#include "crosswalk/walk.h"
#include "kerninst/callees.h"

#define WATCH_PART 0.25 /* of a level's time */
#define LOOKS	   20	/* at stacks, in a level's time */
#define FEW_LOOKS  5

/* What watches the pointers of one side. */
struct watch {
	struct ki_crosswalk *w;
	struct ki_callees *c; /* NULL: nothing to watch */
	bool kernel;
	bool wanted; /* there are some */
};

static struct ki_target *side_of(const struct ki_crosswalk *w, bool kernel)
{
	return kernel ? w->kernel : w->process;
}

static int add_callee(struct ki_crosswalk *w, bool kernel, uint64_t to,
		      const struct ki_crosswalk_seen *by, struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_at(side_of(w, kernel), to);

	if (!sym || sym->addr != to || ki_crosswalk_add(&w->graph, sym, kernel, by) == 0)
		return 0;
	return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
}

static int open_function(const struct ki_crosswalk *w, const struct ki_crosswalk_node *n,
			 struct ki_function **fn)
{
	struct ki_target *t = side_of(w, n->kernel);
	const struct ki_symbol *sym = ki_target_symbol_at(t, n->addr);

	return sym ? ki_function_analyze(t, sym, fn, NULL) : -ENOENT;
}

static int add_direct(struct ki_crosswalk *w, uint32_t from, const struct ki_function *fn,
		      size_t *indirect, struct ki_err *err)
{
	const bool kernel = w->graph.nodes.v[from].kernel;
	uint64_t *to;
	size_t n;
	int ret = ki_callees_direct(fn, &to, &n, indirect, err);

	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < n; i++)
		ret = add_callee(w, kernel, to[i],
				 &(struct ki_crosswalk_seen){from, KI_CROSSWALK_CALL, 0}, err);
	ki_free(to);
	return ret;
}

static int watch_function(struct watch *x, const struct ki_function *fn, struct ki_err *err)
{
	int ret = 0;

	if (!x->c)
		ret = ki_callees_new(x->w->kernel, x->kernel ? NULL : x->w->process,
				     x->kernel ? x->w->own : NULL, &x->c, err);
	return ret ? ret : ki_callees_watch_all(x->c, fn, err);
}

/* A function that cannot be read calls nothing that is known. */
static int look(struct ki_crosswalk *w, uint32_t from, struct watch *watches, struct ki_err *err)
{
	const bool kernel = w->graph.nodes.v[from].kernel;
	struct ki_function *fn;
	size_t indirect = 0;
	int ret;

	if (open_function(w, &w->graph.nodes.v[from], &fn))
		return 0;
	ret = add_direct(w, from, fn, &indirect, err);
	watches[kernel].wanted |= indirect;
	if (!ret && indirect && w->kernel)
		ret = watch_function(&watches[kernel], fn, err);
	ki_function_free(fn);
	return ret;
}

static int add_watched(struct watch *x, struct ki_err *err)
{
	struct ki_callee *v;
	size_t n;
	int ret = ki_callees_read(x->c, &v, &n, err);

	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < n; i++) {
		const struct ki_symbol *sym =
			ki_target_symbol_at(side_of(x->w, x->kernel), v[i].site);
		const uint32_t from =
			sym ? ki_crosswalk_find(&x->w->graph, x->kernel, sym->addr) : KI_NONE;

		if (from != KI_NONE)
			ret = add_callee(
				x->w, x->kernel, v[i].target,
				&(struct ki_crosswalk_seen){from, KI_CROSSWALK_POINTER, v[i].site},
				err);
	}
	ki_free(v);
	return ret;
}

static int watch(struct ki_crosswalk *w, struct watch *watches, const ki_crosswalk_numbers *of,
		 struct ki_err *err)
{
	struct ki_crosswalk_crossing *crossing = NULL;
	bool any = false;
	int ret = ki_crosswalk_crossing_new(w, of, &crossing, err);

	for (unsigned int i = 0; !ret && i < 2; i++) {
		const bool has = watches[i].c && ki_callees_sites(watches[i].c);

		if (has)
			ret = ki_callees_start(watches[i].c, err);
		any |= has;
	}
	if (!ret && (any || crossing))
		ki_crosswalk_wait(w, w->o.seconds * WATCH_PART);
	for (unsigned int i = 0; !ret && i < 2; i++)
		if (watches[i].c)
			ret = add_watched(&watches[i], err);
	if (!ret && crossing)
		ret = ki_crosswalk_crossing_add(crossing, err);
	ki_crosswalk_crossing_free(crossing);
	return ret;
}

/* What was called before it was watched is seen on stacks alone. Without the driver nothing is
   watched: then more of them tell what takes its share of the time. */
static int look_around(struct ki_crosswalk *w, const ki_crosswalk_numbers *of, struct ki_err *err)
{
	const unsigned int looks = w->kernel ? FEW_LOOKS : LOOKS;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < looks && ki_crosswalk_wait(w, w->o.seconds / LOOKS);
	     i++) {
		ki_crosswalk_stand_free(&w->now);
		ret = ki_crosswalk_stand_take(w, true, &w->now, err);
		if (!ret)
			ret = ki_crosswalk_add_standing(w, of, err);
	}
	return ret;
}

int ki_crosswalk_expand(struct ki_crosswalk *w, const ki_crosswalk_numbers *of, struct ki_err *err)
{
	struct watch watches[2] = {{w, NULL, false, false}, {w, NULL, true, false}};
	int ret = 0;

	for (size_t i = 0; !ret && i < of->n; i++)
		ret = look(w, of->v[i], watches, err);
	if (!ret && of->n)
		ret = watch(w, watches, of, err);
	ki_callees_free(watches[0].c);
	ki_callees_free(watches[1].c);
	if (!ret)
		ret = ki_crosswalk_add_standing(w, of, err);
	return !ret && watches[0].wanted ? look_around(w, of, err) : ret;
}
