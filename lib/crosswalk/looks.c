// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The parts that threads have in a level, and looks at their stacks in its time.
 *
 * A thread's part is its share of what is searched: of time 1; of CPU time what it has run; of
 * events its own of all. A look weighs a thread: 1; of CPU time only if it runs; of events by what
 * it has used since the look before. A function has of a thread's part what the looks that found
 * the thread in it weigh, of all that found the thread.
 */
#include <errno.h>

#include "crosswalk/walk.h"
#include "util/clock.h"

#define LOOK 0.04 /* seconds from one look at stacks to the next */

void ki_crosswalk_parts_free(struct ki_crosswalk_parts *p)
{
	ki_vec_free(&p->v);
}

static struct ki_crosswalk_part *part_of(struct ki_crosswalk_parts *p, pid_t tid)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (p->v.v[i].tid == tid)
			return &p->v.v[i];
	return ki_vec_push(&p->v, (struct ki_crosswalk_part){.tid = tid}) ? NULL
									  : &p->v.v[p->v.n - 1];
}

double ki_crosswalk_part(const struct ki_crosswalk_parts *p, pid_t tid)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (p->v.v[i].tid == tid)
			return p->v.v[i].part;
	return 0;
}

int ki_crosswalk_parts_begin(struct ki_crosswalk_parts *p, const struct ki_crosswalk_stand *s)
{
	*p = (struct ki_crosswalk_parts){.begun = s->at};
	for (size_t i = 0; i < s->threads.n; i++) {
		struct ki_crosswalk_part *part = part_of(p, s->threads.v[i].tid);

		if (!part)
			return -ENOMEM;
		part->ran = s->threads.v[i].ran;
		part->first = part->used = s->threads.v[i].used;
	}
	return 0;
}

int ki_crosswalk_parts_end(struct ki_crosswalk *w, struct ki_crosswalk_parts *p,
			   const struct ki_crosswalk_stand *s, double seconds)
{
	p->all = 0;
	for (size_t i = 0; i < s->threads.n; i++) {
		const struct ki_crosswalk_thread *t = &s->threads.v[i];
		struct ki_crosswalk_part *part = part_of(p, t->tid);

		if (!part)
			return -ENOMEM;
		part->part = 1;
		if (w->what == KI_WHAT_CPU)
			part->part = (double)(t->ran - part->ran) / 1e9 / (s->at - p->begun);
		if (w->what == KI_WHAT_EVENT)
			p->all += part->part = (double)(t->used - part->first);
	}
	for (size_t i = 0; w->what == KI_WHAT_EVENT && p->all > 0 && i < p->v.n; i++)
		p->v.v[i].part /= p->all;
	if (w->what != KI_WHAT_EVENT)
		p->all = seconds;
	return 0;
}

/* ---- shares of threads ---- */

int ki_crosswalk_share_add(struct ki_crosswalk_node *n, pid_t tid, double share)
{
	struct ki_crosswalk_share *v;

	for (uint32_t i = 0; i < n->nthreads; i++)
		if (n->threads[i].tid == tid) {
			n->threads[i].share += share;
			return 0;
		}
	v = realloc(n->threads, (n->nthreads + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	n->threads = v;
	v[n->nthreads++] = (struct ki_crosswalk_share){.tid = tid, .share = share};
	return 0;
}

/* ---- looks ---- */

/* In the program, and only where nothing else says it: a look holds the threads for a moment, and
   what waits begins to wait again. */
static bool is_looked_for(const struct ki_crosswalk_node *n)
{
	return !n->kernel && n->reason != KI_R_NEVER_RETURNS &&
	       (n->sampled || n->truth == KI_CROSSWALK_REFUSED);
}

static bool are_looked_for(const struct ki_crosswalk *w, const ki_crosswalk_numbers *open)
{
	for (size_t i = 0; i < open->n; i++)
		if (is_looked_for(&w->graph.nodes.v[open->v[i]]))
			return true;
	return false;
}

static double weigh(const struct ki_crosswalk *w, struct ki_crosswalk_part *p,
		    const struct ki_crosswalk_thread *t)
{
	const uint64_t before = p->used;

	p->used = t->used;
	if (w->what == KI_WHAT_EVENT)
		return (double)(t->used - before);
	return w->what == KI_WHAT_WALL || t->running;
}

static int look_at(const struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		   const struct ki_crosswalk_thread *t, double weight)
{
	for (size_t i = 0; weight > 0 && i < open->n; i++) {
		struct ki_crosswalk_node *n = &w->graph.nodes.v[open->v[i]];

		if (is_looked_for(n) && ki_crosswalk_thread_in(w, t, n) &&
		    ki_crosswalk_share_add(n, t->tid, weight))
			return -ENOMEM;
	}
	return 0;
}

static int look(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		struct ki_crosswalk_parts *p, struct ki_err *err)
{
	struct ki_crosswalk_stand s;
	int ret = ki_crosswalk_stand_take(w, true, &s, err);

	for (size_t i = 0; !ret && i < s.threads.n; i++) {
		struct ki_crosswalk_part *part = part_of(p, s.threads.v[i].tid);
		const double weight = part ? weigh(w, part, &s.threads.v[i]) : 0;

		ret = part ? look_at(w, open, &s.threads.v[i], weight) : -ENOMEM;
		if (part)
			part->weight += weight;
	}
	ki_crosswalk_stand_free(&s);
	p->looks++;
	return ret;
}

int ki_crosswalk_look(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		      struct ki_crosswalk_parts *p, struct ki_err *err)
{
	const double end = ki_now() + w->o.seconds;

	if (!are_looked_for(w, open)) {
		ki_crosswalk_wait(w, w->o.seconds);
		return 0;
	}
	while (ki_now() < end && ki_crosswalk_wait(w, LOOK))
		if (look(w, open, p, err))
			return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
	return 0;
}

/* What a thread's looks at one function weigh, as a share. */
static double share_of(const struct ki_crosswalk *w, struct ki_crosswalk_parts *p,
		       const struct ki_crosswalk_share *s)
{
	const struct ki_crosswalk_part *part = part_of(p, s->tid);

	if (w->what == KI_WHAT_WALL)
		return p->looks ? s->share / p->looks : 0;
	return part && part->weight > 0 ? s->share / part->weight * part->part : 0;
}

void ki_crosswalk_looked(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
			 struct ki_crosswalk_parts *p)
{
	for (size_t i = 0; i < open->n; i++) {
		struct ki_crosswalk_node *n = &w->graph.nodes.v[open->v[i]];

		for (uint32_t k = 0; is_looked_for(n) && k < n->nthreads; k++) {
			n->threads[k].share = share_of(w, p, &n->threads[k]);
			n->share += n->threads[k].share;
		}
	}
}
