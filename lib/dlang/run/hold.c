// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/hold.h"

#include <errno.h>
#include <string.h>

#include "dlang/run/run.h"

void ki_d_hold_free(struct ki_d_hold *h)
{
	ki_vec_free(&h->v);
}

int ki_d_hold_add(struct ki_d_hold *h, const struct ki_d_held *r)
{
	if (ki_vec_push(&h->v, *r))
		return -ENOMEM;
	h->live++;
	return 0;
}

static void forget(struct ki_d_hold *h, struct ki_d_held *r)
{
	r->gone = true;
	if (!--h->live)
		h->v.n = 0;
}

/* f may add more; they come behind. */
static int take(struct ki_d_hold *h, size_t i, ki_d_held_each *f, void *arg)
{
	const struct ki_d_held r = h->v.v[i];

	forget(h, &h->v.v[i]);
	return f ? f(arg, &r) : 0;
}

/* Of one clause at one probe, which is open on one CPU. */
struct closing {
	const struct ki_dlang *d;
	const uint64_t *probe_and_clause;
	unsigned int cpu;
};

static bool closes(const struct closing *c, const struct ki_d_held *r)
{
	return !r->gone && r->open && r->cpu == c->cpu && r->values[0] == c->probe_and_clause[0] &&
	       c->d->batches.v[r->rec.id].clause == c->probe_and_clause[1];
}

/* Which is the first, and which the last, of what is printed now and of what is speculative. */
static void find_ends(struct ki_d_hold *h, const struct closing *c)
{
	struct ki_d_held *last[2] = {NULL, NULL};

	for (size_t i = 0; i < h->v.n; i++) {
		struct ki_d_held *r = &h->v.v[i];
		const struct ki_d_batch *b = &c->d->batches.v[r->rec.id];

		if (!closes(c, r) || b->silent)
			continue;
		r->begins = !last[b->speculative];
		last[b->speculative] = r;
	}
	for (int i = 0; i < 2; i++)
		if (last[i])
			last[i]->ends = true;
}

int ki_d_hold_close(struct ki_d_hold *h, const struct ki_dlang *d, const uint64_t *probe_and_clause,
		    unsigned int cpu, ki_d_held_each *f, void *arg)
{
	const struct closing c = {d, probe_and_clause, cpu};
	const size_t n = h->v.n;
	int ret = 0;

	find_ends(h, &c);
	for (size_t i = 0; !ret && i < n && i < h->v.n; i++)
		if (closes(&c, &h->v.v[i]))
			ret = take(h, i, f, arg);
	return ret;
}

int ki_d_hold_speculation(struct ki_d_hold *h, const struct ki_dlang *d, uint64_t number,
			  ki_d_held_each *f, void *arg)
{
	const size_t n = h->v.n;
	int ret = 0;

	if (!number || number > KI_D_SPECULATIONS)
		return 0;
	for (size_t i = 0; !ret && i < n && i < h->v.n; i++) {
		const struct ki_d_held *r = &h->v.v[i];

		if (!r->gone && !r->open && d->batches.v[r->rec.id].speculative &&
		    r->values[1] == number)
			ret = take(h, i, f, arg);
	}
	h->bytes[number] = 0;
	return ret;
}

/* All records of a clause are one in a speculation's buffer: its first one decides. */
static bool has_room(struct ki_d_hold *h, struct ki_dlang *d, const struct ki_d_held *r)
{
	const uint64_t number = r->values[1],
		       size = ki_d_speculated_bytes(d, d->batches.v[r->rec.id].clause);

	if (!r->begins)
		return !h->full[number];
	h->full[number] = h->bytes[number] + size > (uint64_t)d->set.specsize;
	h->lost += h->full[number];
	h->bytes[number] += h->full[number] ? 0 : size;
	return !h->full[number];
}

int ki_d_hold_speculate(struct ki_d_hold *h, struct ki_dlang *d, const struct ki_d_held *r)
{
	const uint64_t number = r->values[1];
	struct ki_d_held kept = *r;

	if (!number || number > KI_D_SPECULATIONS || !has_room(h, d, r))
		return 0;
	kept.open = false;
	return ki_d_hold_add(h, &kept);
}
