// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sizes that options say. A buffer that has no room for one record, one row of an aggregation, one
 * variable of a thread or element of an array, as the reference has them, is refused as there. Rows
 * and elements that have no room are dropped where a program asks for less than is usual. A record
 * for which a smaller bufsize has no room is left out where it is read: what has come from a CPU
 * since the last reading is what the buffer holds. How many frames stacks have.
 */
#include <errno.h>

#include "dlang/run/run.h"
#include "dlang/words/names.h"

#define RECORD_HEAD	24 /* with what the buffer puts before a record */
#define KEPT_HEAD	4  /* of one that is kept until the end */
#define SPECULATED_HEAD 16 /* of one in a speculation's buffer */
#define ROW_HEAD	12
#define LEAST_WORDS	5 /* of a record: ERROR's arguments, which each program has */

uint32_t ki_d_stack_frames(const struct ki_dlang *d, struct ki_d_type t)
{
	const int64_t n = t.num ? t.num : t.user ? d->set.ustackframes : d->set.stackframes;

	return (uint32_t)(n < d->set.maxframes ? n : d->set.maxframes);
}

bool ki_d_stack_fits(const struct ki_dlang *d, uint64_t word)
{
	return word >> KI_D_DEPTH_SHIFT <= (uint64_t)d->set.maxframes + 1;
}

static uint64_t bytes_of(struct ki_dlang *d, struct ki_d_type t)
{
	const int64_t frames = t.num ? t.num : d->set.stackframes;

	if (ki_d_is_scalar(t))
		return ki_d_size(t);
	if (ki_d_is_string(t))
		return (uint64_t)d->set.strsize + 1;
	if (t.base == KI_D_STACK)
		return sizeof(uint64_t) * (uint64_t)frames;
	return ki_d_is_place(t) ? sizeof(uint64_t) : ki_d_sizeof(&d->types, t);
}

static uint64_t aligned(uint64_t at, uint64_t size)
{
	const uint64_t to = size && size < sizeof(uint64_t) ? size : sizeof(uint64_t);

	return (at + to - 1) / to * to + size;
}

static uint64_t bytes_behind(struct ki_dlang *d, const struct ki_d_clause *c, uint64_t head)
{
	uint64_t n = head;

	for (uint32_t i = c->first_batch; i < c->first_batch + c->nbatches; i++) {
		const struct ki_d_batch *b = &d->batches.v[i];

		for (uint32_t k = b->first; k < b->first + b->n; k++)
			for (unsigned int j = 0; j < d->actions.v[k].nargs; j++) {
				const struct ki_d_arg *a = &d->actions.v[k].args[j];

				n = aligned(n, a->size ? a->size : bytes_of(d, a->node->type));
			}
	}
	return n;
}

static uint64_t head_of(const struct ki_dlang *d)
{
	return d->set.bufpolicy == KI_D_SWITCH ? RECORD_HEAD : KEPT_HEAD;
}

uint64_t ki_d_record_bytes(struct ki_dlang *d, uint32_t clause)
{
	return bytes_behind(d, &d->clauses.v[clause], head_of(d));
}

uint64_t ki_d_speculated_bytes(struct ki_dlang *d, uint32_t clause)
{
	return bytes_behind(d, &d->clauses.v[clause], SPECULATED_HEAD);
}

static bool exits(const struct ki_dlang *d, const struct ki_d_clause *c)
{
	for (uint32_t i = c->first_batch; i < c->first_batch + c->nbatches; i++)
		for (uint32_t k = 0; k < d->batches.v[i].n; k++) {
			const struct ki_d_node *n = d->actions.v[d->batches.v[i].first + k].node;

			if (n && n->sym.function->kind == KI_D_F_EXIT)
				return true;
		}
	return false;
}

bool ki_d_has_room(struct ki_dlang *d, unsigned int cpu, uint32_t batch)
{
	struct ki_d_room *r = &d->run->rooms[cpu % KI_D_ROOMS];
	const struct ki_d_batch *b = &d->batches.v[batch];
	const struct ki_d_clause *c = &d->clauses.v[b->clause];
	const uint64_t size = ki_d_record_bytes(d, b->clause);

	if (d->set.bufsize >= KI_D_BUFSIZE || d->set.bufpolicy != KI_D_SWITCH || b->silent ||
	    exits(d, c))
		return true;
	if (batch != c->first_batch)
		return r->left_out != b->clause + 1;
	r->left_out = 0;
	if (r->used + size <= (uint64_t)d->set.bufsize) {
		r->used += size;
		return true;
	}
	r->left_out = b->clause + 1;
	r->drops++;
	return false;
}

void ki_d_rooms_empty(struct ki_d_run *r)
{
	for (size_t i = 0; i < KI_D_ROOMS; i++)
		r->rooms[i].used = 0;
}

static uint64_t key_bytes(struct ki_dlang *d, const struct ki_d_type *keys, unsigned int nkeys)
{
	uint64_t n = sizeof(uint32_t);

	for (unsigned int i = 0; i < nkeys; i++)
		n = aligned(n, bytes_of(d, keys[i]));
	return n + ROW_HEAD - sizeof(uint32_t);
}

static uint64_t agg_bytes(struct ki_dlang *d, const struct ki_d_agg *a)
{
	return key_bytes(d, a->keys, a->nkeys) + (1 + (uint64_t)a->fn->values) * sizeof(uint64_t);
}

static uint64_t element_bytes(struct ki_dlang *d, const struct ki_d_var *v)
{
	return key_bytes(d, v->keys, v->nkeys) + bytes_of(d, v->type);
}

/* As many as a size has room for, if it is smaller than usual. */
static uint32_t rows_in(int64_t size, int64_t usual, uint64_t row, uint32_t most)
{
	const uint64_t n = (uint64_t)size / row;

	return size >= usual || n >= most ? most : n ? (uint32_t)n : 1;
}

uint32_t ki_d_agg_rows(struct ki_dlang *d, const struct ki_d_agg *a, uint32_t most)
{
	return rows_in(d->set.aggsize, KI_D_AGGSIZE, agg_bytes(d, a), most);
}

uint32_t ki_d_array_rows(struct ki_dlang *d, const struct ki_d_var *v, uint32_t most)
{
	return v->nkeys ? rows_in(d->set.dynvarsize, KI_D_DYNVARSIZE, element_bytes(d, v), most)
			: most;
}

static bool fits(struct ki_dlang *d)
{
	const uint64_t buffer = (uint64_t)d->set.bufsize;

	if (d->set.bufpolicy == KI_D_SWITCH &&
	    buffer < RECORD_HEAD + LEAST_WORDS * sizeof(uint64_t))
		return false;
	for (uint32_t i = 0; i < d->clauses.n; i++)
		if (buffer < ki_d_record_bytes(d, i))
			return false;
	for (size_t i = 0; i < d->aggs.n; i++)
		if ((uint64_t)d->set.aggsize < agg_bytes(d, d->aggs.v[i]))
			return false;
	for (size_t i = 0; i < d->vars.n; i++) {
		const struct ki_d_var *v = d->vars.v[i];

		if (v->nkeys && (uint64_t)d->set.dynvarsize < element_bytes(d, v))
			return false;
	}
	return true;
}

int ki_d_check_sizes(struct ki_dlang *d, struct ki_err *err)
{
	if (fits(d))
		return 0;
	return ki_err_set(err, -ENOSPC, 0,
			  "could not enable tracing: Enabling exceeds size of buffer");
}
