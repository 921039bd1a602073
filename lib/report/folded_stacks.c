// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Folded stacks, as programs that draw flame graphs read them.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/pairs.h"
#include "report/stack.h"
#include "util/text.h"

struct fold {
	uint64_t count, ns; /* calls that have ended; time in none of the frames above */
	char name[];
};

struct folded {
	struct pairs *pairs;
	void *tree; /* of struct fold */
	FILE *out;
	bool times;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct fold *)a)->name, ((const struct fold *)b)->name);
}

static struct fold *new_fold(const struct thread *t)
{
	size_t len = 1;
	struct fold *f;
	char *to;

	for (size_t i = 0; i < t->stack.n; i++)
		len += strlen(t->stack.v[i].in->name) + 1;
	f = calloc(1, sizeof(*f) + len);
	if (!f)
		return NULL;
	to = f->name;
	for (size_t i = 0; i < t->stack.n; i++) {
		const char *name = t->stack.v[i].in->name;

		to += sprintf(to, "%s%.*s", i ? ";" : "", ki_pairs_name_len(name), name);
	}
	return f;
}

/* So many more, of which each one is told only once. Takes f over. */
static int add_fold(struct folded *v, struct fold *f, uint64_t n, uint64_t ns)
{
	struct fold **there = tsearch(f, &v->tree, by_name);

	if (!there) {
		free(f);
		return -ENOMEM;
	}
	(*there)->count += n;
	(*there)->ns += n * ns;
	if (*there != f)
		free(f);
	return 0;
}

static int folded_pair(struct ki_report *c, const struct thread *t,
		       const struct ki_report_record *e)
{
	const struct frame *top = &t->stack.v[t->stack.n - 1];
	struct fold *f = new_fold(t);
	double own = e->time - top->start - top->inner;

	return f ? add_fold(c->own, f, e->factor, ki_report_ns(own)) : -ENOMEM;
}

static int folded_single(struct ki_report *c, const struct ki_report_record *e)
{
	(void)c;
	(void)e;
	return 0;
}

/* A record with stacks says by itself where it was. */
static int folded_stack(struct ki_report *c, const struct ki_report_record *e, bool *has)
{
	struct fold *f;
	size_t len;
	char *text;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return -ENOMEM;
	*has = ki_report_stack_fold(c, e, to);
	if (fclose(to))
		return -ENOMEM;
	f = *has ? calloc(1, sizeof(*f) + len + 1) : NULL;
	if (f)
		memcpy(f->name, text, len);
	free(text);
	if (!*has)
		return 0;
	return f ? add_fold(c->own, f, e->factor, 0) : -ENOMEM;
}

static int folded_begin(struct ki_report *c)
{
	static const struct pairs_to to = {folded_pair, folded_single};
	struct folded *v = calloc(1, sizeof(*v));

	c->own = v;
	if (!v)
		return -ENOMEM;
	v->out = c->out;
	v->times = c->times;
	return ki_pairs_new(c, &to, &v->pairs);
}

static int folded_record(struct ki_report *c, const struct ki_report_record *e)
{
	bool has = false;
	int ret = ((struct folded *)c->own)->times ? 0 : folded_stack(c, e, &has);

	return ret || has ? ret : ki_pairs_record(((struct folded *)c->own)->pairs, e);
}

static void print_fold(const void *node, VISIT which, void *arg)
{
	const struct fold *f = *(const struct fold *const *)node;
	const struct folded *v = arg;

	if (which == postorder || which == leaf)
		ki_text_print(v->out, "%s %" PRIu64 "\n", f->name, v->times ? f->ns : f->count);
}

static int folded_end(struct ki_report *c)
{
	struct folded *v = c->own;

	twalk_r(v->tree, print_fold, v);
	return 0;
}

static void folded_free(struct ki_report *c)
{
	struct folded *v = c->own;

	if (!v)
		return;
	tdestroy(v->tree, free);
	ki_pairs_free(v->pairs);
	free(v);
}

const struct ki_report_format ki_report_folded = {"folded", folded_begin, folded_record, folded_end,
						  folded_free};
