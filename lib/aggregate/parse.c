// SPDX-License-Identifier: GPL-2.0-only
/*
 * --by, --hist and --agg: what people wrote.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "stat_by.h"

const char *const stat_by_fns[BY_FNS] = {
	[BY_SUM] = "sum", [BY_AVG] = "avg",	  [BY_MIN] = "min",
	[BY_MAX] = "max", [BY_STDDEV] = "stddev",
};

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
static bool cut_bounds(struct stat_by *b, char *text, int64_t *step)
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

static int parse_source(struct stat_by_source *s, const struct verb *self, const char *option)
{
	struct ki_err err = {0};

	s->metric = metric_of(s->text);
	if (s->metric)
		return CLI_OK;
	if (ki_predicate_parse(s->text, &s->value, &err))
		return cli_misuse(self, "%s '%s': %s", option, s->text, err.msg);
	if (ki_predicate_inside(s->value, 0))
		return cli_misuse(self, "%s '%s': inside() is for --if", option, s->text);
	return CLI_OK;
}

/* The source with that text, made or found. */
static int take_source(struct stat_by *b, const struct verb *self, const char *option,
		       const char *text, const struct stat_by_source **out)
{
	struct stat_by_source *s = b->sources;

	while (s < b->sources + b->nsources && strcmp(s->text, text) != 0)
		s++;
	*out = s;
	if (s < b->sources + b->nsources)
		return CLI_OK;
	if (b->nsources == STAT_BY_SOURCES)
		return cli_misuse(self, "%s '%s': more than %d different values", option, text,
				  STAT_BY_SOURCES);
	s->text = strdup(text);
	if (!s->text)
		return cli_no_memory();
	b->nsources++;
	return parse_source(s, self, option);
}

/* EXPR, or EXPR:low:high:step. */
static int parse_hist(struct stat_by *b, const struct verb *self)
{
	char *text = strdup(b->hist);
	int64_t step;
	int ret = CLI_OK;

	if (!text)
		return cli_no_memory();
	b->is_linear = cut_bounds(b, text, &step);
	if (b->is_linear) {
		b->linear.step = (uint64_t)step;
		if (step <= 0 || !ki_linear_buckets(&b->linear) ||
		    ki_linear_buckets(&b->linear) > KI_TABLE_VALUES / 2)
			ret = cli_misuse(self,
					 "--hist '%s': EXPRESSION, or "
					 "EXPRESSION:LOW:HIGH:STEP with at most %d buckets",
					 b->hist, KI_TABLE_VALUES / 2);
	}
	if (!ret)
		ret = take_source(b, self, "--hist", text, &b->spread);
	free(text);
	return ret;
}

static int add_agg(struct stat_by *b, const struct verb *self, enum stat_by_fn fn, const char *text,
		   const char *option)
{
	struct stat_by_agg a = {.fn = (uint8_t)fn};
	int ret = take_source(b, self, option, text, &a.source);

	if (!ret && b->naggs == STAT_BY_AGGS)
		ret = cli_misuse(self, "%s '%s': more than %d columns", option, text, STAT_BY_AGGS);
	if (!ret)
		b->list[b->naggs++] = a;
	return ret;
}

/* FN:WHAT */
static int parse_agg(struct stat_by *b, const struct verb *self, const char *text)
{
	size_t n = strcspn(text, ":");

	for (unsigned int f = 0; f < BY_FNS; f++)
		if (text[n] && strlen(stat_by_fns[f]) == n && !strncmp(stat_by_fns[f], text, n))
			return add_agg(b, self, (enum stat_by_fn)f, text + n + 1, "--agg");
	return cli_misuse(self,
			  "--agg '%s': sum:WHAT, avg:WHAT, min:WHAT, max:WHAT or stddev:WHAT; WHAT "
			  "is an expression, or walltime, vtime, ...",
			  text);
}

static int parse_aggs(struct stat_by *b, const struct verb *self)
{
	char *text = strdup(b->aggs), *at = text;
	int ret = text ? CLI_OK : cli_no_memory();

	while (!ret) {
		char *end = record_value_end(at);
		bool more = *end;

		*end = 0;
		ret = parse_agg(b, self, at);
		at = end + 1;
		if (!more)
			break;
	}
	free(text);
	return ret;
}

/* walltime is its sum, walltime/call its mean, latency the distribution; calls are counted anyhow.
 */
static int take_metric(struct stat_by *b, const struct verb *self, const struct ki_metric *m)
{
	static const char *const spreads[][2] = {{"latency", "walltime"}, {"vlatency", "vtime"}};
	char name[64];
	size_t n = strlen(m->name);

	if (m == ki_metric_find("calls") || m == ki_metric_find("count"))
		return CLI_OK;
	if (metric_of(m->name))
		return add_agg(b, self, BY_SUM, m->name, "-m");
	for (size_t i = 0; i < 2 && !b->spread; i++)
		if (!strcmp(m->name, spreads[i][0]))
			return take_source(b, self, "-m", spreads[i][1], &b->spread);
	if (n > 5 && n < sizeof(name) && !strcmp(m->name + n - 5, "/call")) {
		memcpy(name, m->name, n);
		name[n - 5] = 0;
		if (metric_of(name))
			return add_agg(b, self, BY_AVG, name, "-m");
	}
	return cli_misuse(self, "-m %s: not by keys; walltime, vtime, faults, ... are", m->name);
}

/* Is there room for all of it in a key, and in a row? */
static int check_key(const struct stat_by *b, const struct verb *self)
{
	if (b->key.n + 1 > KI_TABLE_KEYS)
		return cli_misuse(self,
				  "--by takes at most %d words; comm is two, a string is 8, or as "
				  "many as it says: str(ADDRESS, BYTES)",
				  KI_TABLE_KEYS - 1);
	return CLI_OK;
}

int stat_by_parse(struct stat_by *b, const struct verb *self, const struct wanted *also)
{
	int ret = CLI_OK;

	if (b->keys)
		ret = record_values_parse(&b->key, self, b->keys);
	if (!ret)
		ret = check_key(b, self);
	if (!ret && b->hist)
		ret = parse_hist(b, self);
	for (unsigned int i = 0; !ret && stat_by_wanted(b) && i < also->n; i++)
		ret = take_metric(b, self, also->metrics[i]);
	return !ret && b->aggs ? parse_aggs(b, self) : ret;
}
