// SPDX-License-Identifier: GPL-2.0-only
/*
 * A row of the table is for a point and a key: how often it was hit there, and, of a value, the
 * sums, extremes and buckets. What is shown is what came between two readings; the least and the
 * greatest value are those since the code came.
 */
#include "stat_by.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "snippet/tree.h"

#define ROWS	    16384
#define ROWS_BUCKET 2048

/* ---- what is asked for ---- */

/* The last number of the text, behind a colon, which is cut off. */
static bool cut_number(char *text, int64_t *out)
{
	char *colon = strrchr(text, ':'), *end;

	if (!colon || !colon[1])
		return false;
	*out = strtoll(colon + 1, &end, 0);
	if (*end)
		return false;
	*colon = 0;
	return true;
}

/* Three numbers behind the expression; fewer are a part of it: arg2 > 5 ? 1 : 0. */
static bool cut_bounds(struct stat_by *b, int64_t *step)
{
	if (cut_number(b->expr, step) && cut_number(b->expr, &b->linear.high) &&
	    cut_number(b->expr, &b->linear.low))
		return true;
	strcpy(b->expr, b->hist);
	return false;
}

/* EXPR, or EXPR:low:high:step. */
static int parse_hist(struct stat_by *b, const struct verb *self)
{
	struct ki_err err = {0};
	int64_t step;

	b->expr = strdup(b->hist);
	if (!b->expr)
		return cli_no_memory();
	b->is_linear = cut_bounds(b, &step);
	if (b->is_linear) {
		b->linear.step = (uint64_t)step;
		if (step <= 0 || !ki_linear_buckets(&b->linear) ||
		    ki_linear_buckets(&b->linear) > KI_TABLE_VALUES - STAT_BY_BUCKETS)
			return cli_misuse(self,
					  "--hist '%s': EXPRESSION, or "
					  "EXPRESSION:LOW:HIGH:STEP with at most %d buckets",
					  b->hist, KI_TABLE_VALUES - STAT_BY_BUCKETS);
	}
	if (ki_predicate_parse(b->expr, &b->value, &err))
		return cli_misuse(self, "--hist '%s': %s", b->expr, err.msg);
	if (ki_predicate_inside(b->value, 0))
		return cli_misuse(self, "--hist '%s': inside() is for --if", b->expr);
	return CLI_OK;
}

int stat_by_parse(struct stat_by *b, const struct verb *self)
{
	int ret = CLI_OK;

	if (b->keys)
		ret = record_values_parse(&b->key, self, b->keys);
	if (!ret && b->key.n + 1 > KI_TABLE_KEYS)
		ret = cli_misuse(self,
				 "--by takes at most %d words; comm is two, a string is 8, or as "
				 "many as it says: str(ADDRESS, BYTES)",
				 KI_TABLE_KEYS - 1);
	for (unsigned int i = 0; !ret && i < b->key.n; i++)
		if (b->key.values[i].kind == RECORD_USTACK)
			ret = cli_misuse(self, "--by ustack: kerninst record POINT=ustack keeps "
					       "what is known of a process's addresses");
	return !ret && b->hist ? parse_hist(b, self) : ret;
}

/* ---- the table, and what changes it ---- */

static uint32_t buckets(const struct stat_by *b)
{
	if (!b->hist)
		return 0;
	return b->is_linear ? ki_linear_buckets(&b->linear) : KI_LOG2_BUCKETS;
}

int stat_by_open(struct stat_by *b, struct ki_target *t, const struct points *points)
{
	uint8_t merge[KI_TABLE_VALUES] = {0};
	const struct ki_table_options o = {
		.keys = b->key.n + 1,
		.values = b->hist ? STAT_BY_BUCKETS + buckets(b) : 1,
		.rows = b->rows	  ? b->rows
			: b->hist ? ROWS_BUCKET
				  : ROWS,
		.merge = merge,
	};
	struct ki_err err = {0};

	if (b->hist)
		ki_table_stats_merge(merge);
	if (ki_table_open(t, &o, &b->map, &err))
		return cli_fail(&err);
	if (b->key.stacks && ki_stacks_open(t, NULL, &b->stacks, &err))
		return cli_fail(&err);
	b->target = t;
	b->table = ki_table_var_of(b->map, "by");
	b->points = points;
	return CLI_OK;
}

void stat_by_close(struct stat_by *b)
{
	ki_table_reading_free(b->before);
	ki_table_reading_free(b->now);
	ki_table_close(b->map);
	ki_stacks_close(b->stacks);
	ki_predicate_free(b->value);
	record_values_free(&b->key);
	free(b->expr);
}

/* *n nodes; a string is several words of the key. */
static int build_key(struct stat_by *b, struct ki_snippet *s, struct ki_node **key, unsigned int *n,
		     struct ki_err *err)
{
	const struct record_making to = {.stacks = b->stacks ? ki_stacks_number(b->stacks) : 0};
	int ret;

	key[0] = ki_expr_const(s, KI_U32, b->point);
	ret = record_values_build(&b->key, s, &to, key + 1, n, err);
	++*n;
	return ret;
}

static int build_value(struct stat_by *b, struct ki_snippet *s, struct ki_node **value,
		       struct ki_err *err)
{
	int ret = ki_predicate_build(b->value, s, NULL, value, err);

	return ret || *value ? ret : ki_snippet_check(s, NULL, err);
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

/* The sums, then the distribution's bucket behind them. */
static struct ki_node *add_both(struct stat_by *b, struct ki_snippet *s, struct ki_node *list,
				struct ki_node *const key[2][KI_TABLE_KEYS], unsigned int n,
				struct ki_node *const value[2])
{
	struct ki_node *bucket = b->is_linear
					 ? ki_stmt_table_linear(s, &b->table, STAT_BY_BUCKETS,
								key[1], n, &b->linear, value[1])
					 : ki_stmt_table(s, KI_TABLE_LOG2, &b->table,
							 STAT_BY_BUCKETS, key[1], n, value[1]);

	list = ki_stmt_append(s, list,
			      ki_stmt_table(s, KI_TABLE_STATS, &b->table, 0, key[0], n, value[0]));
	return ki_stmt_append(s, list, bucket);
}

static int make_hist(struct stat_by *b, struct ki_snippet *s, struct ki_node **stmt,
		     struct ki_err *err)
{
	struct ki_node *key[2][KI_TABLE_KEYS], *value[2];
	struct held h = {0};
	unsigned int n;
	int ret = build_value(b, s, &value[0], err);

	for (int i = 0; !ret && i < 2; i++)
		ret = build_key(b, s, key[i], &n, err);
	if (ret)
		return ret;
	value[1] = value[0];
	if (hold(&h, s, value[0]))
		for (int i = 0; i < 2; i++)
			value[i] = use(&h, s, 0);
	else
		value[1] = ki_expr_const(s, (enum ki_type)value[0]->type, value[0]->value);
	for (unsigned int k = 0; k < n; k++)
		if (hold(&h, s, key[0][k]))
			for (int i = 0; i < 2; i++)
				key[i][k] = use(&h, s, h.n - 1);
	*stmt = add_both(b, s, h.list, key, n, value);
	return 0;
}

static int make_count(struct stat_by *b, struct ki_snippet *s, struct ki_node **stmt,
		      struct ki_err *err)
{
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n;
	int ret = build_key(b, s, key, &n, err);

	if (!ret)
		*stmt = ki_stmt_table(s, KI_TABLE_ADD, &b->table, 0, key, n,
				      ki_expr_const(s, KI_I64, 1));
	return ret;
}

static int make(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	struct stat_by *b = arg;
	int ret = b->hist ? make_hist(b, s, stmt, err) : make_count(b, s, stmt, err);

	return ret || *stmt ? ret : ki_snippet_check(s, NULL, err);
}

ki_measure_act *stat_by_act(void *arg, const struct point *p, void **act_arg)
{
	struct stat_by *b = arg;

	b->point = (uint32_t)(p - b->points->v.v);
	*act_arg = b;
	return make;
}

int stat_by_begin(struct stat_by *b)
{
	struct ki_err err = {0};

	return ki_table_read(b->map, &b->before, &err) ? cli_fail(&err) : CLI_OK;
}

int stat_by_end(struct stat_by *b)
{
	struct ki_err err = {0};

	return ki_table_read(b->map, &b->now, &err) ? cli_fail(&err) : CLI_OK;
}
