// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which instruments are entry and exit of one function is in their points: NAME@0xADDRESS:entry,
 * :exit, :exit:after. They are brought together if both have recorded tid.
 *
 * Records may be missing: lost, or from before the beginning. An exit ends the nearest entry of its
 * function on the thread's stack; what is above that has lost its exit. An exit without any entry
 * is a record like others.
 */
#include "report/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 1024 /* lists */

enum role { ROLE_NONE, ROLE_ENTRY, ROLE_EXIT };

struct player {
	uint64_t function;
	enum role role;
	int tid; /* the field */
};

struct pairs {
	struct ki_report *c;
	const struct pairs_to *to;
	struct player *players; /* of each instrument */
	struct thread *threads[THREADS];
};

/* Is `end` the end of text? */
static bool ends(const char *text, const char *end)
{
	size_t n = strlen(text), len = strlen(end);

	return n >= len && !strcmp(text + n - len, end);
}

static struct player player_of(const struct ki_instrument *in)
{
	const char *at = strrchr(in->point, '@');
	struct player p = {.tid = ki_report_field(in, "tid")};

	if (p.tid < 0 || !at)
		return p;
	p.function = strtoull(at + 1, NULL, 0);
	if (ends(in->point, ":entry"))
		p.role = ROLE_ENTRY;
	else if (ends(in->point, ":exit") || ends(in->point, ":exit:after"))
		p.role = ROLE_EXIT;
	return p;
}

int ki_pairs_name_len(const char *name)
{
	static const char *const parts[] = {":entry", ":exit", ":exit:after"};
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (ends(name, parts[i]))
			return (int)(len - strlen(parts[i]));
	return (int)len;
}

static int by_function(const void *a, const void *b)
{
	const struct player *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

/* Entries of functions of which no exit is recorded, and exits without entry, are not of a pair. */
static int match(struct pairs *p, size_t n)
{
	struct player *exits = calloc(2 * n + 1, sizeof(*exits)), *entries = exits + n;
	size_t nexits = 0, nentries = 0;

	if (!exits)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (p->players[i].role == ROLE_EXIT)
			exits[nexits++] = p->players[i];
		if (p->players[i].role == ROLE_ENTRY)
			entries[nentries++] = p->players[i];
	}
	qsort(exits, nexits, sizeof(*exits), by_function);
	qsort(entries, nentries, sizeof(*entries), by_function);
	for (size_t i = 0; i < n; i++) {
		struct player *own = &p->players[i];
		bool exit = own->role == ROLE_EXIT;

		if (own->role != ROLE_NONE &&
		    !bsearch(own, exit ? entries : exits, exit ? nentries : nexits, sizeof(*own),
			     by_function))
			own->role = ROLE_NONE;
	}
	free(exits);
	return 0;
}

int ki_pairs_new(struct ki_report *c, const struct pairs_to *to, struct pairs **out)
{
	struct pairs *p = calloc(1, sizeof(*p));
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);

	*out = p;
	if (p)
		p->players = calloc(n + 1, sizeof(*p->players));
	if (!p || !p->players)
		return -ENOMEM;
	p->c = c;
	p->to = to;
	for (size_t i = 0; i < n; i++)
		if (ki_report_wants(c, &in[i]))
			p->players[i] = player_of(&in[i]);
	return match(p, n);
}

bool ki_pairs_any(const struct pairs *p)
{
	size_t n;

	ki_recording_instruments(p->c->r, &n);
	for (size_t i = 0; i < n; i++)
		if (p->players[i].role != ROLE_NONE)
			return true;
	return false;
}

void ki_pairs_free(struct pairs *p)
{
	for (size_t i = 0; p && i < THREADS; i++) {
		struct thread *t = p->threads[i];

		while (t) {
			struct thread *next = t->next;

			ki_vec_free(&t->stack);
			free(t);
			t = next;
		}
	}
	if (p)
		free(p->players);
	free(p);
}

static struct thread *thread_of(struct pairs *p, uint64_t tid, unsigned int cpu)
{
	struct thread **list, *t;

	if (!tid)
		tid = UINT64_C(1) << 32 | cpu;
	list = &p->threads[tid % THREADS];
	for (t = *list; t; t = t->next)
		if (t->tid == tid)
			return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	t->next = *list;
	*list = t;
	return t;
}

/* An entry whose exit has not been seen. */
static int give_up(struct pairs *p, const struct frame *f)
{
	const struct ki_report_record e = {
		.in = f->in, .values = f->values, .cpu = f->cpu, .time = f->start};

	return p->to->single(p->c, &e);
}

/* The outer half has no exit. */
static int make_room(struct pairs *p, struct thread *t)
{
	const size_t half = t->stack.n / 2;
	int ret = 0;

	for (size_t i = 0; !ret && i < half; i++)
		ret = give_up(p, &t->stack.v[i]);
	t->stack.n -= half;
	memmove(t->stack.v, t->stack.v + half, t->stack.n * sizeof(*t->stack.v));
	return ret;
}

static int push(struct pairs *p, struct thread *t, const struct ki_report_record *e,
		uint64_t function)
{
	struct frame f = {.in = e->in, .function = function, .start = e->time, .cpu = e->cpu};
	int ret = t->stack.n == REPORT_DEPTH ? make_room(p, t) : 0;

	memcpy(f.values, e->values, e->in->nfields * sizeof(*f.values));
	return ret ? ret : ki_vec_push(&t->stack, f);
}

static int pop(struct pairs *p, struct thread *t, const struct ki_report_record *e,
	       uint64_t function)
{
	size_t at = t->stack.n;
	double time;
	int ret = 0;

	while (at && t->stack.v[at - 1].function != function)
		at--;
	if (!at)
		return p->to->single(p->c, e);
	while (!ret && t->stack.n > at)
		ret = give_up(p, &t->stack.v[--t->stack.n]);
	if (!ret)
		ret = p->to->pair(p->c, t, e);
	time = e->time - t->stack.v[at - 1].start;
	t->stack.n = at - 1;
	if (t->stack.n)
		t->stack.v[t->stack.n - 1].inner += time;
	return ret;
}

int ki_pairs_record(struct pairs *p, const struct ki_report_record *e)
{
	const struct player *own = &p->players[e->index];
	struct thread *t;

	if (own->role == ROLE_NONE)
		return p->to->single(p->c, e);
	t = thread_of(p, e->values[own->tid], e->cpu);
	if (!t)
		return -ENOMEM;
	return own->role == ROLE_ENTRY ? push(p, t, e, own->function) : pop(p, t, e, own->function);
}

int ki_pairs_end(struct pairs *p)
{
	int ret = 0;

	for (size_t i = 0; i < THREADS; i++)
		for (struct thread *t = p->threads[i]; t; t = t->next)
			while (!ret && t->stack.n)
				ret = give_up(p, &t->stack.v[--t->stack.n]);
	return ret;
}
