// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A row of the table is for a point and a key: how often it was hit there, and, of each value that
 * is summed up, the sums and minmax; of one of them buckets. What is shown is what came between
 * two readings; the least and the greatest value are those since the code came.
 *
 * Values of what lasts are added when it ends, by the key that was there when it began: that is
 * kept in words of the thread meanwhile, but for what is the same at the end (the process), or
 * known only there (what the function returns). What a thread is called, who it is for and in which
 * group it is may change meanwhile, its number too: an exec by a thread that is not the first gives
 * it that of the first.
 */
#include "aggregate/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "snippet/tree.h"

#define ROWS	    16384
#define ROWS_BUCKET 2048

/* ---- the table ---- */

static uint32_t buckets(const struct ki_aggregate *b)
{
	if (!b->spread)
		return 0;
	return b->is_linear ? ki_linear_buckets(&b->linear) : KI_LOG2_BUCKETS;
}

/* Where in a row everything is. Hits are what is counted of the first value, for choice of one that
   is known where the point is; or by themselves if there is none. */
static uint32_t lay_out(struct ki_aggregate *b)
{
	const struct ki_aggregate_source *counts = NULL;
	uint32_t n = 0;

	for (unsigned int i = 0; i < b->nsources; i++) {
		struct ki_aggregate_source *s = &b->sources[i];

		s->at = n;
		ki_table_stats_merge(b->merge + n);
		n += KI_TABLE_STATS_WORDS;
		if (!counts || (counts->metric && !s->metric))
			counts = s;
	}
	b->counted = counts ? counts->at : 0;
	b->buckets = n;
	n += buckets(b);
	return n ? n : 1;
}

/* ---- what of a key is taken when something begins ---- */

#define FACT(f) (UINT64_C(1) << KI_FACT_##f)

/* Is it the same when it ends, or known only then? What is asked for beside a result is of then. */
static bool is_of_end(const struct ki_node *n)
{
	const uint64_t facts = ki_node_facts(n);

	if (facts == KI_FACTS_AND_MORE)
		return false;
	return facts & FACT(RETVAL) ? !(facts & ~(FACT(RETVAL) | FACT(TGID) | FACT(PID)))
				    : !(facts & ~FACT(TGID));
}

/* Without the number of the point. *n nodes; a string is several words of the key. */
static int build_fields(struct ki_aggregate *b, struct ki_snippet *s, struct ki_node **key,
			unsigned int *n, struct ki_err *err)
{
	const struct ki_record_making to = {.stacks = b->stacks ? ki_stacks_number(b->stacks) : 0};

	return ki_record_values_build(&b->key, s, &to, key, n, err);
}

/* How many words that takes. */
static int count_words(struct ki_aggregate *b, struct ki_err *err)
{
	struct ki_node *key[KI_TABLE_KEYS];
	struct ki_snippet *s;
	unsigned int n = 0;
	int ret;

	b->words = 0;
	if (ki_snippet_new(&s))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = build_fields(b, s, key, &n, err);
	for (unsigned int i = 0; !ret && i < n; i++) {
		b->words += !is_of_end(key[i]);
		if (ki_node_words(key[i]) > 1)
			ret = ki_err_set(err, -EINVAL, 0,
					 "--by: a string is no key of what lasts; use comm, or "
					 "count: without times");
	}
	ki_snippet_free(s);
	return ret;
}

static bool is_timed(const struct ki_aggregate *b)
{
	for (unsigned int i = 0; i < b->nsources; i++)
		if (b->sources[i].metric)
			return true;
	return false;
}

int ki_aggregate_prepare(struct ki_aggregate *b, struct ki_target *t,
			 const struct ki_points *points, struct ki_err *err)
{
	struct ki_table_options o = {.size = sizeof(o),
				     .keys = b->key.n + 1,
				     .values = lay_out(b),
				     .rows = b->spread ? ROWS_BUCKET : ROWS,
				     .merge = b->merge};
	int ret;

	if (b->rows)
		o.rows = b->rows;
	ret = ki_table_map_new(t, &o, &b->map, err);
	if (!ret)
		ret = ki_aggregate_stacks_open(b, t, err);
	if (!ret && is_timed(b))
		ret = count_words(b, err);
	if (ret)
		return ret;
	b->target = t;
	b->table = ki_table_var_of(b->map, "by");
	b->points = points;
	return 0;
}

void ki_aggregate_free(struct ki_aggregate *b)
{
	ki_table_reading_free(b->before);
	ki_table_reading_free(b->now);
	free(b->same);
	ki_table_map_free(b->map);
	ki_aggregate_stacks_close(b);
	for (unsigned int i = 0; i < b->nsources; i++) {
		ki_predicate_free(b->sources[i].value);
		free(b->sources[i].text);
	}
	ki_record_values_free(&b->key);
}

struct ki_wanted ki_aggregate_metrics(const struct ki_aggregate *b)
{
	struct ki_wanted w = {0};
	bool counts = !b->nsources;

	for (unsigned int i = 0; i < b->nsources; i++) {
		counts |= b->sources[i].value != NULL;
		if (b->sources[i].metric)
			w.metrics[w.n++] = b->sources[i].metric;
	}
	if (counts)
		w.metrics[w.n++] = ki_metric_find("count");
	return w;
}

/* ---- what changes it ---- */

/* The key where the point is. */
static int build_key(struct ki_aggregate *b, struct ki_snippet *s, struct ki_node **key,
		     unsigned int *n, struct ki_err *err)
{
	int ret = build_fields(b, s, key + 1, n, err);

	key[0] = ki_expr_const(s, KI_U32, b->point);
	++*n;
	return ret;
}

static int build_value(const struct ki_aggregate_source *source, struct ki_snippet *s,
		       struct ki_node **value, struct ki_err *err)
{
	int ret = ki_predicate_build(source->value, s, NULL, value, err);

	return ret || *value ? ret : ki_snippet_check(s, NULL, err);
}

static struct ki_node *add_to_bucket(struct ki_aggregate *b, struct ki_snippet *s,
				     struct ki_node **key, unsigned int n, struct ki_node *value)
{
	if (b->is_linear)
		return ki_stmt_table_linear(s,
					    &(struct ki_row_value){&b->table, b->buckets, key, n},
					    &b->linear, value);
	return ki_stmt_table(s, KI_TABLE_LOG2,
			     &(struct ki_row_value){&b->table, b->buckets, key, n}, value);
}

/*
 * What two statements need is evaluated once, into locals: the value, then as many words of the key
 * as there are locals left. A string is in no local: it is read for each of the two.
 */
struct held {
	struct ki_node *list; /* what sets them */
	struct ki_var var[KI_LOCALS];
	bool sign[KI_LOCALS];
	unsigned int n;
};

static bool hold(struct held *h, struct ki_snippet *s, struct ki_node *x)
{
	struct ki_var *v = &h->var[h->n];

	if (h->n == KI_LOCALS || !x || x->kind == NODE_CONST || x->kind == NODE_STRING)
		return false;
	*v = (struct ki_var){.kind = KI_VAR_LOCAL, .type = KI_U64, .first = h->n};
	h->sign[h->n++] = ki_types[x->type].sign;
	h->list = ki_stmt_append(s, h->list, ki_stmt_update(s, KI_SET, v, NULL, x));
	return true;
}

static struct ki_node *use(const struct held *h, struct ki_snippet *s, unsigned int i)
{
	struct ki_node *x = ki_expr_var(s, &h->var[i]);

	return h->sign[i] ? ki_expr_cast(s, KI_I64, x) : x;
}

/* For both statements, of what has been built for each. */
static void hold_all(struct held *h, struct ki_snippet *s, struct ki_node *key[2][KI_TABLE_KEYS],
		     unsigned int n, struct ki_node *value[2])
{
	if (hold(h, s, value[0]))
		for (int i = 0; i < 2; i++)
			value[i] = use(h, s, 0);
	else
		value[1] = ki_expr_const(s, (enum ki_type)value[0]->type, value[0]->value);
	for (unsigned int k = 0; k < n; k++)
		if (hold(h, s, key[0][k]))
			for (int i = 0; i < 2; i++)
				key[i][k] = use(h, s, h->n - 1);
}

/* One of the values that are known where the point is; its bucket, too. */
static int add_source(struct ki_aggregate *b, const struct ki_aggregate_source *source,
		      struct ki_snippet *s, struct ki_node **list, struct ki_err *err)
{
	struct ki_node *key[2][KI_TABLE_KEYS], *value[2];
	const bool spread = source == b->spread;
	struct held h = {.list = *list};
	unsigned int n = 0;
	int ret = build_value(source, s, &value[0], err);

	for (unsigned int i = 0; !ret && i < 1u + spread; i++)
		ret = build_key(b, s, key[i], &n, err);
	if (ret)
		return ret;
	if (spread)
		hold_all(&h, s, key, n, value);
	*list = ki_stmt_append(
		s, h.list,
		ki_stmt_table(s, KI_TABLE_STATS,
			      &(struct ki_row_value){&b->table, source->at, key[0], n}, value[0]));
	if (spread)
		*list = ki_stmt_append(s, *list, add_to_bucket(b, s, key[1], n, value[1]));
	return 0;
}

static int make(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	struct ki_aggregate *b = arg;
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n;
	int ret = 0;

	*stmt = NULL;
	if (!b->nsources) {
		ret = build_key(b, s, key, &n, err);
		if (!ret)
			*stmt = ki_stmt_table(s, KI_TABLE_ADD,
					      &(struct ki_row_value){&b->table, 0, key, n},
					      ki_expr_const(s, KI_I64, 1));
	}
	for (unsigned int i = 0; !ret && i < b->nsources; i++)
		if (b->sources[i].value)
			ret = add_source(b, &b->sources[i], s, stmt, err);
	return ret || *stmt ? ret : ki_snippet_check(s, NULL, err);
}

ki_measure_action *ki_aggregate_action(void *arg, const struct ki_named_point *p, void **action_arg)
{
	struct ki_aggregate *b = arg;

	b->point = (uint32_t)(p - b->points->v.v);
	*action_arg = b;
	return make;
}

static int make_begin(void *arg, struct ki_snippet *s, struct ki_node **values, struct ki_err *err)
{
	struct ki_aggregate *b = arg;
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n, word = 0;
	int ret = build_fields(b, s, key, &n, err);

	for (unsigned int i = 0; !ret && i < n; i++)
		if (!is_of_end(key[i]))
			values[word++] = key[i];
	return ret;
}

/* The key, of what is in the words and what is known at the end. */
static int build_end_key(struct ki_aggregate *b, struct ki_snippet *s, const struct ki_var *words,
			 struct ki_node **key, unsigned int *n, struct ki_err *err)
{
	unsigned int word = 0;
	int ret = build_key(b, s, key, n, err);

	for (unsigned int i = 1; !ret && i < *n; i++)
		if (!is_of_end(key[i]))
			key[i] = ki_expr_var(s, &words[word++]);
	return ret;
}

static int make_end(void *arg, struct ki_snippet *s, const struct ki_var *words,
		    const struct ki_var *took, struct ki_node **stmt, struct ki_err *err)
{
	struct ki_aggregate *b = arg;
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n;
	int ret = build_end_key(b, s, words, key, &n, err);

	if (ret)
		return ret;
	*stmt = ki_stmt_append(
		s, NULL,
		ki_stmt_table(s, KI_TABLE_STATS,
			      &(struct ki_row_value){&b->table, b->ending->at, key, n},
			      ki_expr_var(s, took)));
	if (b->ending != b->spread)
		return 0;
	ret = build_end_key(b, s, words, key, &n, err);
	if (!ret)
		*stmt = ki_stmt_append(s, *stmt, add_to_bucket(b, s, key, n, ki_expr_var(s, took)));
	return ret;
}

const struct ki_measure_ends *ki_aggregate_ends(void *arg, const struct ki_named_point *p,
						const struct ki_metric *metric)
{
	struct ki_aggregate *b = arg;

	b->point = (uint32_t)(p - b->points->v.v);
	b->ending = b->sources;
	while (b->ending->metric != metric)
		b->ending++;
	b->ends = (struct ki_measure_ends){
		.words = b->words, .begin = make_begin, .end = make_end, .arg = b};
	return &b->ends;
}

int ki_aggregate_begin(struct ki_aggregate *b, struct ki_err *err)
{
	return ki_table_read(b->map, &b->before, err);
}

int ki_aggregate_end(struct ki_aggregate *b, struct ki_err *err)
{
	int ret = ki_table_read(b->map, &b->now, err);

	return ret ? ret : ki_aggregate_join_stacks(b, err);
}
