// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/words/names.h"
#include "dlang/run/run.h"

struct ki_d_backlog_record {
	struct ki_d_backlog_record *next;
	uint64_t number;
	uint64_t bytes; /* 0: those before it count for it, and it goes with them */
	struct ki_record rec;
	bool begins, ends;
	uint64_t values[]; /* rec.words */
};

static void drop_first(struct ki_d_backlog_cpu *c)
{
	struct ki_d_backlog_record *r = c->first;

	c->first = r->next;
	c->last = c->first ? c->last : NULL;
	c->bytes -= r->bytes;
	free(r);
}

void ki_d_backlog_free(struct ki_d_backlog *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		while (b->cpus[i].first)
			drop_first(&b->cpus[i]);
	free(b->cpus);
	b->cpus = NULL;
	b->n = 0;
}

bool ki_d_backlog_keeps(const struct ki_dlang *d)
{
	return d->set.bufpolicy != KI_D_SWITCH && !d->run->backlog.over;
}

/* A clause that exits has ended the program when its record was written. */
static void note_exit(struct ki_dlang *d, const struct ki_d_held *h)
{
	const struct ki_d_batch *b = &d->batches.v[h->rec.id];
	const uint64_t *value = h->values + 1 + b->speculative;

	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct ki_d_action *a = &d->actions.v[i];

		if (a->node && a->node->sym.function->kind == KI_D_F_EXIT) {
			d->run->exited = true;
			d->run->status = (int)*value;
			return;
		}
		for (unsigned int k = 0; k < a->nargs; k++)
			value += ki_d_arg_words(d, &a->args[k]);
	}
}

static struct ki_d_backlog_cpu *cpu_of(struct ki_d_backlog *b, unsigned int cpu)
{
	struct ki_d_backlog_cpu *more;

	if (cpu < b->n)
		return &b->cpus[cpu];
	more = realloc(b->cpus, (cpu + 1) * sizeof(*more));
	if (!more)
		return NULL;
	memset(more + b->n, 0, (cpu + 1 - b->n) * sizeof(*more));
	b->cpus = more;
	b->n = cpu + 1;
	return &b->cpus[cpu];
}

static int append(struct ki_d_backlog *b, struct ki_d_backlog_cpu *c, const struct ki_d_held *h,
		  uint64_t bytes)
{
	const size_t size = h->rec.words * sizeof(*h->values);
	struct ki_d_backlog_record *r = malloc(sizeof(*r) + size);

	if (!r)
		return -ENOMEM;
	*r = (struct ki_d_backlog_record){.number = b->next++,
					  .bytes = bytes,
					  .rec = h->rec,
					  .begins = h->begins,
					  .ends = h->ends};
	memcpy(r->values, h->values, size);
	if (c->last)
		c->last->next = r;
	else
		c->first = r;
	c->last = r;
	c->bytes += bytes;
	return 0;
}

/* The oldest go, each with all records of its clause. */
static void make_room(struct ki_d_backlog_cpu *c, uint64_t bytes, uint64_t most)
{
	while (c->first && c->bytes + bytes > most) {
		drop_first(c);
		while (c->first && !c->first->bytes)
			drop_first(c);
	}
}

int ki_d_backlog_add(struct ki_dlang *d, const struct ki_d_held *h)
{
	struct ki_d_backlog *b = &d->run->backlog;
	struct ki_d_backlog_cpu *c = cpu_of(b, h->cpu);
	const uint64_t most = (uint64_t)d->set.bufsize,
		       bytes = h->begins ? ki_d_record_bytes(d, d->batches.v[h->rec.id].clause) : 0;

	if (!c)
		return -ENOMEM;
	note_exit(d, h);
	if (d->set.bufpolicy == KI_D_RING)
		make_room(c, bytes, most);
	b->full |= d->set.bufpolicy == KI_D_FILL && c->bytes + bytes > most;
	d->run->exited |= b->full;
	return b->full ? 0 : append(b, c, h, bytes);
}

/* The CPU whose first record came before those of all others; NULL: there are none. */
static struct ki_d_backlog_cpu *oldest(struct ki_d_backlog *b, unsigned int *cpu)
{
	struct ki_d_backlog_cpu *found = NULL;

	for (unsigned int i = 0; i < b->n; i++)
		if (b->cpus[i].first &&
		    (!found || b->cpus[i].first->number < found->first->number)) {
			found = &b->cpus[i];
			*cpu = i;
		}
	return found;
}

int ki_d_backlog_end(struct ki_dlang *d, ki_d_held_each *f, void *arg)
{
	struct ki_d_backlog *b = &d->run->backlog;
	struct ki_d_backlog_cpu *c;
	int ret = 0;

	b->over = true;
	for (unsigned int cpu = 0; !ret && (c = oldest(b, &cpu)); drop_first(c)) {
		const struct ki_d_backlog_record *r = c->first;
		struct ki_d_held h = {
			.rec = r->rec, .cpu = cpu, .begins = r->begins, .ends = r->ends};

		memcpy(h.values, r->values, r->rec.words * sizeof(*h.values));
		ret = f(arg, &h);
	}
	return ret;
}
