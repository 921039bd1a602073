// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where variables and aggregations are kept: globals, words of threads, locals, tables, counters.
 */
#include <errno.h>
#include <string.h>

#include "dlang/words/names.h"
#include "dlang/code/storage.h"

#define ROWS	      16384  /* of a table of numbers */
#define ROWS_RENEWED  131072 /* of what is cleared: the old rows stay */
#define ROWS_SPREAD   2048   /* of distributions of up to as many buckets; */
#define ROWS_WIDE     16     /* of those that have more, at least */
#define ROWS_WEIGHTED 8192   /* which have a row for each weight */
#define COUNTERS      256    /* taken at once */
#define BEHIND	      256    /* bytes of 0 that pointers find behind variables in memory */
#define CELLS_SPREAD  64     /* of a distribution that are counters; others are in its table */

/* Words of a variable with parts that are variables; more have a table. */
#define KI_D_WORDS	128
#define KI_D_WORDS_SELF 8
#define KI_D_WORDS_THIS 4

/* ---- variables ---- */

static int open_array(struct ki_dlang *d, struct ki_d_var *v, struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o),
					   .keys = v->nkeys + (v->scope != KI_D_GLOBAL_SCOPE) +
						   (ki_d_var_words(d, v) != 0),
					   .values = 1,
					   .rows = ki_d_array_rows(d, v, ROWS),
					   .shared = true};

	if (o.keys > KI_TABLE_KEYS)
		return ki_err_set(err, -E2BIG, 0,
				  "D: the keys of %s take %u words, and there is room for %d",
				  v->name, o.keys, KI_TABLE_KEYS);
	return ki_table_map_new(d->run->t, &o, &v->table, err);
}

/* Words of variables that a variable takes; 0: it has a table. */
static unsigned int words_of(struct ki_dlang *d, const struct ki_d_var *v)
{
	static const uint8_t most[] = {[KI_D_GLOBAL_SCOPE] = KI_D_WORDS,
				       [KI_D_SELF_SCOPE] = KI_D_WORDS_SELF,
				       [KI_D_THIS_SCOPE] = KI_D_WORDS_THIS};
	const unsigned int words = ki_d_var_words(d, v);

	if (v->nkeys || v->indexed || v->in_memory || words > most[v->scope])
		return 0;
	return words ? words : 1;
}

static unsigned int count(struct ki_dlang *d, enum ki_d_scope scope)
{
	unsigned int n = 0;

	for (size_t i = 0; i < d->vars.n; i++)
		n += d->vars.v[i]->scope == scope ? words_of(d, d->vars.v[i]) : 0;
	return n;
}

static void number(struct ki_dlang *d, enum ki_d_scope scope, uint32_t first)
{
	for (size_t i = 0; i < d->vars.n; i++)
		if (d->vars.v[i]->scope == scope) {
			d->vars.v[i]->number = first;
			first += words_of(d, d->vars.v[i]);
		}
}

static int place_variables(struct ki_dlang *d, struct ki_err *err)
{
	for (size_t i = 0; i < d->vars.n; i++)
		if (d->vars.v[i]->in_memory) {
			d->vars.v[i]->place = d->memory;
			d->memory += ki_d_var_words(d, d->vars.v[i]) * (uint32_t)sizeof(uint64_t);
		}
	d->memory += d->memory ? BEHIND : 0;
	if (d->memory <= KI_TEXTS_PIECE)
		return 0;
	return ki_err_set(err, -E2BIG, 0,
			  "D: arrays and structs whose address is used take %u bytes, and there is "
			  "room for %u: use fewer, or smaller ones",
			  d->memory - BEHIND, KI_TEXTS_PIECE - BEHIND);
}

static bool speculates_in_little(const struct ki_dlang *d)
{
	bool any = false;

	for (size_t i = 0; i < d->batches.n; i++)
		any |= d->batches.v[i].speculative;
	return any && d->set.specsize < KI_D_SPECSIZE;
}

/* How much is in each speculation. */
static int open_used(struct ki_dlang *d, struct ki_err *err)
{
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 1, .values = 1, .rows = ROWS, .shared = true};

	return speculates_in_little(d) ? ki_table_map_new(d->run->t, &o, &d->run->used, err) : 0;
}

#define OWN 3 /* globals that are no variable's: stopped, unsent, unkept */

static int take_vars(struct ki_dlang *d, struct ki_err *err)
{
	const unsigned int tokens = d->token_used ? 2 : 0;
	unsigned int words = count(d, KI_D_SELF_SCOPE) + tokens,
		     globals = count(d, KI_D_GLOBAL_SCOPE);
	uint32_t first = 0;
	int ret = ki_globals_take(d->run->t, globals + OWN, &d->run->stopped, err);

	if (!ret && (d->raises || speculates_in_little(d)))
		ret = ki_global_map_new(d->run->t, &d->run->globals, err);
	if (count(d, KI_D_THIS_SCOPE) > KI_LOCALS - KI_D_HELD_LOCALS)
		return ki_err_set(err, -E2BIG, 0, "D: more than %d variables of this->",
				  KI_LOCALS - KI_D_HELD_LOCALS);
	if (!ret && (words || d->clock_used))
		ret = ki_words_take(d->run->t, words ? words : 1, &first, err);
	if (ret)
		return ret;
	d->run->unsent = d->run->stopped + 1;
	d->run->unkept = d->run->stopped + 2;
	number(d, KI_D_GLOBAL_SCOPE, d->run->stopped + OWN);
	d->run->token = first;
	number(d, KI_D_SELF_SCOPE, first + tokens);
	number(d, KI_D_THIS_SCOPE, 0);
	for (size_t i = 0; !ret && i < d->vars.n; i++)
		if (!words_of(d, d->vars.v[i]) && !d->vars.v[i]->in_memory)
			ret = open_array(d, d->vars.v[i], err);
	return ret;
}

/* ---- aggregations ---- */

unsigned int ki_d_agg_words(const struct ki_d_agg *a)
{
	unsigned int words = 0;

	for (unsigned int i = 0; i < a->nkeys; i++)
		words += ki_d_form_words(a->forms[i]);
	return (words ? words : 1) + a->renewed + a->weighted;
}

static uint32_t values_of(const struct ki_d_agg *a)
{
	if (ki_d_agg_kind(a) == KI_D_LLQUANTIZE)
		return ki_d_log_words(&a->log);
	return a->fn->values ? a->fn->values : ki_linear_buckets(&a->linear);
}

void ki_d_agg_merges(const struct ki_d_agg *a, uint8_t merge[KI_TABLE_VALUES])
{
	const enum ki_d_agg_kind kind = ki_d_agg_kind(a);

	memset(merge, KI_MERGE_SUM, KI_TABLE_VALUES);
	if (kind == KI_D_MIN || kind == KI_D_MAX)
		merge[0] = kind == KI_D_MIN ? KI_MERGE_MIN : KI_MERGE_MAX;
	if (kind == KI_D_AVG || kind == KI_D_STDDEV)
		ki_table_stats_merge(merge);
}

/* Wide rows are fewer, in the same memory. */
static uint32_t rows_of(const struct ki_d_agg *a, uint32_t values)
{
	uint32_t rows = a->weighted			? ROWS_WEIGHTED
			: values > KI_TABLE_STATS_WORDS ? ROWS_SPREAD
							: ROWS;
	const uint64_t room = (uint64_t)rows * ROWS_SPREAD;

	while (rows > ROWS_WIDE && (uint64_t)rows * values > room)
		rows /= 2;
	return rows;
}

static int open_agg(struct ki_dlang *d, struct ki_d_agg *a, struct ki_err *err)
{
	uint8_t merge[KI_TABLE_VALUES];
	struct ki_table_options o = {.size = sizeof(o),
				     .keys = ki_d_agg_words(a),
				     .values = values_of(a),
				     .merge = merge};

	ki_d_agg_merges(a, merge);
	o.rows = rows_of(a, o.values);
	if (a->renewed) {
		int ret = ki_globals_take(d->run->t, 1, &a->of_epoch, err);

		if (ret)
			return ret;
		o.rows = ROWS_RENEWED;
	}
	o.rows = ki_d_agg_rows(d, a, o.rows);
	return ki_table_map_new(d->run->t, &o, &a->table, err);
}

static bool is_key(const void *cells, uint32_t i, const void *key)
{
	const struct ki_d_cell *v = cells;

	return !memcmp(v[i].key, key, sizeof(v[i].key));
}

int ki_d_counters(struct ki_d_run *r, uint32_t n, uint32_t *first)
{
	const uint32_t more = n > COUNTERS ? n : COUNTERS;

	if (n > r->wide_left) {
		if (ki_counters_take(r->t, more, &r->wide, NULL))
			return -ENOSPC;
		r->wide_left = more;
	}
	*first = r->wide;
	r->wide += n;
	r->wide_left -= n;
	return 0;
}

int ki_d_cell(struct ki_dlang *d, struct ki_d_agg *a, const uint64_t *key, uint32_t *counter)
{
	const uint32_t n = values_of(a);
	struct ki_d_cell cell = {0};
	uint64_t hash;
	uint32_t i;

	memcpy(cell.key, key, sizeof(cell.key));
	hash = ki_d_hash(cell.key, sizeof(cell.key));
	i = ki_d_index_find(&a->by_key, hash, is_key, a->cells.v, cell.key);
	if (i != UINT32_MAX) {
		*counter = a->cells.v[i].counter;
		return 0;
	}
	if ((n > 1 && a->cells.n >= CELLS_SPREAD) || ki_d_counters(d->run, n, &cell.counter))
		return -ENOSPC;
	if (ki_vec_push(&a->cells, cell))
		return -ENOMEM;
	ki_d_index_add(&a->by_key, hash, (uint32_t)a->cells.n - 1);
	*counter = cell.counter;
	return 0;
}

/* What probes at returns know of the call. */
static int open_kept(struct ki_dlang *d, struct ki_err *err)
{
	const struct ki_table_options o = {
		.size = sizeof(o), .keys = 2, .values = 2, .rows = ROWS, .shared = true};

	for (size_t i = 0; i < d->probes.n; i++)
		if (d->probes.v[i].hook && d->probes.v[i].hook->there &&
		    ki_d_hook_keeps(d->probes.v[i].hook))
			return ki_table_map_new(d->run->t, &o, &d->run->kept, err);
	return 0;
}

#define RECORD_BYTES (sizeof(struct ki_record) + KI_RECORD_WORDS * sizeof(uint64_t))
#define RING_SMALL   (256u << 10)

/* Where only this thread records, it reads in between: a firing's records must have room. */
static uint32_t ring_bytes(const struct ki_dlang *d)
{
	const uint64_t most = 4 * (d->batches.n + d->clauses.n) * RECORD_BYTES;

	if (ki_dlang_wants_process(d)) /* some may come later */
		return (uint32_t)d->set.bufsize;
	for (size_t i = 0; i < d->probes.n; i++)
		if (ki_d_has_place(&d->probes.v[i]))
			return (uint32_t)d->set.bufsize;
	return most < RING_SMALL && d->set.bufsize > RING_SMALL ? RING_SMALL
								: (uint32_t)d->set.bufsize;
}

/* Bytes of a piece of scratch memory, or of a room. */
static uint32_t scratch_bytes(const struct ki_dlang *d)
{
	const uint32_t most = (uint32_t)d->set.scratchsize;

	if (!d->scratch_used)
		return 0;
	return d->memory > most ? d->memory : most;
}

int ki_d_storage(struct ki_dlang *d, struct ki_err *err)
{
	const struct ki_ring_options ring = {.size = sizeof(ring), .bytes = ring_bytes(d)};
	const uint32_t size =
		ki_d_strsize(d) < KI_D_STRING_LEAST ? KI_D_STRING_LEAST : ki_d_strsize(d);
	int ret = place_variables(d, err);

	if (!ret)
		ret = take_vars(d, err);
	for (size_t i = 0; !ret && i < d->aggs.n; i++)
		ret = open_agg(d, d->aggs.v[i], err);
	if (!ret)
		ret = ki_ring_map_new(d->run->t, &ring, &d->run->ring, err);
	if (!ret)
		ret = open_kept(d, err);
	if (!ret)
		ret = open_used(d, err);
	if (!ret && d->stacks_used)
		ret = ki_stacks_map_new(d->run->t, NULL, &d->run->stacks, err);
	if (!ret && d->texts_used)
		ret = ki_texts_map_new(d->run->t, size, scratch_bytes(d), &d->run->strings, err);
	return ret ? ret : ki_counter_map_new(d->run->t, &d->run->counters, err);
}
