// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A way begins at the entry of a function when the thread is on no other. If the function's exits
 * are recorded too, it ends there; else where the next one begins, or the recording ends. Steps of
 * a loop are kept once.
 */
#include "report/walks.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 1024 /* of a way that are kept */
#define LOOP  8	   /* steps of a loop that is recognized */

enum role { ROLE_NONE, ROLE_STEP, ROLE_ENTRY, ROLE_EXIT };

struct player {
	uint64_t function;
	const struct ki_instrument *in;
	int tid;	/* the field */
	enum role role; /* of those of a function one is its entry, and one its exit */
	bool enclosed;	/* both are there */
};

/* Is the point of that kind, whatever its order? */
static bool is_kind(const char *point, const char *kind)
{
	size_t n = strlen(kind);

	return point && !strncmp(point, kind, n) && (!point[n] || point[n] == '/');
}

static struct player player_of(const struct ki_instrument *in)
{
	const char *at = strrchr(in->point, '@'), *kind = at ? strchr(at, ':') : NULL;
	struct player p = {.in = in, .tid = ki_report_field(in, "tid")};

	if (p.tid < 0 || !at)
		return p;
	p.function = strtoull(at + 1, NULL, 0);
	p.role = ROLE_STEP;
	if (is_kind(kind, ":entry"))
		p.role = ROLE_ENTRY;
	else if (is_kind(kind, ":exit") || is_kind(kind, ":exit:after"))
		p.role = ROLE_EXIT;
	return p;
}

static int by_function(const void *a, const void *b)
{
	const struct player *x = *(const struct player *const *)a;
	const struct player *y = *(const struct player *const *)b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x > y) - (x < y);
}

/* The first that has a role; others of it are steps. */
static struct player *first_of(struct player **v, size_t n, enum role role)
{
	struct player *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i]->role != role)
			continue;
		if (first)
			v[i]->role = ROLE_STEP;
		else
			first = v[i];
	}
	return first;
}

/* The players of one function. Without its entry what is at its first instruction is that. */
static void match(struct player **v, size_t n)
{
	struct player *entry = first_of(v, n, ROLE_ENTRY), *exit = first_of(v, n, ROLE_EXIT);

	for (size_t i = 0; !entry && i < n; i++)
		if (v[i]->role == ROLE_STEP && v[i]->in->addr == v[i]->function) {
			entry = v[i];
			entry->role = ROLE_ENTRY;
		}
	if (entry)
		entry->enclosed = exit != NULL;
	if (exit && !entry)
		exit->role = ROLE_STEP;
}

int ki_walks_begin(struct walks *w, struct ki_report *c)
{
	struct player **order;
	size_t n, of = 0;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);

	w->c = c;
	w->gaps = ki_recording_state(c->r)->lost || c->nsampling;
	w->players = calloc(n + 1, sizeof(*w->players));
	order = calloc(n + 1, sizeof(*order));
	for (size_t i = 0; w->players && order && i < n; i++) {
		if (!ki_report_wants(c, &in[i]))
			continue;
		w->players[i] = player_of(&in[i]);
		if (w->players[i].role != ROLE_NONE)
			order[of++] = &w->players[i];
	}
	if (of)
		qsort(order, of, sizeof(*order), by_function);
	for (size_t i = 0, next; i < of; i = next) {
		for (next = i; next < of && order[next]->function == order[i]->function;)
			next++;
		match(order + i, next - i);
	}
	free(order);
	return w->players && order ? 0 : -ENOMEM;
}

/* ---- threads ---- */

static int by_thread(const void *a, const void *b)
{
	const struct walk *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static struct walk *walk_of(struct walks *w, uint64_t tid, unsigned int cpu)
{
	const struct walk key = {.tid = tid ? tid : UINT64_C(1) << 32 | cpu};
	struct walk *const *there = tfind(&key, &w->threads, by_thread);
	struct walk *own;

	if (there)
		return *there;
	own = malloc(sizeof(*own));
	if (!own)
		return NULL;
	*own = key;
	if (tsearch(own, &w->threads, by_thread))
		return own;
	free(own);
	return NULL;
}

static void free_walk(void *walk)
{
	struct walk *w = walk;

	ki_vec_free(&w->steps);
	ki_vec_free(&w->seen);
	ki_vec_free(&w->stack);
	free(w);
}

void ki_walks_free(struct walks *w)
{
	tdestroy(w->threads, free_walk);
	free(w->players);
	*w = (struct walks){0};
}

/* ---- steps ---- */

/* What stands at the end of the way twice is there once. */
static bool drop_repeated(struct walk *w, size_t len)
{
	size_t last = w->steps.n - len, before = last - len;

	if (w->steps.n < 2 * len ||
	    memcmp(w->steps.v + before, w->steps.v + last, len * sizeof(*w->steps.v)) != 0)
		return false;
	for (size_t i = 0; i < len; i++)
		w->seen.v[before + i].times += w->seen.v[last + i].times;
	w->steps.n = w->seen.n = last;
	return true;
}

static int add_step(struct walk *w, const struct ki_report_record *e, size_t depth)
{
	const struct step s = {(uint32_t)e->index, (uint32_t)depth};

	w->end = e->time;
	if (w->steps.n == STEPS) {
		w->cut = true;
		return 0;
	}
	if (ki_vec_push(&w->steps, s) || ki_vec_push(&w->seen, (struct step_seen){e->time, 1}))
		return -ENOMEM;
	for (size_t len = 1; len <= LOOP; len++)
		if (drop_repeated(w, len))
			break;
	return 0;
}

static int finish(struct walks *w, struct walk *own)
{
	bool whole = !own->broken;
	int ret = whole && w->done ? w->done(w->arg, own) : 0;

	w->whole += whole;
	w->broken += !whole;
	w->swallowed += whole ? 0 : own->records;
	own->open = false;
	return ret;
}

static void start(struct walk *own, const struct player *p, const struct ki_report_record *e)
{
	own->steps.n = own->seen.n = own->stack.n = 0;
	own->records = 0;
	own->root = p->function;
	own->start = e->time;
	own->open = true;
	own->broken = own->cut = false;
	own->enclosed = p->enclosed;
}

/* Is this entry the beginning of the next one? Not in a function that calls itself; but where
   records are missing the exits of the one at hand are more likely to be among them. */
static bool is_next(const struct walks *w, struct walk *own, const struct player *p)
{
	const bool again = own->root == p->function, inside = own->enclosed || own->stack.n;

	if (!own->open)
		return false;
	if (own->stack.n == REPORT_DEPTH || (again && inside && w->gaps)) {
		own->broken = true;
		return true;
	}
	return again && !inside;
}

static int enter(struct walks *w, struct walk *own, const struct player *p,
		 const struct ki_report_record *e)
{
	int ret = is_next(w, own, p) ? finish(w, own) : 0;

	if (!own->open)
		start(own, p, e);
	own->records++;
	if (!ret)
		ret = add_step(own, e, own->stack.n);
	return !ret && p->enclosed ? ki_vec_push(&own->stack, p->function) : ret;
}

static int leave(struct walks *w, struct walk *own, const struct player *p,
		 const struct ki_report_record *e)
{
	size_t at = own->stack.n;
	int ret;

	while (at && own->stack.v[at - 1] != p->function)
		at--;
	if (!at) {
		own->broken = true;
		return 0;
	}
	own->broken |= at < own->stack.n;
	own->stack.n = at - 1;
	ret = add_step(own, e, own->stack.n);
	return !ret && own->enclosed && !own->stack.n ? finish(w, own) : ret;
}

int ki_walks_record(struct walks *w, const struct ki_report_record *e)
{
	const struct player *p = &w->players[e->index];
	struct walk *own;

	if (p->role == ROLE_NONE) {
		w->outside++;
		return 0;
	}
	own = walk_of(w, e->values[p->tid], e->cpu);
	if (!own)
		return -ENOMEM;
	if (p->role == ROLE_ENTRY)
		return enter(w, own, p, e);
	if (!own->open) {
		w->outside++;
		return 0;
	}
	own->records++;
	return p->role == ROLE_EXIT ? leave(w, own, p, e) : add_step(own, e, own->stack.n);
}

static void end_one(const void *node, VISIT which, void *arg)
{
	struct walk *own = *(struct walk *const *)node;
	struct walks *w = arg;

	if ((which != postorder && which != leaf) || !own->open || w->err)
		return;
	own->broken |= own->stack.n > 0;
	w->err = finish(w, own);
}

int ki_walks_end(struct walks *w)
{
	w->err = 0;
	twalk_r(w->threads, end_one, w);
	return w->err;
}

bool ki_walks_is_of(const struct walks *w, const struct step *s, uint64_t function)
{
	return w->players[s->in].function == function;
}
