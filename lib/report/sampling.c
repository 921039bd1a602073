// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Of what a budget has left out: how many hits a record stands for.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/inside.h"
#include "util/search.h"

static int by_time(const void *a, const void *b)
{
	const struct ki_record_event *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

int ki_report_sampling_begin(struct ki_report *c)
{
	size_t n;
	const struct ki_record_event *e = ki_recording_events(c->r, &n);

	c->nsampling = 0;
	c->sampling = calloc(n + 1, sizeof(*c->sampling));
	if (!c->sampling)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (e[i].kind == KI_EVENT_SAMPLING)
			c->sampling[c->nsampling++] = e[i];
	qsort(c->sampling, c->nsampling, sizeof(*c->sampling), by_time);
	return 0;
}

void ki_report_sampling_end(struct ki_report *c)
{
	free(c->sampling);
	c->sampling = NULL;
}

/* How many of the sorted ones are of that instrument and time, or before. */
static size_t up_to(const struct ki_report *c, uint32_t id, uint64_t tsc)
{
	const struct ki_record_event wanted = {.id = id, .tsc = tsc};
	return KI_FIRST(i, c->nsampling, by_time(&c->sampling[i], &wanted) > 0);
}

uint64_t ki_report_factor(const struct ki_report *c, const struct ki_record *rec)
{
	for (size_t i = up_to(c, rec->id, rec->tsc); i && c->sampling[i - 1].id == rec->id; i--)
		if (c->sampling[i - 1].value)
			return c->sampling[i - 1].value;
	return 1;
}

struct ki_report_sampling ki_report_sampling(const struct ki_report *c,
					     const struct ki_instrument *in)
{
	struct ki_report_sampling s = {.rarest = 1, .out = -1};

	for (size_t i = up_to(c, in->id, UINT64_MAX); i && c->sampling[i - 1].id == in->id; i--) {
		const struct ki_record_event *e = &c->sampling[i - 1];

		if (!e->value)
			s.out = ki_report_time(c, e->tsc);
		else if (e->value > s.rarest)
			s.rarest = e->value;
	}
	return s;
}
