// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * --by, --hist and --agg: what people wrote.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/inside.h"

#define BUCKETS 1024 /* of --hist, at most */

const char *const ki_aggregate_fns[KI_AGGREGATE_FNS] = {
	[KI_AGGREGATE_SUM] = "sum", [KI_AGGREGATE_AVG] = "avg",	      [KI_AGGREGATE_MIN] = "min",
	[KI_AGGREGATE_MAX] = "max", [KI_AGGREGATE_STDDEV] = "stddev",
};

/* The last number of the text, after a colon, which is cut off. */
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

/* Three numbers after the expression; fewer are a part of it: arg2 > 5 ? 1 : 0. */
static bool cut_bounds(struct ki_aggregate *b, char *text, int64_t *step)
{
	if (cut_number(text, step) && cut_number(text, &b->linear.high) &&
	    cut_number(text, &b->linear.low))
		return true;
	strcpy(text, b->hist);
	return false;
}

/* A metric that can be summed up by keys: of one thing, that has an end. */
static const struct ki_metric *metric_of(const char *text)
{
	const struct ki_metric *m = ki_metric_find(text);

	return m && m->lasts && m->form == KI_FORM_TOTAL && strcmp(text, "exits") != 0 &&
			       strcmp(text, "returns") != 0
		       ? m
		       : NULL;
}

static int parse_source(struct ki_aggregate_source *s, const char *option, struct ki_err *err)
{
	struct ki_err why = {0};

	s->metric = metric_of(s->text);
	if (s->metric)
		return 0;
	if (ki_predicate_new(s->text, &s->value, &why))
		return ki_err_set(err, -EINVAL, 0, "%s '%s': %s", option, s->text, why.msg);
	if (ki_predicate_inside(s->value, 0))
		return ki_err_set(err, -EINVAL, 0, "%s '%s': inside() is for --if", option,
				  s->text);
	return 0;
}

/* The source with that text, made or found. */
static int take_source(struct ki_aggregate *b, const char *option, const char *text,
		       const struct ki_aggregate_source **out, struct ki_err *err)
{
	struct ki_aggregate_source *s = b->sources;

	while (s < b->sources + b->nsources && strcmp(s->text, text) != 0)
		s++;
	*out = s;
	if (s < b->sources + b->nsources)
		return 0;
	if (b->nsources == KI_AGGREGATE_SOURCES)
		return ki_err_set(err, -EINVAL, 0, "%s '%s': more than %d different values", option,
				  text, KI_AGGREGATE_SOURCES);
	s->text = strdup(text);
	if (!s->text)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	b->nsources++;
	return parse_source(s, option, err);
}

/* EXPR, or EXPR:low:high:step. */
static int parse_hist(struct ki_aggregate *b, struct ki_err *err)
{
	char *text = strdup(b->hist);
	int64_t step;
	int ret = 0;

	if (!text)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	b->is_linear = cut_bounds(b, text, &step);
	if (b->is_linear) {
		b->linear.step = (uint64_t)step;
		if (step <= 0 || !ki_linear_buckets(&b->linear) ||
		    ki_linear_buckets(&b->linear) > BUCKETS)
			ret = ki_err_set(err, -EINVAL, 0,
					 "--hist '%s': EXPRESSION, or "
					 "EXPRESSION:LOW:HIGH:STEP with at most %d buckets",
					 b->hist, BUCKETS);
	}
	if (!ret)
		ret = take_source(b, "--hist", text, &b->spread, err);
	free(text);
	return ret;
}

static int add_agg(struct ki_aggregate *b, enum ki_aggregate_fn fn, const char *text,
		   const char *option, struct ki_err *err)
{
	struct ki_aggregate_column a = {.fn = (uint8_t)fn};
	int ret = take_source(b, option, text, &a.source, err);

	if (!ret && b->naggs == KI_AGGREGATE_COLUMNS)
		ret = ki_err_set(err, -EINVAL, 0, "%s '%s': more than %d columns", option, text,
				 KI_AGGREGATE_COLUMNS);
	if (!ret)
		b->list[b->naggs++] = a;
	return ret;
}

/* FN:WHAT */
static int parse_agg(struct ki_aggregate *b, const char *text, struct ki_err *err)
{
	size_t n = strcspn(text, ":");

	for (unsigned int f = 0; f < KI_AGGREGATE_FNS; f++)
		if (text[n] && strlen(ki_aggregate_fns[f]) == n &&
		    !strncmp(ki_aggregate_fns[f], text, n))
			return add_agg(b, (enum ki_aggregate_fn)f, text + n + 1, "--agg", err);
	return ki_err_set(err, -EINVAL, 0,
			  "--agg '%s': sum:WHAT, avg:WHAT, min:WHAT, max:WHAT or stddev:WHAT; WHAT "
			  "is an expression, or walltime, vtime, ...",
			  text);
}

static int parse_aggs(struct ki_aggregate *b, struct ki_err *err)
{
	char *text = strdup(b->aggs), *at = text;
	int ret = text ? 0 : ki_err_set(err, -ENOMEM, 0, "out of memory");

	while (!ret) {
		char *end = ki_record_value_end(at);
		bool more = *end;

		*end = 0;
		ret = parse_agg(b, at, err);
		at = end + 1;
		if (!more)
			break;
	}
	free(text);
	return ret;
}

/* walltime is its sum, walltime/call its mean, latency the distribution; calls are counted anyhow.
 */
static int take_metric(struct ki_aggregate *b, const struct ki_metric *m, struct ki_err *err)
{
	static const char *const spreads[][2] = {{"latency", "walltime"}, {"vlatency", "vtime"}};
	char name[64];
	size_t n = strlen(m->name);

	if (m == ki_metric_find("calls") || m == ki_metric_find("count"))
		return 0;
	if (metric_of(m->name))
		return add_agg(b, KI_AGGREGATE_SUM, m->name, "-m", err);
	for (size_t i = 0; i < 2 && !b->spread; i++)
		if (!strcmp(m->name, spreads[i][0]))
			return take_source(b, "-m", spreads[i][1], &b->spread, err);
	if (n > 5 && n < sizeof(name) && !strcmp(m->name + n - 5, "/call")) {
		memcpy(name, m->name, n);
		name[n - 5] = 0;
		if (metric_of(name))
			return add_agg(b, KI_AGGREGATE_AVG, name, "-m", err);
	}
	return ki_err_set(err, -EINVAL, 0, "-m %s: not by keys; walltime, vtime, faults, ... are",
			  m->name);
}

/* Is there room for all of it in a key, and in a row? */
static int check_key(const struct ki_aggregate *b, struct ki_err *err)
{
	if (b->key.n + 1 > KI_TABLE_KEYS)
		return ki_err_set(err, -EINVAL, 0,
				  "--by takes at most %d words; comm is two, a string is 8, or as "
				  "many as it says: str(ADDRESS, BYTES)",
				  KI_TABLE_KEYS - 1);
	return 0;
}

int ki_aggregate_new(struct ki_aggregate *b, const struct ki_wanted *also, struct ki_err *err)
{
	int ret = 0;

	if (b->keys)
		ret = ki_record_values_new(&b->key, b->keys, err);
	if (!ret)
		ret = check_key(b, err);
	if (!ret && b->hist)
		ret = parse_hist(b, err);
	for (unsigned int i = 0; !ret && ki_aggregate_wanted(b) && i < also->n; i++)
		ret = take_metric(b, also->metrics[i], err);
	return !ret && b->aggs ? parse_aggs(b, err) : ret;
}
