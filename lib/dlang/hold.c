// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/hold.h"

#include <errno.h>
#include <string.h>

void ki_d_hold_free(struct ki_d_hold *h)
{
	ki_vec_free(&h->v);
}

int ki_d_hold_add(struct ki_d_hold *h, const struct ki_record *rec, const uint64_t *values,
		  unsigned int cpu, bool open)
{
	struct ki_d_held r = {.rec = *rec, .cpu = cpu, .open = open};

	memcpy(r.values, values, rec->words * sizeof(*values));
	if (ki_vec_push(&h->v, r))
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

int ki_d_hold_close(struct ki_d_hold *h, const struct ki_dlang *d, const uint64_t *probe_and_clause,
		    unsigned int cpu, ki_d_held_each *f, void *arg)
{
	const size_t n = h->v.n;
	int ret = 0;

	for (size_t i = 0; !ret && i < n && i < h->v.n; i++) {
		const struct ki_d_held *r = &h->v.v[i];

		if (!r->gone && r->open && r->cpu == cpu && r->values[0] == probe_and_clause[0] &&
		    d->batches.v[r->rec.id].clause == probe_and_clause[1])
			ret = take(h, i, f, arg);
	}
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

int ki_d_hold_speculate(struct ki_d_hold *h, const struct ki_dlang *d, const struct ki_d_held *r)
{
	const uint64_t number = r->values[1], size = r->rec.words * sizeof(*r->values);

	if (!number || number > KI_D_SPECULATIONS)
		return 0;
	if (h->bytes[number] + size > (uint64_t)d->set.specsize) {
		h->lost++;
		return 0;
	}
	h->bytes[number] += size;
	return ki_d_hold_add(h, &r->rec, r->values, r->cpu, false);
}
